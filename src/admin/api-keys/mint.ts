/** Makes keys and takes them away; every way in which a key comes or goes passes here. */

import type { RotationPolicy } from '../../identity/rotation.ts';
import type { Scope } from '../../identity/scopes.ts';
import { digestOf, maskSecret, newApiKeySecret } from '../../identity/secrets.ts';
import type { RateLimit, StoredUsageLimit } from '../../limits/entries.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import type { ApiKeyTable, ApiKeyType } from '../../store/schema.ts';
import { folded } from '../kernel/lists/list-queries.ts';
import { liveKeys } from './live.ts';

export interface NewKey {
  organisationId: string;
  workspaceId: string | null;
  userId: string | null;
  type: ApiKeyType;
  name: string;
  description?: string | null;
  creationMode: ApiKeyTable['creation_mode'];
  scopes: readonly Scope[];
  rateLimits?: readonly RateLimit[];
  usageLimits?: StoredUsageLimit | null;
  metadata?: Record<string, string>;
  configId?: string | null;
  allowConfigOverride?: boolean | null;
  alertEmails?: readonly string[];
  expiresAt?: string | null;
  rotationPolicy?: RotationPolicy | null;
  createdBy: string | null;
}

/** Inserts the key and its first secret. The secret is in the answer and nowhere else, unless `seal` keeps it for someone who is not here now. */
export async function mintKey(
  db: Db,
  now: Date,
  key: NewKey,
  secret: { prefix: string } | { chosen: string },
  seal: ((secret: string) => string) | null = null,
): Promise<{ id: string; secret: string }> {
  const id = Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto('api_keys')
    .values({
      id,
      organisation_id: key.organisationId,
      workspace_id: key.workspaceId,
      user_id: key.userId,
      type: key.type,
      name: key.name,
      name_folded: folded(key.name),
      description: key.description ?? null,
      status: 'active',
      creation_mode: key.creationMode,
      scopes: encode([...key.scopes]),
      rate_limits: encode([...(key.rateLimits ?? [])]),
      usage_limits: key.usageLimits ? encode(key.usageLimits) : null,
      next_usage_reset_at: key.usageLimits?.next_usage_reset_at ?? null,
      metadata: encode(key.metadata ?? {}),
      config_id: key.configId ?? null,
      allow_config_override: key.allowConfigOverride == null ? null : key.allowConfigOverride ? 1 : 0,
      alert_emails: encode([...(key.alertEmails ?? [])]),
      expires_at: key.expiresAt ?? null,
      rotation_policy: key.rotationPolicy ? encode(key.rotationPolicy) : null,
      next_rotation_at: key.rotationPolicy?.next_rotation_at ?? null,
      rotation_announced_for: null,
      expiry_announced_for: null,
      last_rotated_at: null,
      last_reset_at: null,
      created_by: key.createdBy,
      last_updated_by: key.createdBy,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  const value = 'chosen' in secret ? secret.chosen : newApiKeySecret(secret.prefix);
  await addSecret(db, now, id, value, seal ? seal(value) : null);
  return { id, secret: value };
}

/** Gives a key a secret, which becomes its current one. `sealed` keeps it readable once, when no caller sees it now. */
export async function addSecret(
  db: Db,
  now: Date,
  keyId: string,
  secret: string,
  sealed: string | null,
): Promise<void> {
  await db
    .insertInto('api_key_secrets')
    .values({
      digest: digestOf(secret),
      api_key_id: keyId,
      masked: maskSecret(secret),
      status: 'ACTIVE',
      transition_expires_at: null,
      sealed,
      ending_announced: 0,
      created_at: now.toISOString(),
    })
    .execute();
}

/** The keys to take away: all of a workspace, all of a person in an organisation, or people's in one workspace. */
type KeySelection =
  | { keyId: string }
  | { workspaceId: string }
  | { userId: string; organisationId: string }
  | { userIds: readonly string[]; workspaceId: string };

/** Archives keys with all their secrets; answers what changed, so that no cache goes on believing in them. */
export async function archiveKeys(db: Db, now: Date, selection: KeySelection): Promise<Change[]> {
  let query = liveKeys(db).select('id');
  if ('keyId' in selection) query = query.where('id', '=', selection.keyId);
  if ('workspaceId' in selection) query = query.where('workspace_id', '=', selection.workspaceId);
  if ('organisationId' in selection) query = query.where('organisation_id', '=', selection.organisationId);
  if ('userId' in selection) query = query.where('user_id', '=', selection.userId);
  if ('userIds' in selection) query = query.where('user_id', 'in', selection.userIds);
  const doomed = (await query.execute()).map((row) => row.id);
  // Parameters of one statement are limited, so large selections go in slices.
  for (let start = 0; start < doomed.length; start += 500) {
    const ids = doomed.slice(start, start + 500);
    await db
      .updateTable('api_keys')
      .set({
        status: 'archived',
        next_rotation_at: null,
        next_usage_reset_at: null,
        last_updated_at: now.toISOString(),
      })
      .where('id', 'in', ids)
      .execute();
    await db
      .updateTable('api_key_secrets')
      .set({ status: 'EXPIRED', sealed: null })
      .where('api_key_id', 'in', ids)
      .execute();
  }
  return doomed.map((id) => ({ topic: 'api_key', id }));
}
