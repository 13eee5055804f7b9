/** Making keys: one route for each type, because each needs a scope of its own. */
import { z } from 'zod';
import { forbidden, invalid } from '../../http/errors.ts';
import { actorId, type Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { ApiKeyType } from '../../store/schema.ts';
import { type Call, endpoint } from '../kernel/endpoint.ts';
import { checkUsageLimit } from '../kernel/usage-limits.ts';
import { keepsToOwnKeys } from './access.ts';
import { mintKey } from './mint.ts';
import { defaultExpiry, type KeyPlace, keyPlace, liveUserKeys, standingIn } from './place.ts';
import {
  checkExpiry,
  checkMetadata,
  checkPolicy,
  findConfig,
  readScopes,
  requireGrantable,
  requireMayActFor,
} from './rules.ts';
import { createdKey, type NewKeyBody, newKeyBody, newUserKeyBody, newWorkspaceKeyBody } from './schema.ts';

const tag = 'API keys';
const audit = { resource: 'api_key', action: 'create' } as const;

type Creation = Pick<
  Call<unknown, unknown, NewKeyBody>,
  'caller' | 'body' | 'db' | 'now' | 'services' | 'note' | 'changed'
>;

interface Owner {
  type: ApiKeyType;
  workspaceId: string | null;
  userId: string | null;
}

async function createKey(call: Creation, owner: Owner) {
  const { caller, body, db, now, services } = call;
  const { type, workspaceId, userId } = owner;
  const place = await keyPlace(db, caller.organisationId, workspaceId);
  const scopes = readScopes(type, body.scopes);
  requireGrantable(caller, workspaceId, scopes);
  if (workspaceId !== null && userId !== null) await requireRoomFor(db, place, workspaceId, userId);
  const creationMode = caller.kind === 'session' ? 'ui' : 'api';
  const { id, secret } = await mintKey(
    db,
    now,
    {
      organisationId: caller.organisationId,
      workspaceId,
      userId,
      type,
      name: body.name,
      description: body.description || null,
      creationMode,
      scopes,
      rateLimits: body.rate_limits ?? [],
      usageLimits: body.usage_limits ? checkUsageLimit(body.usage_limits, null, now) : null,
      metadata: checkMetadata(place, body.defaults?.metadata ?? {}),
      configId: await configFor(call, place, type),
      allowConfigOverride: body.defaults?.allow_config_override ?? body.allow_config_override ?? null,
      alertEmails: [...new Set(body.alert_emails ?? [])],
      expiresAt: expiryFor(place, type, body.expires_at, now),
      rotationPolicy: checkPolicy(place, type, body.rotation_policy, null, now),
      createdBy: actorId(caller),
    },
    { prefix: services.settings.apiKeyPrefix },
  );
  call.changed({ topic: 'api_key', id });
  call.note({
    resourceId: id,
    ...(workspaceId !== null && { workspaceId }),
    details: { type, scopes_added: scopes, creation_mode: creationMode, ...(userId !== null && { user_id: userId }) },
  });
  return { object: 'api-key' as const, id, key: secret };
}

/** The config that a new key starts with: the one named, or for user keys the workspace's. */
async function configFor({ body, db, services }: Creation, place: KeyPlace, type: ApiKeyType): Promise<string | null> {
  if (body.defaults?.config_id) return findConfig(db, services, place, body.defaults.config_id);
  if (type !== 'workspace-user' || !place.workspace?.userKeyConfig) return null;
  const config = await services.configs.find(db, place.workspace.id, place.workspace.userKeyConfig);
  return config?.id ?? null;
}

function expiryFor(place: KeyPlace, type: ApiKeyType, sent: string | null | undefined, now: Date): string | null {
  if (sent === undefined && type === 'workspace-user') return defaultExpiry(place.settings, now);
  return checkExpiry(place, type, sent ?? null, now);
}

async function requireRoomFor(db: Db, place: KeyPlace, workspaceId: string, userId: string): Promise<void> {
  const limit = place.settings.user_api_key_limit;
  if (limit === null || (await liveUserKeys(db, workspaceId, userId)) < limit) return;
  throw invalid(
    'user_id',
    `has all the user keys that one person may have in this workspace (${limit}); delete one first`,
  );
}

/** The workspace that a new key goes to. */
function requireWorkspace(workspace: Call<unknown, unknown, unknown>['workspace']): string {
  if (!workspace) throw invalid('workspace_id', 'is required: name the workspace of the key by id or slug');
  if (workspace.status === 'archived')
    throw invalid('workspace_id', 'names an archived workspace, which takes no new keys');
  return workspace.id;
}

/** The owner of a new user key: the person named, if they belong to the workspace, or the caller. */
async function ownerOf(db: Db, caller: Caller, workspaceId: string, named: string | null): Promise<string> {
  const userId = named ?? caller.userId;
  if (userId === null) throw invalid('user_id', 'is required: a key cannot say for whom it makes a user key');
  if (caller.kind === 'session' && userId !== caller.userId && keepsToOwnKeys(caller, workspaceId)) {
    throw forbidden('Members of a workspace may make user keys only for themselves');
  }
  if (!(await standingIn(db, caller.organisationId, workspaceId, userId))) {
    throw invalid('user_id', 'names nobody who belongs to this workspace');
  }
  await requireMayActFor(db, caller, workspaceId, userId);
  return userId;
}

const createAdminKey = endpoint({
  method: 'POST',
  path: '/api-keys/organisation/service',
  aliases: ['/api_keys/organisation/service'],
  tag,
  summary: 'Create an admin key, which manages the organisation and never reaches the data plane',
  access: {
    callers: ['admin-key', 'session'],
    scope: 'organisation_service_api_keys.create',
    level: 'organisation',
  },
  body: newKeyBody,
  reply: createdKey,
  audit,
  handle: (call) => createKey(call, { type: 'organisation-service', workspaceId: null, userId: null }),
});

const createWorkspaceKey = endpoint({
  method: 'POST',
  path: '/api-keys/workspace/service',
  aliases: ['/api_keys/workspace/service'],
  tag,
  summary: 'Create a workspace key, which serves applications of one workspace',
  access: {
    callers: ['admin-key', 'workspace-key', 'session'],
    scope: 'workspace_service_api_keys.create',
    level: 'workspace',
  },
  body: newWorkspaceKeyBody,
  reply: createdKey,
  audit,
  handle: (call) =>
    createKey(call, { type: 'workspace-service', workspaceId: requireWorkspace(call.workspace), userId: null }),
});

const createUserKey = endpoint({
  method: 'POST',
  path: '/api-keys/workspace/user',
  aliases: ['/api_keys/workspace/user'],
  tag,
  summary: 'Create a user key, which acts for one person in one workspace',
  access: {
    callers: ['admin-key', 'workspace-key', 'session'],
    scope: 'workspace_user_api_keys.create',
    level: 'workspace',
  },
  body: newUserKeyBody,
  reply: createdKey,
  audit,
  async handle(call) {
    const workspaceId = requireWorkspace(call.workspace);
    const userId = await ownerOf(call.db, call.caller, workspaceId, call.body.user_id ?? null);
    return createKey(call, { type: 'workspace-user', workspaceId, userId });
  },
});

/** The path grammar allows this one; saying why it is refused helps more than an unknown route. */
const refuseOrganisationUserKey = endpoint({
  method: 'POST',
  path: '/api-keys/organisation/user',
  aliases: ['/api_keys/organisation/user'],
  tag,
  summary: 'Refused: user keys belong to a workspace',
  access: {
    callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
    scope: null,
    level: 'organisation',
  },
  reply: () => z.object({}),
  audit,
  async handle() {
    throw invalid('sub-type', 'user keys belong to a workspace; use /api-keys/workspace/user');
  },
});

export const createEndpoints = [createAdminKey, createWorkspaceKey, createUserKey, refuseOrganisationUserKey];
