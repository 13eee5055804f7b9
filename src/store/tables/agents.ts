/** Rows of the agent gateway: agents that were registered, their servers in workspaces, their skills, and who owns which task. */

import type { AgentCard, AgentSkill } from '../../catalog/agents/card.ts';
import type { SecretMapping } from '../../catalog/saved.ts';
import type { JsonText } from '../json.ts';

type Timestamp = string;
type Flag = 0 | 1;

/** An agent that the organisation or, with a workspace, that workspace alone has registered. */
export interface AgentIntegrationTable {
  id: string;
  organisation_id: string;
  workspace_id: string | null;
  slug: string;
  name: string;
  description: string | null;
  status: 'active' | 'archived';
  /** Below it the agent's card is found. */
  url: string;
  protocol: 'a2a';
  auth_type: 'none' | 'headers' | 'oauth_client_credentials';
  configurations_sealed: string | null;
  secret_mappings: JsonText<SecretMapping[]>;
  global_workspace_access: JsonText<{ enabled: boolean }> | null;
  /** As it was last fetched. */
  agent_card: JsonText<AgentCard> | null;
  card_digest: string | null;
  /** `pending`: it is still to be fetched. */
  card_status: 'pending' | 'fetched' | 'failed';
  card_fetched_at: Timestamp | null;
  card_error: string | null;
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** A skill that the agent's card lists. */
export interface AgentSkillTable {
  integration_id: string;
  skill_id: string;
  definition: JsonText<AgentSkill>;
  enabled: Flag;
  missing_since: Timestamp | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** Whether a workspace may use an integration of the organisation. */
export interface AgentIntegrationWorkspaceTable {
  integration_id: string;
  workspace_id: string;
  enabled: Flag;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** An integration as one workspace uses it: what clients connect to. */
export interface AgentServerTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  integration_id: string;
  slug: string;
  name: string;
  description: string | null;
  status: 'active' | 'archived';
  default_user_access: 'allow' | 'deny';
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** One person's access to a server, where it differs from the default. */
export interface AgentServerUserTable {
  server_id: string;
  user_id: string;
  enabled: Flag;
  last_updated_at: Timestamp;
}

/** A switch of one skill in one server. */
export interface AgentServerSkillTable {
  server_id: string;
  skill_id: string;
  enabled: Flag;
  last_updated_at: Timestamp;
}

/** Who may ask for a task or go on with a conversation of an agent. */
export interface AgentOwnerTable {
  /** Digest of the agent's address, of what it is, and of its id. */
  key: string;
  workspace_id: string;
  /** `user:` or `key:` and an id. */
  owner: string;
  created_at: Timestamp;
}

export interface AgentTables {
  agent_integrations: AgentIntegrationTable;
  agent_integration_workspaces: AgentIntegrationWorkspaceTable;
  agent_skills: AgentSkillTable;
  agent_servers: AgentServerTable;
  agent_server_skills: AgentServerSkillTable;
  agent_server_users: AgentServerUserTable;
  agent_owners: AgentOwnerTable;
}
