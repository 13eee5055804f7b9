/** Every table of the state store, as rows. Times are RFC 3339 text in UTC, flags are 0 or 1: both engines sort and store them alike. */
import type { ColumnType, GeneratedAlways } from 'kysely';
import type {
  CheckedBatchRowTable,
  ManagedBatchRowTable,
  ManagedBatchTable,
  ManagedFileChunkTable,
  ManagedFileTable,
  ProviderBatchTable,
} from '../batches/schema.ts';
import type { OrganisationRole, WorkspaceRole } from '../identity/roles.ts';
import type { RotationPolicy } from '../identity/rotation.ts';
import type { Scope } from '../identity/scopes.ts';
import type { OrganisationSettings, OverrideSection, WorkspaceSettings } from '../identity/settings.ts';
import type { RateLimit, StoredUsageLimit } from '../limits/entries.ts';
import type { JsonText } from './json.ts';
import type { AccountTables } from './tables/accounts.ts';
import type { AgentTables } from './tables/agents.ts';
import type { CatalogTables } from './tables/catalog.ts';
import type { Flag, Timestamp } from './tables/columns.ts';
import type { CompanySignInTables } from './tables/company-sign-in.ts';
import type { GuardrailTables } from './tables/guardrails.ts';
import type { InstallationTables } from './tables/installation.ts';
import type { LimitTables } from './tables/limits.ts';
import type { LogExportTables } from './tables/log-exports.ts';
import type { McpTables } from './tables/mcp.ts';
import type { OauthTables } from './tables/oauth.ts';
import type { PriceTables } from './tables/prices.ts';
import type { PromptTables } from './tables/prompts.ts';
import type { ScimTables } from './tables/scim.ts';
import type { SecretTables } from './tables/secrets.ts';

export type { Flag, Timestamp };

export interface OrganisationTable {
  id: string;
  name: string;
  slug: string;
  default_workspace_id: string | null;
  default_jwt_workspace_id: string | null;
  gateway_url: string | null;
  mcp_gateway_url: string | null;
  kms_key_arn: string | null;
  settings: JsonText<OrganisationSettings>;
  workspace_overrides: JsonText<Partial<Record<OverrideSection, boolean>>>;
  properties: JsonText<OrganisationProperties>;
  defaults: JsonText<OrganisationDefaults>;
  status: 'active' | 'archived';
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface OrganisationProperties {
  api_key_metadata_schema: Record<string, unknown> | null;
  workspace_metadata_schema: Record<string, unknown> | null;
}

export interface OrganisationDefaults {
  input_guardrails: string[];
  output_guardrails: string[];
}

export interface UserTable {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  /** When somebody last showed that the address is theirs; null: nobody has. */
  email_proven_at: Timestamp | null;
  last_organisation_id: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export type ProvisionedBy = 'invite' | 'sso' | 'scim' | 'signup';

export interface OrganisationMemberTable {
  organisation_id: string;
  user_id: string;
  role: OrganisationRole;
  status: 'active' | 'archived';
  provisioned_by: ProvisionedBy;
  last_login_at: Timestamp | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface WorkspaceDefaults {
  metadata: Record<string, string>;
  input_guardrails: string[];
  output_guardrails: string[];
  user_api_key_config: string | null;
}

export interface WorkspaceTable {
  id: string;
  organisation_id: string;
  slug: string;
  /** The plain name; the icon stands apart. */
  name: string;
  icon: string | null;
  description: string | null;
  is_default: Flag;
  status: 'active' | 'archived';
  defaults: JsonText<WorkspaceDefaults>;
  usage_limits: JsonText<StoredUsageLimit[]>;
  rate_limits: JsonText<RateLimit[]>;
  /** Own values of the sections that the organisation has opened to workspaces. */
  settings: JsonText<WorkspaceSettings>;
  last_reset_at: Timestamp | null;
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface WorkspaceMemberTable {
  workspace_id: string;
  user_id: string;
  organisation_id: string;
  role: WorkspaceRole;
  status: 'active' | 'archived';
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export type GuardrailDirection = 'input' | 'output';

/** A workspace that the organisation's default guardrails of one direction leave alone. */
export interface GuardrailExclusionTable {
  organisation_id: string;
  workspace_id: string;
  direction: GuardrailDirection;
  created_at: Timestamp;
}

export interface InviteTable {
  id: string;
  organisation_id: string;
  email: string;
  role: 'admin' | 'member';
  status: 'pending' | 'accepted' | 'cancelled' | 'expired';
  workspaces: JsonText<{ id: string; role: WorkspaceRole }[]>;
  api_key_scopes: JsonText<Scope[]> | null;
  invited_by: string;
  token_digest: string;
  created_at: Timestamp;
  expires_at: Timestamp;
  accepted_at: Timestamp | null;
}

export type ApiKeyType = 'organisation-service' | 'workspace-service' | 'workspace-user';
export type ApiKeyStatus = 'active' | 'exhausted' | 'expired' | 'archived';

export interface ApiKeyTable {
  id: string;
  organisation_id: string;
  workspace_id: string | null;
  user_id: string | null;
  type: ApiKeyType;
  name: string;
  /** The name in small letters, to be searched and sorted by. */
  name_folded: string;
  description: string | null;
  status: ApiKeyStatus;
  creation_mode: 'ui' | 'api' | 'auto';
  scopes: JsonText<Scope[]>;
  rate_limits: JsonText<RateLimit[]>;
  usage_limits: JsonText<StoredUsageLimit> | null;
  /** The due date of `usage_limits`, apart so that the reset job can look it up. */
  next_usage_reset_at: Timestamp | null;
  metadata: JsonText<Record<string, string>>;
  config_id: string | null;
  allow_config_override: Flag | null;
  alert_emails: JsonText<string[]>;
  expires_at: Timestamp | null;
  rotation_policy: JsonText<RotationPolicy> | null;
  /** The due date of `rotation_policy`, apart so that the rotation job can look it up. */
  next_rotation_at: Timestamp | null;
  /** The due date whose upcoming rotation was announced. */
  rotation_announced_for: Timestamp | null;
  /** The expiry that people were warned of; null: none yet. */
  expiry_announced_for: Timestamp | null;
  last_rotated_at: Timestamp | null;
  last_reset_at: Timestamp | null;
  created_by: string | null;
  last_updated_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** One secret of a key. A key in transition has two that are ACTIVE. */
export interface ApiKeySecretTable {
  /** SHA-256 of the secret, in hex: the whole of it is the look-up key. */
  digest: string;
  api_key_id: string;
  masked: string;
  status: 'ACTIVE' | 'EXPIRED';
  /** Null for the current secret; the end of the transition for the one that it replaced. */
  transition_expires_at: Timestamp | null;
  /** The secret itself, encrypted, while nobody has seen it yet (made by a job, not by a call). */
  sealed: string | null;
  ending_announced: Flag;
  created_at: Timestamp;
}

export interface SessionTable {
  id: string;
  token_digest: string;
  user_id: string;
  organisation_id: string;
  csrf_token: string;
  auth_time: Timestamp;
  expires_at: Timestamp;
  client_ip: string;
  user_agent: string;
  /** The hash of the password that opened it; null where none did. */
  password_hash: string | null;
  /** What the identity provider needs to hear at logout, sealed; null where it did not open the session. */
  sso_sealed: string | null;
  /** A digest of how the identity provider calls the person, by which it may end the session. */
  sso_subject: string | null;
  /** A digest of how an OpenID provider calls its own session; null where it tells no such id. */
  sso_session: string | null;
}

export interface EmailDomainTable {
  id: string;
  organisation_id: string;
  domain: string;
  allow_subdomains: Flag;
  status: 'pending' | 'verified';
  /** What the TXT record must hold. */
  verification_code: string;
  /** Another code, which only mailboxes of the domain were sent: knowing it proves that one of them is read. */
  mailed_code_digest: string;
  verified_at: Timestamp | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface AuditLogTable {
  id: string;
  timestamp: Timestamp;
  method: string;
  uri: string;
  request_id: string;
  request_body: string;
  query_params: string;
  request_headers: string;
  user_id: string;
  user_type: 'user' | 'api_key' | 'scim' | 'system';
  organisation_id: string;
  workspace_id: string | null;
  response_status_code: number;
  resource_type: string;
  resource_id: string | null;
  action: string;
  client_ip: string;
  country: string | null;
  details: string | null;
}

export interface NoticeTable {
  id: string;
  organisation_id: string;
  template: string;
  recipients: JsonText<string[]>;
  /** The template's fields as JSON, encrypted: an invite link is a credential. */
  fields_sealed: string;
  status: 'queued' | 'sent' | 'failed';
  attempts: ColumnType<number, number | undefined, number>;
  /** Null: at once. */
  next_attempt_at: ColumnType<Timestamp | null, Timestamp | null | undefined, Timestamp | null>;
  last_error: ColumnType<string | null, string | null | undefined, string | null>;
  created_at: Timestamp;
  sent_at: Timestamp | null;
}

export interface LeaseTable {
  name: string;
  holder: string;
  expires_at: Timestamp;
}

export interface MigrationTable {
  version: number;
  name: string;
  applied_at: Timestamp;
}

/** One row, sealed by the first start: whoever opens it has the same master key. */
interface MasterKeyProofTable {
  id: number;
  sealed: string;
}

export interface Schema
  extends AccountTables,
    AgentTables,
    CatalogTables,
    CompanySignInTables,
    GuardrailTables,
    InstallationTables,
    LimitTables,
    LogExportTables,
    McpTables,
    OauthTables,
    PriceTables,
    PromptTables,
    ScimTables,
    SecretTables {
  organisations: OrganisationTable;
  users: UserTable & { folded: GeneratedAlways<string> };
  organisation_members: OrganisationMemberTable;
  workspaces: WorkspaceTable;
  workspace_members: WorkspaceMemberTable;
  guardrail_exclusions: GuardrailExclusionTable;
  invites: InviteTable;
  /** `ends_at` is when the key expires; `9999` when it never does. */
  api_keys: ApiKeyTable & { ends_at: GeneratedAlways<string> };
  api_key_secrets: ApiKeySecretTable;
  sessions: SessionTable;
  email_domains: EmailDomainTable;
  audit_logs: AuditLogTable;
  notices: NoticeTable;
  managed_files: ManagedFileTable;
  managed_file_chunks: ManagedFileChunkTable;
  managed_batches: ManagedBatchTable;
  managed_batch_rows: ManagedBatchRowTable;
  provider_batches: ProviderBatchTable;
  checked_batch_rows: CheckedBatchRowTable;
  leases: LeaseTable;
  master_key_proof: MasterKeyProofTable;
  schema_migrations: MigrationTable;
}
