/** What metrics tell of MCP beside its messages. */
import type { McpGateway } from './gateway.ts';
import { type McpBreakers, severity } from './upstream/breaker.ts';

const mostServers = 1_000;

export const mcpGauges = ({ activeSessions }: Pick<McpGateway, 'activeSessions'>, breakers: McpBreakers) => ({
  mcp_active_sessions: { help: 'Sessions of MCP clients that this node knows', read: activeSessions },
  mcp_circuit_state: {
    help: 'Circuit breakers of MCP servers that failed lately: 0 closed, 1 half open, 2 open',
    read: () =>
      [...breakers.states()]
        .slice(0, mostServers)
        .map(([server, state]) => ({ labels: { server }, value: severity[state] })),
  },
});
