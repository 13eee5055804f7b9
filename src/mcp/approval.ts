/** Tools that a person must approve each time: the client asks them, or the call is denied. */
import type { JsonRpcFields, RpcResponse } from './protocol/json-rpc.ts';

/** Null: it may be called; else what the caller is told. */
export async function approved(
  listed: readonly string[],
  params: JsonRpcFields,
  askClient: ((method: string, params: JsonRpcFields) => Promise<RpcResponse>) | null,
): Promise<string | null> {
  const name = String(params.name);
  if (!listed.includes(name)) return null;
  if (!askClient) {
    return `The tool ${name} needs the approval of a person, and this client cannot ask for it (it lacks elicitation).`;
  }
  const shown = JSON.stringify(params.arguments ?? {}).slice(0, 2_000);
  const { result } = await askClient('elicitation/create', {
    message: `Allow the tool ${name} to be called with ${shown}?`,
    requestedSchema: {
      type: 'object',
      properties: { approve: { type: 'boolean', title: 'Approve', description: `Call ${name}` } },
      required: ['approve'],
    },
  });
  const content = result?.content;
  const accepted = result?.action === 'accept' && typeof content === 'object' && content !== null;
  return accepted && (content as JsonRpcFields).approve === true ? null : `The call of ${name} was not approved.`;
}
