/** Rows of the MCP gateway: integrations, their servers in workspaces, what was discovered of them, and who signed in upstream. */

import type { CapabilityDefinition, CapabilityType, McpMetadata } from '../../catalog/mcp/types.ts';
import type { SecretMapping } from '../../catalog/saved.ts';
import type { JsonText } from '../json.ts';

type Timestamp = string;
type Flag = 0 | 1;

/** An upstream MCP server that the organisation or, with a workspace, that workspace alone has registered. */
export interface McpIntegrationTable {
  id: string;
  organisation_id: string;
  workspace_id: string | null;
  slug: string;
  name: string;
  description: string | null;
  status: 'active' | 'archived';
  url: string;
  transport: 'http' | 'sse' | 'openapi';
  auth_type: 'none' | 'headers' | 'oauth_auto' | 'oauth_client_credentials';
  configurations_sealed: string | null;
  secret_mappings: JsonText<SecretMapping[]>;
  global_workspace_access: JsonText<{ enabled: boolean }> | null;
  metadata: JsonText<McpMetadata>;
  sync_status: 'pending' | 'syncing' | 'synced' | 'failed';
  last_synced_at: Timestamp | null;
  sync_error: string | null;
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** Whether a workspace may use an integration of the organisation. */
export interface McpIntegrationWorkspaceTable {
  integration_id: string;
  workspace_id: string;
  enabled: Flag;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** A tool, prompt, resource or template that the upstream server listed. */
export interface McpCapabilityTable {
  integration_id: string;
  type: CapabilityType;
  /** The name of a tool or prompt, the URI of a resource, the pattern of a template. */
  key: string;
  name: string;
  enabled: Flag;
  definition: JsonText<CapabilityDefinition>;
  /** Digest of the definition as it was last listed. */
  digest: string;
  /** The definition that was approved, where tools are pinned; null: any. */
  pinned: JsonText<CapabilityDefinition> | null;
  pinned_digest: string | null;
  missing_since: Timestamp | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** An integration as one workspace uses it: what clients connect to. */
export interface McpServerTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  integration_id: string;
  slug: string;
  name: string;
  description: string | null;
  status: 'active' | 'archived';
  default_user_access: 'allow' | 'deny';
  /** Guardrails of its tool calls; null: those of the integration. */
  input_guardrails: JsonText<string[]> | null;
  output_guardrails: JsonText<string[]> | null;
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** A switch of one capability in one server. */
export interface McpServerCapabilityTable {
  server_id: string;
  type: CapabilityType;
  key: string;
  enabled: Flag;
  last_updated_at: Timestamp;
}

/** One person's access to a server, where it differs from the default. */
export interface McpServerUserTable {
  server_id: string;
  user_id: string;
  enabled: Flag;
  last_updated_at: Timestamp;
}

/** One person's sign-in at the upstream of a server. */
export interface McpConnectionTable {
  server_id: string;
  user_id: string;
  organisation_id: string;
  status: 'connected' | 'not_connected';
  issuer: string;
  /** The tokens as JSON, encrypted. */
  tokens_sealed: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** What an upstream's authorization server knows us as. */
export interface McpUpstreamClientTable {
  server_id: string;
  issuer: string;
  client_sealed: string;
  created_at: Timestamp;
}

/** Who may ask for a task of a server. */
export interface McpTaskTable {
  /** Digest of the server's id and of the task's; with `result` behind them once limits have counted its result. */
  key: string;
  /** `user:` or `key:` and an id. */
  owner: string;
  /** The tool whose call made it. */
  tool: string;
  created_at: Timestamp;
}

export interface McpTables {
  mcp_integrations: McpIntegrationTable;
  mcp_integration_workspaces: McpIntegrationWorkspaceTable;
  mcp_capabilities: McpCapabilityTable;
  mcp_servers: McpServerTable;
  mcp_server_capabilities: McpServerCapabilityTable;
  mcp_server_users: McpServerUserTable;
  mcp_connections: McpConnectionTable;
  mcp_upstream_clients: McpUpstreamClientTable;
  mcp_tasks: McpTaskTable;
}
