/** The two families of services that an organisation registers and hands to its workspaces: MCP servers and agents. What differs is a value, so that the rules are written once. */
import type { SettingsPurpose } from '../../catalog/sealed-settings.ts';

export interface Family {
  /** As messages name it: `MCP integration`, `agent server`. */
  readonly word: 'MCP' | 'agent';
  /** As scopes name it: `organisation_mcp_integrations.read`. */
  readonly scope: 'mcp' | 'agent';
  /** What the settings of its integrations are sealed as. */
  readonly settings: SettingsPurpose;
  readonly integrations: 'mcp_integrations' | 'agent_integrations';
  /** Which integration of the organisation is handed to which workspace. */
  readonly grants: 'mcp_integration_workspaces' | 'agent_integration_workspaces';
  /** What an integration has discovered, by `integration_id`. */
  readonly offers: 'mcp_capabilities' | 'agent_skills';
  readonly servers: 'mcp_servers' | 'agent_servers';
  /** People's access, where it differs from a server's default. */
  readonly users: 'mcp_server_users' | 'agent_server_users';
  /** Everything that goes with a server, by `server_id`. */
  readonly ofServer: readonly OfServer[];
}

type OfServer =
  | 'mcp_connections'
  | 'mcp_upstream_clients'
  | 'mcp_server_users'
  | 'mcp_server_capabilities'
  | 'agent_server_users'
  | 'agent_server_skills';

export const mcpFamily: Family = {
  word: 'MCP',
  scope: 'mcp',
  settings: 'mcp-configurations',
  integrations: 'mcp_integrations',
  grants: 'mcp_integration_workspaces',
  offers: 'mcp_capabilities',
  servers: 'mcp_servers',
  users: 'mcp_server_users',
  ofServer: ['mcp_connections', 'mcp_upstream_clients', 'mcp_server_users', 'mcp_server_capabilities'],
};

export const agentFamily: Family = {
  word: 'agent',
  scope: 'agent',
  settings: 'agent-configurations',
  integrations: 'agent_integrations',
  grants: 'agent_integration_workspaces',
  offers: 'agent_skills',
  servers: 'agent_servers',
  users: 'agent_server_users',
  ofServer: ['agent_server_users', 'agent_server_skills'],
};
