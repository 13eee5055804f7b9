/** Tools of our servers in a model request: which are referred to, offered, called and approved, and how the JSON of a request is read. */
import type { JsonRpcFields } from '../protocol/json-rpc.ts';

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

/** What a person answered to a call that waited for them, as the client sent it back. */
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
  /** The client wants no fields that OpenAI's dialects do not have. */
  isStrict: boolean;
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
