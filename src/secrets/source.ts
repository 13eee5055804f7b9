/** A secret reference as it is used: where the secret is, and how to get in. */
import { createHash } from 'node:crypto';
import { decode, type JsonText } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';
import type { AuthConfig, ManagerType } from './manager.ts';

export interface SecretSource {
  id: string;
  organisationId: string;
  slug: string;
  manager: ManagerType;
  auth: AuthConfig;
  path: string;
  /** Of the reference itself; a mapping may name another. */
  key: string | null;
  /** The same for the same secret got in the same way: what is kept of it stands under this. */
  fingerprint: string;
}

const purpose = 'secret-reference-auth';

export const sealAuthConfig = (vault: Vault, auth: AuthConfig): string => vault.seal(JSON.stringify(auth), purpose);

export const openAuthConfig = (vault: Vault, sealed: string): AuthConfig =>
  decode<AuthConfig>(vault.open(sealed, purpose) as JsonText<AuthConfig>);

interface SourceRow {
  id: string;
  organisation_id: string;
  slug: string;
  manager_type: ManagerType;
  auth_config_sealed: string;
  secret_path: string;
  secret_key: string | null;
}

export function sourceOf(row: SourceRow, vault: Vault): SecretSource {
  const auth = openAuthConfig(vault, row.auth_config_sealed);
  return {
    id: row.id,
    organisationId: row.organisation_id,
    slug: row.slug,
    manager: row.manager_type,
    auth,
    path: row.secret_path,
    key: row.secret_key,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([row.id, row.manager_type, row.secret_path, auth]))
      .digest('base64url'),
  };
}
