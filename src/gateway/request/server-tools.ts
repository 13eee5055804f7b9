/** Tools of MCP servers of ours, and turns in which they were called, reach this point only where the client did not ask the gateway to run them: a provider could do nothing with them. */
import { isObject, objectsOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Identified } from '../context.ts';
import { GatewayError } from '../errors.ts';
import type { JsonBody } from './body.ts';

const marker = '@gw-mcp/';

/** Calls of ours bear such an id while they wait for a person. */
const approvalPrefix = 'mcpr_';

/** What the bytes of a body hold in which a turn is ours. */
const marks: readonly string[] = [approvalPrefix, '"gw_mcp"', marker];

export function refuseServerTools(body: JsonBody, { workspace }: Pick<Identified, 'workspace'>): void {
  const { tools, mcp_servers: servers } = body.json;
  if (tools !== undefined && [tools].flat().some(namesOurs)) throw notAsked('tools');
  if (Array.isArray(servers) && servers.some((server) => isObject(server) && isOurs(server.name))) {
    throw notAsked('mcp_servers');
  }
  if (workspace.mcp.servers.length > 0 && mayHoldTurns(body)) refuseTurns(body.json);
}

function namesOurs(tool: unknown): boolean {
  if (!isObject(tool)) return false;
  const { server_label, mcp_server_name, function: called } = tool;
  return isOurs(server_label) || isOurs(mcp_server_name) || (isObject(called) && isOurs(called.name));
}

const isOurs = (name: unknown): boolean => typeof name === 'string' && name.startsWith(marker);

const notAsked = (field: string): GatewayError =>
  new GatewayError('server_tools_not_enabled', `${field} names a server that the gateway itself would have to call`, {
    field,
  });

/** A look at the bytes, so that long conversations are not walked through for nothing. */
function mayHoldTurns({ bytes }: JsonBody): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return marks.some((mark) => text.includes(mark));
}

function refuseTurns({ messages, input }: Readonly<JsonObject>): void {
  if (objectsOf(messages).some(isOurTurn)) throw unknownToProviders('messages');
  // Approvals that OpenAI itself asks for have ids with the same beginning: the server decides.
  if (objectsOf(input).some(({ server_label }) => isOurs(server_label))) throw unknownToProviders('input');
}

const isOurTurn = ({ gw_mcp, tool_calls, tool_call_id, content }: JsonObject): boolean =>
  Array.isArray(gw_mcp) ||
  awaits(tool_call_id) ||
  objectsOf(tool_calls).some(({ id }) => awaits(id)) ||
  objectsOf(content).some(
    ({ type, id, tool_use_id, server_name }) =>
      (type === 'tool_use' && awaits(id)) ||
      (type === 'tool_result' && awaits(tool_use_id)) ||
      (type === 'mcp_tool_use' && isOurs(server_name)),
  );

const awaits = (id: unknown): boolean => typeof id === 'string' && id.startsWith(approvalPrefix);

const unknownToProviders = (field: string): GatewayError =>
  new GatewayError(
    'server_tools_not_enabled',
    `${field} holds calls of MCP tools that the gateway has made or asked approval for, and no provider knows them: send x-gw-beta: server-side-mcp-2026-06-01, as in the turns before`,
    { field },
  );
