/** What the MCP data plane works with; wired once. */
import type { Discovery } from '../catalog/mcp/discovery.ts';
import type { McpServer } from '../catalog/mcp/server.ts';
import type { Clock } from '../clock.ts';
import type { ServiceCalls } from '../gateway/service-calls.ts';
import type { SessionSeal } from './client/session-token.ts';
import type { Definitions } from './definitions.ts';
import type { Identities } from './identify.ts';
import type { JsonRpcFields } from './protocol/json-rpc.ts';
import type { ResultSizes } from './result-sizes.ts';
import type { TaskOwners } from './tasks/owners.ts';
import type { UpstreamDeps } from './upstream/exchange.ts';
import type { Opener } from './upstream/open.ts';
import type { Pool } from './upstream/pool.ts';

export interface McpDeps {
  clock: Clock;
  identities: Identities;
  upstream: UpstreamDeps;
  opener: Opener;
  pool: Pool;
  definitions: Definitions;
  resultSizes: ResultSizes;
  tasks: TaskOwners;
  seal: SessionSeal;
  /** Identity, limits and logs, as for every call of the data plane. */
  services: ServiceCalls;
  /** The claims of the end user's own token, where the integration asks for one; throws where it does not count. */
  endUser(server: McpServer, headers: Readonly<Record<string, string>>): Promise<JsonRpcFields | null>;
  /** Keeps what an upstream said of itself in live traffic. */
  observe(server: McpServer, discovery: Discovery): void;
  /** Tells other nodes that a session has ended. */
  announceEnd(digest: string): void;
  onFault(fault: unknown, requestId: string): void;
}
