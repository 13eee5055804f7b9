/** Rotating a key by hand, and reading the secret that a rotation by itself left behind. */
import { conflict, forbidden, invalid, notFound } from '../../http/errors.ts';
import { actorId, mayInOrganisation, roleIn, type SessionCaller } from '../../identity/caller.ts';
import { shortestTransitionMs, transitionFits } from '../../identity/rotation.ts';
import type { Db } from '../../store/database.ts';
import type { ApiKeyTable } from '../../store/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { byIdAccess, findKey, requireReach } from './access.ts';
import { openSecret } from './events.ts';
import { openTransition, policyOf, rotateKey, rotationDetails } from './rotate.ts';
import { requireMayUse } from './rules.ts';
import { keyPath, revealedKey, rotateBody, rotatedKey } from './schema.ts';

const rotate = endpoint({
  method: 'POST',
  path: '/api-keys/:apiKeyId/rotate',
  aliases: ['/api_keys/:apiKeyId/rotate'],
  tag: 'API keys',
  summary: 'Give a key a new secret; the old one counts until the transition ends',
  access: byIdAccess('rotate'),
  throttle: 'sensitive',
  params: keyPath,
  body: rotateBody,
  bodyRequired: false,
  reply: rotatedKey,
  audit: { resource: 'api_key', action: 'rotate' },
  async handle(call) {
    const { caller, params, body, db, now, services } = call;
    const key = await findKey(db, caller, params.apiKeyId);
    requireReach(caller, key, 'rotate');
    requireAlive(key, now);
    await requireMayUse(db, caller, key);
    const policy = policyOf(key);
    const transitionMs = body.key_transition_period_ms ?? policy?.key_transition_period_ms ?? shortestTransitionMs;
    if (policy && !transitionFits(transitionMs, policy)) {
      throw invalid(
        'key_transition_period_ms',
        "must be shorter than the time between two rotations of the key's policy",
      );
    }
    const open = await openTransition(db, key.id, now);
    if (open) throw conflict(`The secret before the last rotation counts until ${open}; rotate again after that`);
    const rotation = await rotateKey(db, services, now, key, { transitionMs, mode: 'manual' });
    await db
      .updateTable('api_keys')
      .set({ last_updated_by: actorId(caller) })
      .where('id', '=', key.id)
      .execute();
    call.changed({ topic: 'api_key', id: key.id });
    call.note({
      ...(key.workspace_id !== null && { workspaceId: key.workspace_id }),
      details: rotationDetails(key.id, 'manual', rotation),
    });
    return {
      object: 'api-key' as const,
      id: key.id,
      key: rotation.secret,
      key_transition_expires_at: rotation.transitionEnd,
    };
  },
});

function requireAlive(key: ApiKeyTable, now: Date): void {
  const expired = key.status === 'expired' || (key.expires_at !== null && key.expires_at <= now.toISOString());
  if (key.status === 'archived') throw invalid('', 'This key was deleted; make another one');
  if (expired) throw invalid('', 'This key has expired; move its expires_at into the future first');
}

const reveal = endpoint({
  method: 'POST',
  path: '/api-keys/:apiKeyId/reveal',
  aliases: ['/api_keys/:apiKeyId/reveal'],
  tag: 'API keys',
  summary: 'Read, once, a secret that was made by itself: by automatic rotation or by joining a workspace',
  // A person must get at their own key's secret even where the settings hide key lists from them.
  access: { callers: ['session'], scope: null, level: 'workspace' },
  throttle: 'sensitive',
  params: keyPath,
  bodyRequired: false,
  reply: revealedKey,
  audit: { resource: 'api_key', action: 'export' },
  async handle({ caller, params, db, now, services, note }) {
    const key = await findKey(db, caller, params.apiKeyId);
    if (caller.kind !== 'session' || !mayReveal(caller, key)) {
      throw forbidden('Only the owner of a user key, or an administrator of a service key, may reveal its secret');
    }
    if (key.status === 'archived') throw notFound('API key');
    await requireMayUse(db, caller, key);
    const waiting = await waitingSecret(db, key.id, now);
    if (!waiting) throw conflict('No secret of this key waits to be revealed; rotate the key to get a new one');
    await db.updateTable('api_key_secrets').set({ sealed: null }).where('digest', '=', waiting.digest).execute();
    note(key.workspace_id === null ? {} : { workspaceId: key.workspace_id });
    return { object: 'api-key' as const, id: key.id, key: openSecret(services, waiting.sealed) };
  },
});

function mayReveal(caller: SessionCaller, key: ApiKeyTable): boolean {
  if (key.type === 'workspace-user') return key.user_id === caller.userId;
  if (key.workspace_id === null) return mayInOrganisation(caller, 'organisation_service_api_keys.rotate');
  return roleIn(caller, key.workspace_id) === 'admin';
}

/** The sealed current secret, while the transition that it came with lasts. */
async function waitingSecret(db: Db, keyId: string, now: Date): Promise<{ digest: string; sealed: string } | null> {
  const rows = await db
    .selectFrom('api_key_secrets')
    .select(['digest', 'sealed', 'transition_expires_at'])
    .where('api_key_id', '=', keyId)
    .where('status', '=', 'ACTIVE')
    .execute();
  const ended = rows.some(
    (row) => row.transition_expires_at !== null && row.transition_expires_at <= now.toISOString(),
  );
  const current = rows.find((row) => row.transition_expires_at === null);
  return ended || !current?.sealed ? null : { digest: current.digest, sealed: current.sealed };
}

export const rotationEndpoints = [rotate, reveal];
