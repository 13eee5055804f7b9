/** Changing a key: only the fields sent change, and the key's state follows from them. */
import { invalid } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import { resetUsage, type StoredUsageLimit } from '../../limits/entries.ts';
import { decode, encode } from '../../store/json.ts';
import type { ApiKeyStatus, ApiKeyTable } from '../../store/schema.ts';
import { type Call, endpoint } from '../kernel/endpoint.ts';
import { folded } from '../kernel/lists/list-queries.ts';
import { checkUsageLimit, usageLimitColumns } from '../kernel/usage-limits.ts';
import { sentFields } from '../kernel/validate.ts';
import { byIdAccess, reachKey } from './access.ts';
import { type KeyPlace, keyPlace } from './place.ts';
import { keyRecordOf } from './record.ts';
import {
  checkExpiry,
  checkMetadata,
  checkPolicy,
  findConfig,
  readScopes,
  requireGrantable,
  requireRemovablePolicy,
} from './rules.ts';
import { changeableFields, type KeyUpdateBody, keyPath, keyRecord, keyUpdateBody } from './schema.ts';

type Update = Pick<Call<unknown, unknown, KeyUpdateBody>, 'caller' | 'body' | 'db' | 'now' | 'services' | 'workspace'>;
type Columns = Partial<Omit<ApiKeyTable, 'id'>>;

export const updateKey = endpoint({
  method: 'PUT',
  path: '/api-keys/:apiKeyId',
  aliases: ['/api_keys/:apiKeyId'],
  tag: 'API keys',
  summary: 'Change a key; fields that are left out stay as they are',
  access: byIdAccess('update'),
  params: keyPath,
  body: keyUpdateBody,
  reply: keyRecord,
  audit: { resource: 'api_key', action: 'update' },
  async handle(call) {
    const { caller, params, body, db, now } = call;
    const key = await reachKey(db, caller, params.apiKeyId, 'update');
    requireSameIdentity(key, call);
    const fields = sentFields(body, changeableFields);

    const place = await keyPlace(db, key.organisation_id, key.workspace_id);
    const before = decode(key.scopes);
    const scopes = body.scopes ? readScopes(key.type, body.scopes) : before;
    const added = scopes.filter((scope) => !before.includes(scope));
    requireGrantable(caller, key.workspace_id, added);
    await db
      .updateTable('api_keys')
      .set({
        ...ownFields(body, scopes),
        ...(await defaultFields(call, key, place)),
        ...lifeFields(call, key, place),
        last_updated_by: actorId(caller),
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', key.id)
      .execute();
    call.changed({ topic: 'api_key', id: key.id });
    call.note({
      ...(key.workspace_id !== null && { workspaceId: key.workspace_id }),
      details: {
        type: key.type,
        changed: fields,
        scopes_added: added,
        scopes_removed: before.filter((scope) => !scopes.includes(scope)),
      },
    });
    return keyRecordOf(call, key.id);
  },
});

/** Clients repeat what they know of a key; repeating is fine, changing is not. */
function requireSameIdentity(key: ApiKeyTable, { body, workspace }: Update): void {
  const sameType = body.type == null || body.type === key.type || key.type.split('-').includes(body.type);
  if (!sameType) throw invalid('type', 'may not change; make another key');
  if (body.workspace_id != null && workspace?.id !== key.workspace_id) {
    throw invalid('workspace_id', 'may not change; make another key');
  }
  if (body.user_id != null && body.user_id !== key.user_id)
    throw invalid('user_id', 'may not change; make another key');
}

function ownFields(body: KeyUpdateBody, scopes: Scope[]): Columns {
  return {
    ...(body.name !== undefined && { name: body.name, name_folded: folded(body.name) }),
    ...(body.description !== undefined && { description: body.description || null }),
    ...(body.scopes && { scopes: encode(scopes) }),
    ...(body.rate_limits !== undefined && { rate_limits: encode(body.rate_limits ?? []) }),
    ...(body.alert_emails !== undefined && { alert_emails: encode([...new Set(body.alert_emails ?? [])]) }),
  };
}

async function defaultFields({ body, db, services }: Update, key: ApiKeyTable, place: KeyPlace): Promise<Columns> {
  const { defaults } = body;
  const sent = defaults?.metadata === undefined ? decode(key.metadata) : (defaults.metadata ?? {});
  const override = defaults?.allow_config_override ?? body.allow_config_override;
  const unset = defaults?.allow_config_override === null || body.allow_config_override === null;
  return {
    // Stored metadata is checked again too: the schema may be younger than the key.
    metadata: encode(checkMetadata(place, sent)),
    ...(defaults?.config_id !== undefined && {
      config_id: defaults.config_id === null ? null : await findConfig(db, services, place, defaults.config_id),
    }),
    ...(override != null ? { allow_config_override: override ? 1 : 0 } : unset && { allow_config_override: null }),
  };
}

/** Limits, expiry, rotation, and the status that results from them. */
function lifeFields({ body, now }: Update, key: ApiKeyTable, place: KeyPlace): Columns {
  const usage = usageAfter(body, key, now);
  const expiryMoved = body.expires_at !== undefined;
  return {
    ...((body.usage_limits !== undefined || body.reset_usage) && usageLimitColumns(usage)),
    ...(body.reset_usage && { last_reset_at: now.toISOString() }),
    ...(expiryMoved && { expires_at: checkExpiry(place, key.type, body.expires_at ?? null, now) }),
    ...policyFields(body, key, place, now),
    status: statusAfter(key.status, usage, expiryMoved),
  };
}

function usageAfter(body: KeyUpdateBody, key: ApiKeyTable, now: Date): StoredUsageLimit | null {
  const stored = key.usage_limits === null ? null : decode(key.usage_limits);
  const limit =
    body.usage_limits === undefined ? stored : body.usage_limits && checkUsageLimit(body.usage_limits, stored, now);
  return limit && body.reset_usage ? resetUsage(limit, now) : limit;
}

/** An accepted expiry lies ahead (or there is none), so moving it brings an expired key back. */
function statusAfter(status: ApiKeyStatus, usage: StoredUsageLimit | null, expiryMoved: boolean): ApiKeyStatus {
  if (status === 'expired' && !expiryMoved) return 'expired';
  return usage?.status === 'exhausted' ? 'exhausted' : 'active';
}

function policyFields(body: KeyUpdateBody, key: ApiKeyTable, place: KeyPlace, now: Date): Columns {
  if (body.rotation_policy === undefined) return {};
  if (body.rotation_policy === null) {
    requireRemovablePolicy(place, key.type);
    return { rotation_policy: null, next_rotation_at: null };
  }
  const stored = key.rotation_policy === null ? null : decode(key.rotation_policy);
  const policy = checkPolicy(place, key.type, body.rotation_policy, stored, now);
  return { rotation_policy: policy && encode(policy), next_rotation_at: policy?.next_rotation_at ?? null };
}
