/** Model call, tool calls, model call again: until the model has answered, a tool of the client is wanted, or a limit is reached. */

import { createHash } from 'node:crypto';
import { readJson } from '../../bounded-json.ts';
import type { McpDeps } from '../deps.ts';
import { McpError } from '../errors.ts';
import {
  asList,
  asObject,
  type Executed,
  type Json,
  type ModelCall,
  type OfferedTool,
  type ToolDialect,
  type ToolRound,
} from './dialect.ts';
import { withChoice } from './tool-choice.ts';
import { execute, nameFor, offeredTools, type ResolvedServer } from './tools.ts';

export interface ModelAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

export interface LoopOptions {
  dialect: ToolDialect;
  body: Json;
  servers: readonly ResolvedServer[];
  mostIterations: number;
  /** Calls the model; `round` counts from 0. */
  ask(body: Json, round: number): Promise<ModelAnswer>;
  /** Told as the loop goes on, where somebody watches. */
  watch?: {
    offered(tools: readonly OfferedTool[]): void;
    executing(calls: readonly (ModelCall & { tool: OfferedTool })[]): void;
    executed(done: readonly (Executed & { call: ModelCall })[]): void;
  };
  /** The identity that approvals are bound to. */
  principalId: string;
  seal: McpDeps['seal'];
}

export type LoopResult = { answer: Json; round: ToolRound; headers: ModelAnswer['headers'] } | { refused: ModelAnswer };

const atOnce = 5;
const loopMs = 300_000;
const mostFailures = 3;
const approvalMs = 30 * 60_000;

export async function runLoop(deps: McpDeps, options: LoopOptions): Promise<LoopResult> {
  const { dialect, servers, mostIterations } = options;
  const startedAt = performance.now();
  const offered = await offeredTools(deps, servers);
  options.watch?.offered(offered);
  const byName = new Map(offered.map((tool) => [tool.name, tool]));
  const ours = new Set(byName.keys());
  const failures = new Map<string, number>();
  const executed: Executed[] = [];
  const resumed = await resumedApprovals(deps, options, byName, executed);
  let body = dialect.replayed(resumed.body, (label, tool) => nameFor(label.replace(/^@gw-mcp\//, ''), tool));
  if (resumed.turns) body = resumed.turns(body);
  let usage: Json = {};
  for (let round = 0; ; round++) {
    const late = round >= mostIterations || performance.now() - startedAt > loopMs;
    const usable = late ? [] : offered.filter(({ name }) => (failures.get(name) ?? 0) < mostFailures);
    const told = await options.ask(withChoice(dialect.withTools(body, usable), servers, usable, round), round);
    const answer = told.status === 200 ? parsed(told.text) : null;
    if (!answer) return { refused: told };
    usage = added(usage, asObject(answer.usage));
    const calls = dialect.calls(answer);
    const mine = calls.filter(({ name }) => byName.has(name));
    const show = (approvals: readonly Json[] = []): LoopResult => {
      const shown: ToolRound = {
        executed,
        tools: offered,
        servers: servers.map(({ reference }) => reference),
        ours,
        usage,
        approvals,
        limited: late,
      };
      return { answer: dialect.final(answer, shown), round: shown, headers: told.headers };
    };
    if (mine.length === 0 || late) return show();
    const waiting = dialect.approval ? mine.filter((one) => needsApproval(servers, byName.get(one.name))) : [];
    if (waiting.length > 0) return show(waiting.map((one) => approvalRequest(options, byName.get(one.name), one)));
    options.watch?.executing(
      mine.flatMap((one) => {
        const tool = byName.get(one.name);
        return tool ? [{ ...one, tool }] : [];
      }),
    );
    const done = await inTurns(mine, atOnce, async (one) => {
      const tool = byName.get(one.name);
      const server = tool && servers.find(({ reference }) => reference === tool.server);
      if (!tool || !server) throw new McpError('internal_error', 'a tool has no server');
      return { ...(await execute(deps, server, tool, one)), call: one };
    });
    options.watch?.executed(done);
    for (const one of done) {
      failures.set(one.call.name, one.error === null ? 0 : (failures.get(one.call.name) ?? 0) + 1);
      const { call: _call, ...plain } = one;
      executed.push(plain);
    }
    // Calls of the client's own tools wait for the client; ours are done and shown.
    if (mine.length < calls.length) return show();
    body = dialect.next(body, answer, done);
  }
}

const needsApproval = (servers: readonly ResolvedServer[], tool: OfferedTool | undefined): boolean => {
  const server = tool && servers.find(({ reference }) => reference === tool.server);
  return server?.context.server.settings.require_approval?.includes(tool?.tool ?? '') ?? false;
};

/** The id holds what was asked, sealed: whoever approves it later approves exactly this. */
function approvalRequest(
  { seal, principalId }: LoopOptions,
  tool: OfferedTool | undefined,
  { id, arguments: given }: ModelCall,
): Json {
  const label = tool?.server.label ?? '';
  const name = tool?.tool ?? '';
  const sealed = seal.seal(
    JSON.stringify(['approval', principalId, label, name, digest(given), Date.now() + approvalMs, id]),
  );
  return { type: 'mcp_approval_request', id: `mcpr_${sealed}`, server_label: label, name, arguments: given };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

interface Resumed {
  body: Json;
  turns: ((body: Json) => Json) | null;
}

/** Calls that a person has approved are made before the model is asked again; what he refused is told to it. */
async function resumedApprovals(
  deps: McpDeps,
  options: LoopOptions,
  byName: ReadonlyMap<string, OfferedTool>,
  executed: Executed[],
): Promise<Resumed> {
  const { body, servers, seal, principalId } = options;
  const items = asList(body.input);
  const responses = items.filter(({ type }) => type === 'mcp_approval_response');
  if (responses.length === 0) return { body, turns: null };
  const turns: Json[] = [];
  for (const response of responses) {
    const id = String(response.approval_request_id ?? '');
    const request = items.find((item) => item.type === 'mcp_approval_request' && item.id === id);
    const given = String(request?.arguments ?? '{}');
    const known = openedApproval(seal, id);
    const valid =
      known &&
      known[1] === principalId &&
      known[2] === request?.server_label &&
      known[3] === request?.name &&
      known[4] === digest(given) &&
      Number(known[5]) > Date.now();
    if (!valid)
      throw new McpError(
        'invalid_request',
        'the approval is unknown, has expired or belongs to another call; send its mcp_approval_request along',
      );
    const tool = [...byName.values()].find((one) => one.server.label === known[2] && one.tool === known[3]);
    const server = tool && servers.find(({ reference }) => reference === tool.server);
    if (!tool || !server) throw new McpError('invalid_request', `the approved tool ${String(known[3])} is not offered`);
    const modelCall: ModelCall = { id: String(known[6]), name: tool.name, arguments: given };
    const approved = response.approve === true;
    const open = { ...server, context: withoutApproval(server.context) };
    const done = approved ? await execute(deps, open, tool, modelCall) : null;
    if (done) executed.push(done);
    turns.push(
      { type: 'function_call', call_id: modelCall.id, name: tool.name, arguments: given },
      {
        type: 'function_call_output',
        call_id: modelCall.id,
        output: done ? done.output : 'The person did not approve this call.',
      },
    );
  }
  const rest = items.filter(({ type }) => type !== 'mcp_approval_response' && type !== 'mcp_approval_request');
  return { body: { ...body, input: rest }, turns: (one) => ({ ...one, input: [...asList(one.input), ...turns] }) };
}

const withoutApproval = (context: ResolvedServer['context']): ResolvedServer['context'] => {
  const { require_approval: _listed, ...settings } = context.server.settings;
  return { ...context, server: { ...context.server, settings } };
};

function openedApproval(seal: McpDeps['seal'], id: string): unknown[] | null {
  try {
    const opened: unknown = JSON.parse(seal.open(id.replace(/^mcpr_/, '')));
    return Array.isArray(opened) && opened[0] === 'approval' ? opened : null;
  } catch {
    // Not sealed by us.
    return null;
  }
}

async function inTurns<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += most) {
    results.push(...(await Promise.all(items.slice(start, start + most).map(work))));
  }
  return results;
}

/** Numbers of all calls together, at any depth. */
function added(total: Json, more: Json): Json {
  const sum: Json = { ...total };
  for (const [name, value] of Object.entries(more)) {
    const before = sum[name];
    if (typeof value === 'number') sum[name] = (typeof before === 'number' ? before : 0) + value;
    else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      sum[name] = added(asObject(before), asObject(value));
    else sum[name] = value;
  }
  return sum;
}

function parsed(text: string): Json | null {
  try {
    return asObject(readJson(text));
  } catch {
    return null;
  }
}
