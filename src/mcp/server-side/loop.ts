/** Model call, tool calls, model call again: until the model has answered, a tool of the client is wanted, or a limit is reached. */

import { readJson } from '../../bounded-json.ts';
import type { McpDeps } from '../deps.ts';
import { type ApprovalBinding, approvalFor, needsApproval, resumeApproved } from './approvals.ts';
import type { ToolDialect } from './dialect.ts';
import {
  type Approval,
  asObject,
  type Executed,
  type Json,
  type LiveStart,
  type ModelCall,
  type OfferedTool,
  type ToolRound,
} from './tool-calls.ts';
import { withChoice } from './tool-choice.ts';
import { execute, offeredTools, type ResolvedServer, replayedName } from './tools.ts';

export interface ModelAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

export interface LoopOptions extends ApprovalBinding {
  dialect: ToolDialect;
  body: Json;
  servers: readonly ResolvedServer[];
  mostIterations: number;
  /** The client wants no fields that the dialect does not have. */
  isStrict: boolean;
  /** Calls the model; `round` counts from 0. */
  ask(body: Json, round: number): Promise<ModelAnswer>;
  /** Told as the loop goes on, where somebody watches. */
  watch?: {
    started(shown: LiveStart): void;
    executing(calls: readonly (ModelCall & { tool: OfferedTool })[]): void;
    executed(done: readonly (Executed & { call: ModelCall })[]): void;
  };
}

export type LoopResult = { answer: Json; round: ToolRound; headers: ModelAnswer['headers'] } | { refused: ModelAnswer };

const atOnce = 5;
const loopMs = 300_000;
const mostFailures = 3;

export async function runLoop(deps: McpDeps, options: LoopOptions): Promise<LoopResult> {
  const { dialect, servers, mostIterations, isStrict } = options;
  const startedAt = performance.now();
  const offered = await offeredTools(deps, servers);
  const references = servers.map(({ reference }) => reference);
  const byName = new Map(offered.map((tool) => [tool.name, tool]));
  const ours = new Set(byName.keys());
  const failures = new Map<string, number>();
  const resumed = await resumeApproved(deps, options, dialect, options.body, servers, offered);
  options.watch?.started({ tools: offered, servers: references, approved: resumed.executed });
  const executed: Executed[] = [...resumed.executed];
  let body = dialect.replayed(resumed.body, replayedName);
  let usage: Json = {};
  for (let round = 0; ; round++) {
    const late = round >= mostIterations || performance.now() - startedAt > loopMs;
    const usable = late ? [] : offered.filter(({ name }) => (failures.get(name) ?? 0) < mostFailures);
    const told = await options.ask(withChoice(dialect.withTools(body, usable), servers, usable, round), round);
    const answer = told.status === 200 ? parsed(told.text) : null;
    if (!answer) return { refused: told };
    usage = added(usage, asObject(answer.usage));
    const calls = dialect.calls(answer);
    const mine = calls.flatMap((one) => {
      const tool = byName.get(one.name);
      const server = tool && servers.find(({ reference }) => reference === tool.server);
      return tool && server ? [{ ...one, tool, server }] : [];
    });
    const show = (approvals: readonly Approval[] = []): LoopResult => {
      const shown: ToolRound = {
        executed,
        tools: offered,
        servers: references,
        ours,
        usage,
        approvals,
        limited: late,
        isStrict,
      };
      return { answer: dialect.final(answer, shown), round: shown, headers: told.headers };
    };
    if (mine.length === 0 || late) return show();
    const waiting = mine.filter(({ server, tool }) => needsApproval(server, tool));
    const ready = mine.filter((one) => !waiting.includes(one));
    options.watch?.executing(ready);
    const done = await inTurns(ready, atOnce, async ({ server, tool, ...one }) => ({
      ...(await execute(deps, server, tool, one)),
      call: one,
    }));
    options.watch?.executed(done);
    for (const one of done) {
      failures.set(one.call.name, one.error === null ? 0 : (failures.get(one.call.name) ?? 0) + 1);
      const { call: _call, ...plain } = one;
      executed.push(plain);
    }
    if (waiting.length > 0) return show(waiting.map((one) => approvalFor(options, one.tool, one)));
    // Calls of the client's own tools wait for the client; ours are done and shown.
    if (mine.length < calls.length) return show();
    body = dialect.next(body, answer, done);
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
