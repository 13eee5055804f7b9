/** Rows of the authorization server: clients, flows under way, grants, tokens and signing keys. */
import type { JsonText } from '../json.ts';

type Timestamp = string;

/** A client that registered itself, or whose metadata document was read. */
export interface OauthClientTable {
  id: string;
  /** SHA-256 of the secret in hex; null for public clients. */
  secret_digest: string | null;
  metadata: JsonText<Record<string, unknown>>;
  created_at: Timestamp;
  last_used_at: Timestamp;
}

/** Something that waits for a browser to come back: a consent, a sign-in upstream, a code. */
export interface OauthFlowTable {
  /** SHA-256 of the handle that the browser or the client carries. */
  digest: string;
  kind: 'consent' | 'upstream' | 'code';
  payload_sealed: string;
  expires_at: Timestamp;
  /** A code that was exchanged stays until it expires, so that its second use is noticed. */
  used_at: Timestamp | null;
  grant_id: string | null;
}

/** What one person allowed one client to do. */
export interface OauthGrantTable {
  id: string;
  client_id: string;
  user_id: string;
  organisation_id: string;
  workspace_id: string;
  /** The address that tokens are for; null: any server of the workspace. */
  resource: string | null;
  scope: string;
  created_at: Timestamp;
  revoked_at: Timestamp | null;
}

export interface OauthTokenTable {
  digest: string;
  grant_id: string;
  kind: 'access' | 'refresh';
  scope: string;
  expires_at: Timestamp;
  /** When a refresh token was exchanged for its successor. */
  used_at: Timestamp | null;
  created_at: Timestamp;
}

export interface SigningKeyTable {
  kid: string;
  private_sealed: string;
  public_jwk: JsonText<Record<string, unknown>>;
  created_at: Timestamp;
}

export interface OauthTables {
  oauth_clients: OauthClientTable;
  oauth_flows: OauthFlowTable;
  oauth_grants: OauthGrantTable;
  oauth_tokens: OauthTokenTable;
  signing_keys: SigningKeyTable;
}
