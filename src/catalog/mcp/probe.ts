/** Asking an upstream MCP server who it is and what it offers, for those who manage it. */
import type { Discovery } from './discovery.ts';
import type { McpUpstream } from './server.ts';

export type ProbeResult =
  | { success: true; statusCode: number; responseTimeMs: number; serverName: string | null; discovery: Discovery }
  /** The upstream answers and wants somebody to sign in; `success` in the words of the API. */
  | { success: true; statusCode: 401; responseTimeMs: number; serverName: null; discovery: null; error: string }
  | { success: false; statusCode: number | null; responseTimeMs: number; error: string };

export interface McpProbe {
  /** Within ten seconds. `userId`: whose sign-in is used, where each has an own one. */
  probe(upstream: McpUpstream, userId: string | null): Promise<ProbeResult>;
  /** Ends a person's sign-in at the upstream's authorization server, where that can be done. */
  revoke(upstream: McpUpstream, userId: string): Promise<void>;
}
