/** What the MCP data plane works with; wired once. */
import type { Discovery } from '../catalog/mcp/discovery.ts';
import type { McpServer } from '../catalog/mcp/server.ts';
import type { Clock } from '../clock.ts';
import type { LogSink } from '../logs/record.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { CallContext } from './call-context.ts';
import type { SessionSeal } from './client/session-token.ts';
import type { Definitions } from './definitions.ts';
import type { Identities } from './identify.ts';
import type { JsonRpcFields } from './protocol/json-rpc.ts';
import type { UpstreamDeps } from './upstream/exchange.ts';
import type { Opener } from './upstream/open.ts';
import type { Pool } from './upstream/pool.ts';

/** What guardrails say of the arguments or the result of a tool call. */
export interface GuardVerdict {
  /** Set where the call is denied: what the caller is told. */
  denial: string | null;
  /** The arguments or the result as they go on; the very same object where nothing changed. */
  value: JsonRpcFields;
  /** For `_meta["gw/hook_results"]` and the log; null where nothing is to be told. */
  hookResults: JsonRpcFields | null;
}

/** Guardrails on tool calls, of the request type `mcpToolCall`. */
export interface ToolGuard {
  /** Whether any guardrail is set for this server; calls of others cost nothing. */
  applies(server: McpServer): boolean;
  before(context: CallContext, params: JsonRpcFields): MaybePromise<GuardVerdict>;
  after(context: CallContext, params: JsonRpcFields, result: JsonRpcFields): MaybePromise<GuardVerdict>;
}

/** Rate limits on tool calls. Throws where one is used up. */
export type ToolLimiter = (context: CallContext, tool: string) => MaybePromise<void>;

export interface McpDeps {
  clock: Clock;
  identities: Identities;
  upstream: UpstreamDeps;
  opener: Opener;
  pool: Pool;
  definitions: Definitions;
  seal: SessionSeal;
  sink: LogSink;
  /** The claims of the end user's own token, where the integration asks for one; throws where it does not count. */
  endUser(server: McpServer, headers: Readonly<Record<string, string>>): Promise<JsonRpcFields | null>;
  guard: ToolGuard | null;
  limit: ToolLimiter | null;
  /** Keeps what an upstream said of itself in live traffic. */
  observe(server: McpServer, discovery: Discovery): void;
  /** Tells other nodes that a session has ended. */
  announceEnd(digest: string): void;
  maskedHeaders: readonly string[];
  onFault(fault: unknown, requestId: string): void;
}
