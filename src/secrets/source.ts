/** A secret reference as it is stored and as it is used. */
import { createHash } from 'node:crypto';
import { decode, type JsonText } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';
import type { AuthConfig, ManagerType, SecretSource } from './manager.ts';

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
