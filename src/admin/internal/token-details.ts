/** The details of a JWT, in the form of those of a key: its record is made from its claims. */
import type { KeyCaller } from '../../identity/caller.ts';
import { digestOf } from '../../identity/secrets.ts';
import { applyUsageLimit, shownUsageLimit } from '../../limits/entries.ts';
import type { Limit } from '../../limits/limit.ts';
import type { KeyRecord } from '../api-keys/schema.ts';
import { refusedCredential } from '../kernel/refusals.ts';
import type { Services } from '../kernel/services.ts';

export interface CredentialDetails {
  record: KeyRecord;
  /** SHA-256 of every secret that counts. */
  hashes: string[];
  limits: readonly Limit[];
}

/** Throws the refusal that the token would get from any other route. */
export async function tokenDetails({ keyring, store, configs }: Services, token: string): Promise<CredentialDetails> {
  const digest = digestOf(token);
  const caller = await keyring.find(token, digest);
  if (!caller?.token || caller.workspaceId === null) throw refusedCredential(keyring.whyRefused(digest));
  const { workspaceId } = caller;
  const { slug } = await store.db
    .selectFrom('workspaces')
    .select('slug')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  const wanted = caller.defaults.configId;
  const config = wanted === null ? null : await configs.find(store.db, workspaceId, wanted);
  const record = recordOf(caller, caller.token, { workspaceId, workspaceSlug: slug, config });
  return { record, hashes: [digest], limits: caller.limits ?? [] };
}

interface Found {
  workspaceId: string;
  workspaceSlug: string;
  /** Null: the token names none, or one that the workspace does not have. */
  config: { id: string; slug: string } | null;
}

function recordOf(
  caller: KeyCaller,
  { expiresAt, grant: { claims } }: NonNullable<KeyCaller['token']>,
  { workspaceId, workspaceSlug, config }: Found,
): KeyRecord {
  const issued = new Date((claims.iat ?? claims.nbf ?? 0) * 1_000).toISOString();
  const [usageLimit] = claims.usage_limits;
  return {
    object: 'api-key',
    id: caller.keyId,
    key: '',
    name: caller.keyName,
    description: null,
    type: 'workspace-service',
    organisation_id: caller.organisationId,
    workspace_id: workspaceId,
    workspace_slug: workspaceSlug,
    user_id: caller.userId,
    status: caller.exhausted ? 'exhausted' : 'active',
    creation_mode: 'api',
    scopes: [...(caller.rights.workspaces.get(workspaceId) ?? [])].sort(),
    rate_limits: claims.rate_limits,
    usage_limits: usageLimit ? shownUsageLimit(applyUsageLimit(usageLimit, null, new Date(issued))) : null,
    reset_usage: 0,
    last_reset_at: null,
    defaults: {
      metadata: { ...caller.defaults.metadata },
      config_id: config?.id ?? null,
      config_slug: config?.slug ?? null,
      allow_config_override: true,
    },
    allow_config_override: 1,
    alert_emails: [],
    expires_at: expiresAt,
    rotation_policy: null,
    last_rotated_at: null,
    key_transition_expires_at: null,
    created_by: null,
    last_updated_by: null,
    created_at: issued,
    last_updated_at: issued,
  };
}
