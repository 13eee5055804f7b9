/** What the loop of server-side tools must know of a dialect: how tools are named in a request, and how calls and results look. */
import type { JsonRpcFields } from '../protocol/json-rpc.ts';
import type { LiveView } from './live.ts';

export type Json = Record<string, unknown>;

/** A server that a request refers to, and which of its tools it wants. */
export interface ServerReference {
  slug: string;
  /** As the client wrote it. */
  label: string;
  wants(tool: string): boolean;
}

/** A tool of one of our servers, under the name that the model knows it by. */
export interface OfferedTool {
  name: string;
  server: ServerReference;
  tool: string;
  description: string;
  schema: JsonRpcFields;
}

export interface ModelCall {
  id: string;
  name: string;
  /** As the model wrote them. */
  arguments: string;
}

/** A call that was executed. */
export interface Executed {
  id: string;
  label: string;
  tool: string;
  arguments: string;
  output: string;
  /** Null where it worked. */
  error: string | null;
  /** The approval that it waited for. */
  approvalId?: string;
}

/** A call that waits for a person. */
export interface Approval {
  id: string;
  label: string;
  tool: string;
  /** As the model knows the tool. */
  name: string;
  arguments: string;
}

/** What a person said to a call that waited for him, as the client sent it back. */
export interface Answered {
  id: string;
  /** Null in dialects where the call bears the name that the model knows. */
  label: string | null;
  name: string;
  arguments: string;
  approve: boolean;
  /** It belongs to an earlier turn and was acted upon then. */
  settled: boolean;
}

export interface Resolved {
  call: ModelCall;
  output: string;
  settled: boolean;
}

export interface ToolDialect {
  /** The servers that the request names; the request without them. */
  references(body: Json): { servers: ServerReference[]; rest: Json };
  /** Earlier rounds that the client sends back, as ordinary turns. */
  replayed(body: Json, nameOf: (label: string, tool: string) => string): Json;
  withTools(body: Json, tools: readonly OfferedTool[]): Json;
  /** The calls in an answer of the model. */
  calls(answer: Json): ModelCall[];
  /** The request of the next round. */
  next(body: Json, answer: Json, ours: readonly (Executed & { call: ModelCall })[]): Json;
  /** Calls that waited for a person, and what he said. */
  answered(body: Json): Answered[];
  /** The request with these calls as ordinary turns. */
  resolved(body: Json, outcomes: ReadonlyMap<string, Resolved>): Json;
  /** The last answer, with everything that was executed shown as the dialect shows it. */
  final(answer: Json, shown: ToolRound): Json;
  /** Shows the loop as a stream. */
  live(body: Json, shown: LiveStart): LiveView;
  /** The request of one round, whose answer is to be a stream. */
  streaming(body: Json): Json;
}

/** What a stream shows before the model says anything. */
export interface LiveStart {
  tools: readonly OfferedTool[];
  servers: readonly ServerReference[];
  /** Calls that were approved, and have been made. */
  approved: readonly (Executed & { call: ModelCall; offered: OfferedTool })[];
}

export interface ToolRound {
  executed: readonly Executed[];
  tools: readonly OfferedTool[];
  servers: readonly ServerReference[];
  /** Names of calls that were ours: they are taken out of what the client must answer. */
  ours: ReadonlySet<string>;
  usage: Json;
  approvals: readonly Approval[];
  limited: boolean;
}

export const marker = '@gw-mcp';

/** `@gw-mcp/<slug>[/<tool>]`; null for anything else. */
export function referenceIn(label: unknown): { slug: string; tool: string | null } | null {
  if (typeof label !== 'string' || !label.startsWith(`${marker}/`)) return null;
  const [slug = '', tool] = label.slice(marker.length + 1).split('/', 2);
  return slug === '' ? null : { slug, tool: tool ?? null };
}

export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const asList = (value: unknown): Json[] => (Array.isArray(value) ? value.map(asObject) : []);

export const sse = (event: string | null, data: object | string): string =>
  `${event === null ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
