/** The records of the administration service as the console reads them. */
import type { OrganisationRole, WorkspaceRole } from '../../src/identity/roles.ts';
import type { Scope } from '../../src/identity/scopes.ts';
import type { OrganisationSettings, SettingSource, WorkspaceOverrides } from '../../src/identity/settings.ts';
import type { RateLimit, StoredUsageLimit } from '../../src/limits/entries.ts';

export type { OrganisationSettings, RateLimit, Scope, SettingSource, WorkspaceOverrides, WorkspaceRole };
export type UsageLimit = StoredUsageLimit;

export interface List<T> {
  total: number;
  data: T[];
}

export interface Person {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
}

export interface Self {
  user: Person;
  organisation: { id: string; name: string; slug: string; role: OrganisationRole };
  workspaces: { id: string; slug: string; name: string; icon: string | null; role: WorkspaceRole }[];
  scopes: Scope[];
  session_expires_at: string;
  csrf_token: string;
}

export interface OrganisationMembership {
  id: string;
  name: string;
  slug: string;
  role: OrganisationRole;
}

export interface Organisation {
  id: string;
  name: string;
  slug: string;
  default_workspace_id: string | null;
  default_jwt_workspace_id?: string | null;
  gateway_url?: string | null;
  mcp_gateway_url?: string | null;
  created_at?: string;
}

export interface WorkspaceDefaults {
  metadata?: Record<string, string>;
  input_guardrails?: string[];
  output_guardrails?: string[];
  user_api_key_config?: string | null;
}

export interface Workspace {
  id: string;
  slug: string;
  name: string;
  icon: string | null;
  description: string | null;
  is_default: number;
  status: 'active' | 'archived';
  defaults: WorkspaceDefaults | null;
  usage_limits: UsageLimit[];
  rate_limits: RateLimit[];
  created_at: string;
  last_updated_at: string;
}

export interface Member extends Person {
  org_role: OrganisationRole;
  role: WorkspaceRole;
  created_at: string;
}

export interface User extends Person {
  role: OrganisationRole;
  status: 'active' | 'archived';
  provisioned_by?: string;
  last_login_at: string | null;
  created_at: string;
}

export type InviteStatus = 'pending' | 'accepted' | 'cancelled' | 'expired';

export interface Invite {
  id: string;
  email: string;
  role: 'admin' | 'member';
  status: InviteStatus;
  workspaces: { id: string; role: WorkspaceRole }[];
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
}

/** What somebody who holds an invite's link may know of it. */
export interface InviteCard {
  organisation_name: string;
  email: string;
  status: 'pending' | 'accepted';
  requires_sso: boolean;
  /** True when the address has an account: its owner joins with the password they have. */
  requires_sign_in: boolean;
}

export type ApiKeyType = 'organisation-service' | 'workspace-service' | 'workspace-user';

export interface RotationPolicy {
  rotation_period?: 'weekly' | 'monthly' | null;
  rotation_period_days?: number | null;
  next_rotation_at?: string | null;
  key_transition_period_ms?: number;
}

export interface ApiKey {
  id: string;
  /** Masked. */
  key: string;
  name: string;
  description: string | null;
  type: ApiKeyType;
  workspace_id: string | null;
  workspace_slug: string | null;
  user_id: string | null;
  status: 'active' | 'exhausted' | 'expired';
  creation_mode: 'ui' | 'api' | 'auto';
  scopes: Scope[];
  rate_limits: RateLimit[];
  usage_limits: UsageLimit | null;
  defaults: { metadata: Record<string, string> };
  alert_emails: string[];
  expires_at: string | null;
  rotation_policy: RotationPolicy | null;
  last_rotated_at: string | null;
  key_transition_expires_at: string | null;
  created_at: string;
  last_updated_at: string;
}

export interface NewSecret {
  id: string;
  key: string;
  key_transition_expires_at?: string | null;
}

export interface NoticeRecord {
  id: string;
  template: string;
  recipients: string[];
  /** Links and secrets in part; null when they cannot be read any more. */
  fields: Record<string, string> | null;
  status: 'queued' | 'sent' | 'failed';
  created_at: string;
  sent_at: string | null;
}

export interface AuditRow {
  id: string;
  timestamp: string;
  method: string;
  uri: string;
  request_id: string;
  request_body: string;
  query_params: string;
  request_headers: string;
  user_id: string;
  user_type: 'user' | 'api_key' | 'scim' | 'system';
  workspace_id: string | null;
  response_status_code: number;
  resource_type: string;
  resource_id: string | null;
  action: string;
  client_ip: string;
  country: string | null;
  details: string | null;
}
