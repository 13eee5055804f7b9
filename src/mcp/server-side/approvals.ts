/** Calls that a person must approve. Each dialect asks for approval in its own form; an approved call is executed. */
import { createHash } from 'node:crypto';
import { readJson } from '../../bounded-json.ts';
import { canonicalJson } from '../../cache/key.ts';
import type { McpDeps } from '../deps.ts';
import { McpError } from '../errors.ts';
import type { ToolDialect } from './dialect.ts';
import type { Answered, Approval, Executed, Json, ModelCall, OfferedTool, Resolved } from './tool-calls.ts';
import { execute, type ResolvedServer } from './tools.ts';

/** The identity that approvals are bound to, and what seals them. */
export interface ApprovalBinding {
  principalId: string;
  seal: McpDeps['seal'];
}

/** How long an approval may take. */
const approvalMs = 30 * 60_000;

/** Calls of tools carry such an id where they wait for a person. */
export const approvalPrefix = 'mcpr_';

export const needsApproval = ({ context }: ResolvedServer, { tool }: OfferedTool): boolean =>
  context.server.settings.require_approval?.includes(tool) ?? false;

/** The id holds what was asked, sealed: whoever approves it later approves exactly this. */
export function approvalFor(
  { seal, principalId }: ApprovalBinding,
  { server: { label }, tool, name }: OfferedTool,
  { id, arguments: given }: ModelCall,
): Approval {
  const sealed = seal.seal(
    JSON.stringify(['approval', principalId, label, tool, digestOf(given), Date.now() + approvalMs, id]),
  );
  return { id: `${approvalPrefix}${sealed}`, label, tool, name, arguments: given };
}

/** By its meaning: clients may write the same arguments in another order. */
function digestOf(given: string): string {
  const hash = createHash('sha256');
  try {
    return hash.update(canonicalJson(readJson(given))).digest('base64url');
  } catch {
    // What is no JSON counts as it stands.
    return hash.update(given).digest('base64url');
  }
}

interface Resumed {
  body: Json;
  executed: readonly (Executed & { call: ModelCall; offered: OfferedTool })[];
}

/** Approved calls are executed before the model is asked again. The model is told which calls were refused. */
export async function resumeApproved(
  deps: McpDeps,
  { principalId, seal }: ApprovalBinding,
  dialect: ToolDialect,
  body: Json,
  servers: readonly ResolvedServer[],
  offered: readonly OfferedTool[],
): Promise<Resumed> {
  const answers = dialect.answered(body);
  if (answers.length === 0) return { body, executed: [] };
  const resolved = new Map<string, Resolved>();
  const executed: (Executed & { call: ModelCall; offered: OfferedTool })[] = [];
  for (const answer of answers) {
    const known = opened(seal, answer.id);
    // OpenAI asks for approvals of its own under such ids; without the request that it answers, only the seal tells.
    if (known === null && answer.label === '') continue;
    const tool = offered.find((one) => one.server.label === known?.label && one.tool === known.tool);
    const call: ModelCall = {
      id: known?.callId ?? `call_${digestOf(answer.id).slice(0, 24)}`,
      name: tool?.name ?? answer.name,
      arguments: answer.arguments,
    };
    if (answer.settled || !answer.approve) {
      const output = answer.approve ? 'The person approved this call.' : 'The person did not approve this call.';
      resolved.set(answer.id, { call, output, settled: answer.settled });
      continue;
    }
    const isSame = known?.principalId === principalId && known.digest === digestOf(answer.arguments);
    if (!isSame || !tool || !isNamed(answer, tool)) throw unknownApproval();
    if (known.until < Date.now()) throw unknownApproval();
    const server = servers.find(({ reference }) => reference === tool.server);
    if (!server) throw unknownApproval();
    const done = await execute(deps, { ...server, context: withoutApproval(server.context) }, tool, call);
    executed.push({ ...done, approvalId: answer.id, call, offered: tool });
    resolved.set(answer.id, { call, output: done.output, settled: false });
  }
  return { body: dialect.resolved(body, resolved), executed };
}

const isNamed = ({ label, name }: Answered, tool: OfferedTool): boolean =>
  label === null ? name === tool.name : label === tool.server.label && name === tool.tool;

const unknownApproval = (): McpError =>
  new McpError(
    'invalid_request',
    'the approval is unknown, has expired or belongs to another call; send back the call that asked for it as it came',
  );

const withoutApproval = (context: ResolvedServer['context']): ResolvedServer['context'] => {
  const { require_approval: _listed, ...settings } = context.server.settings;
  return { ...context, server: { ...context.server, settings } };
};

interface Opened {
  principalId: string;
  label: string;
  tool: string;
  digest: string;
  until: number;
  callId: string;
}

function opened(seal: McpDeps['seal'], id: string): Opened | null {
  try {
    const parts: unknown = JSON.parse(seal.open(id.slice(approvalPrefix.length)));
    if (!Array.isArray(parts) || parts[0] !== 'approval') return null;
    const [, principalId, label, tool, digest, until, callId] = parts.map(String);
    return {
      principalId: principalId ?? '',
      label: label ?? '',
      tool: tool ?? '',
      digest: digest ?? '',
      until: Number(until),
      callId: callId ?? '',
    };
  } catch {
    // Not sealed by us.
    return null;
  }
}

/** What a person answers to a call that waits for them, as a tool's result. */
export function verdictIn(content: unknown): boolean {
  const text = typeof content === 'string' ? content : textIn(content);
  const said = text.trim().toLowerCase();
  if (said === 'approve' || said === 'reject') return said === 'approve';
  throw new McpError('invalid_request', 'answer a call that waits for approval with the result approve or reject');
}

const textIn = (content: unknown): string =>
  Array.isArray(content) ? content.map((part) => (part as Json | null)?.text ?? '').join('') : '';
