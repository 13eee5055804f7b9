/** Rows of company sign-in: an organisation's rules, sign-ins under way, and assertions that were used. */
import type { JwtSettings } from '../../identity/jwt/settings.ts';
import type { SsoSettings } from '../../identity/sso/settings.ts';
import type { JsonText } from '../json.ts';
import type { Flag, Timestamp } from './columns.ts';

/** An organisation without a row lets its people sign in with passwords, and has neither single sign-on nor JWT. */
export interface AuthSettingsTable {
  organisation_id: string;
  login_method: 'any' | 'sso_only';
  disable_auto_provision_user: Flag;
  jwt: JsonText<JwtSettings> | null;
  sso: JsonText<SsoSettings> | null;
  /** The OIDC client id, by which a sign-in may name the set-up that it wants. */
  sso_client_id: string | null;
  sso_secrets_sealed: string | null;
  /** When somebody first signed in with the present set-up; null: it has not been shown to work. */
  sso_verified_at: Timestamp | null;
  /** When somebody first came in by the present provider, whatever has changed of the set-up since. */
  sso_proven_at: Timestamp | null;
  last_updated_at: Timestamp;
}

/** A sign-in that was sent to the identity provider. It counts once. */
export interface SsoFlowTable {
  state_digest: string;
  organisation_id: string;
  payload_sealed: string;
  expires_at: Timestamp;
}

/** A SAML assertion that opened a session, kept until it would no longer be valid. */
export interface SsoUsedAssertionTable {
  organisation_id: string;
  assertion_digest: string;
  expires_at: Timestamp;
}

export interface CompanySignInTables {
  auth_settings: AuthSettingsTable;
  sso_flows: SsoFlowTable;
  sso_used_assertions: SsoUsedAssertionTable;
}
