/** Rows of SCIM: what an identity provider told us about people and groups, and the workspaces that groups lead to. */
import type { WorkspaceRole } from '../../identity/roles.ts';
import type { Flag, Timestamp } from './columns.ts';

/** One row for each organisation that has touched its SCIM settings. */
export interface ScimSettingsTable {
  organisation_id: string;
  enabled: Flag;
  organisation_management_only: Flag;
  group_based_user_provisioning: Flag;
  pattern_prefix: string;
  pattern_role_separator: string;
  /** What audit rows name as the actor. */
  token_id: string | null;
  token_digest: string | null;
  token_masked: string | null;
  token_created_at: Timestamp | null;
  last_updated_at: Timestamp;
}

/** What the identity provider says about a member; members that it never touched have no row. */
export interface ScimUserTable {
  organisation_id: string;
  user_id: string;
  user_name: string;
  /** In small letters, to be looked up by; null once deleted, so that the name is free again. */
  user_name_folded: string | null;
  external_id: string | null;
  display_name: string | null;
  title: string | null;
  /** 1 where the provider named a role, even `member`. */
  roles_given: Flag;
  /** 1 after DELETE: the person is unknown to SCIM until the provider creates them again. */
  deleted: Flag;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface ScimUserEmailTable {
  organisation_id: string;
  user_id: string;
  position: number;
  value: string;
  value_folded: string;
  type: string | null;
  is_primary: Flag | null;
}

export interface ScimGroupTable {
  id: string;
  organisation_id: string;
  display_name: string;
  display_name_folded: string;
  external_id: string | null;
  /** 0: made by a mapping that named it, and the identity provider has not pushed it yet. */
  pushed: Flag;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface ScimGroupMemberTable {
  group_id: string;
  user_id: string;
  created_at: Timestamp;
}

/** A group that leads to a workspace. */
export interface ScimWorkspaceTable {
  id: string;
  organisation_id: string;
  group_id: string;
  workspace_id: string;
  role: WorkspaceRole;
  /** `pattern`: the name of the group says so. */
  source: 'mapping' | 'pattern';
  status: 'active' | 'archived';
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** A membership of a workspace that a mapping gave. */
export interface ScimGrantTable {
  workspace_id: string;
  user_id: string;
  organisation_id: string;
  mapping_id: string;
  created_at: Timestamp;
}

export interface ScimTables {
  scim_settings: ScimSettingsTable;
  scim_users: ScimUserTable;
  scim_user_emails: ScimUserEmailTable;
  scim_groups: ScimGroupTable;
  scim_group_members: ScimGroupMemberTable;
  scim_workspaces: ScimWorkspaceTable;
  scim_grants: ScimGrantTable;
}
