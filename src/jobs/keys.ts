/** What happens to keys by themselves: they expire, and they rotate with warnings before and after. */
import { type Audience, audiences } from '../admin/api-keys/audience.ts';
import { keyReference, recordKeyEvent } from '../admin/api-keys/events.ts';
import { policyOf, rotateKey, rotationDetails } from '../admin/api-keys/rotate.ts';
import type { Services } from '../admin/kernel/services.ts';
import { queueNotice } from '../admin/notices/outbox.ts';
import { queueDeliveries } from '../admin/webhooks/queue.ts';
import { shortestTransitionMs } from '../identity/rotation.ts';
import type { Change } from '../store/changes.ts';
import type { Db } from '../store/database.ts';
import type { ApiKeyTable } from '../store/schema.ts';
import { type Batch, batchSize, inBatches } from './batches.ts';
import type { Job } from './runner.ts';

const minuteMs = 60_000;
const warningMs = 24 * 60 * minuteMs;
const alive = ['active', 'exhausted'] as const;

export const createKeyExpiry = (services: Services): Job => ({
  name: 'key-expiry',
  everyMs: minuteMs,
  async run(now) {
    await inBatches(services, (db) => expireKeys(db, services, now));
    await inBatches(services, (db) => warnOfExpiry(db, services, now));
  },
});

/** The order matters: a key whose transition just ended may rotate in the same run, and what just rotated is warned about. */
export const createKeyRotation = (services: Services): Job => ({
  name: 'key-rotation',
  everyMs: 5 * minuteMs,
  async run(now) {
    await inBatches(services, (db) => endTransitions(db, now));
    await inBatches(services, (db) => rotateDueKeys(db, services, now));
    await inBatches(services, (db) => warnOfEndingSecrets(db, services, now));
    await inBatches(services, (db) => warnOfRotations(db, services, now));
  },
});

const changesOf = (ids: readonly string[]): Change[] => ids.map((id) => ({ topic: 'api_key', id }));

async function expireKeys(db: Db, services: Services, now: Date): Promise<Batch> {
  const keys = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('status', 'in', alive)
    .where('expires_at', '<=', now.toISOString())
    .orderBy('expires_at')
    .limit(batchSize)
    .execute();
  if (keys.length === 0) return { taken: 0, changes: [] };
  const ids = keys.map((key) => key.id);
  await db
    .updateTable('api_keys')
    .set({ status: 'expired', last_updated_at: now.toISOString() })
    .where('id', 'in', ids)
    .execute();
  const audienceOf = await audiences(db, keys);
  for (const key of keys) {
    const { organisationName, masked, owner, creator, recipients } = audienceOf(key);
    const person = owner ?? creator;
    await recordKeyEvent(db, services, now, keyReference(key), {
      action: 'expire',
      details: { expires_at: key.expires_at },
    });
    await queueNotice(db, services.vault, now, {
      organisationId: key.organisation_id,
      template: 'apikey-expired-alert',
      recipients: person ? [...recipients, person.email] : recipients,
      fields: { userName: person?.name ?? '', apiKeyType: key.type, apiKey: masked, organisationName },
    });
    await queueDeliveries(db, now, {
      organisationId: key.organisation_id,
      workspaceId: key.workspace_id,
      event: 'api_key.expired',
      data: { id: key.id, name: key.name, expires_at: key.expires_at },
    });
  }
  return { taken: keys.length, changes: changesOf(ids) };
}

const warnOfExpiry = (db: Db, services: Services, now: Date): Promise<Batch> =>
  warnAhead(db, now, { date: 'expires_at', announced: 'expiry_announced_for' }, (key, audience) =>
    queueNotice(db, services.vault, now, {
      organisationId: key.organisation_id,
      template: 'apikey-expiry-upcoming',
      recipients: audience.recipients,
      fields: { ...namesOf(key, audience), expiresAt: key.expires_at ?? '' },
    }),
  );

const namesOf = ({ name }: ApiKeyTable, { masked, organisationName }: Audience) => ({
  keyName: name,
  apiKey: masked,
  organisationName,
});

/** Ends an old secret, and stops keeping a new one readable that nobody has read. */
async function endTransitions(db: Db, now: Date): Promise<Batch> {
  const ended = await db
    .selectFrom('api_key_secrets')
    .select(['digest', 'api_key_id'])
    .where('status', '=', 'ACTIVE')
    .where('transition_expires_at', '<=', now.toISOString())
    .orderBy('transition_expires_at')
    .limit(batchSize)
    .execute();
  if (ended.length === 0) return { taken: 0, changes: [] };
  const keyIds = [...new Set(ended.map((secret) => secret.api_key_id))];
  await db
    .updateTable('api_key_secrets')
    .set({ status: 'EXPIRED' })
    .where(
      'digest',
      'in',
      ended.map((secret) => secret.digest),
    )
    .execute();
  await db.updateTable('api_key_secrets').set({ sealed: null }).where('api_key_id', 'in', keyIds).execute();
  return { taken: ended.length, changes: changesOf(keyIds) };
}

async function rotateDueKeys(db: Db, services: Services, now: Date): Promise<Batch> {
  const at = now.toISOString();
  const keys = await db
    .selectFrom('api_keys as key')
    .selectAll('key')
    .where('key.status', 'in', alive)
    .where('key.next_rotation_at', '<=', at)
    .where((eb) => eb.or([eb('key.expires_at', 'is', null), eb('key.expires_at', '>', at)]))
    // A key in transition has two secrets already and waits for a later run.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('api_key_secrets as secret')
            .select('secret.digest')
            .whereRef('secret.api_key_id', '=', 'key.id')
            .where('secret.status', '=', 'ACTIVE')
            .where('secret.transition_expires_at', '>', at),
        ),
      ),
    )
    .orderBy('key.next_rotation_at')
    .limit(batchSize)
    .execute();
  if (keys.length === 0) return { taken: 0, changes: [] };
  const ends = new Map<string, string>();
  for (const key of keys) {
    const transitionMs = policyOf(key)?.key_transition_period_ms ?? shortestTransitionMs;
    const rotation = await rotateKey(db, services, now, key, { transitionMs, mode: 'auto' });
    ends.set(key.id, rotation.transitionEnd);
    await recordKeyEvent(db, services, now, keyReference(key), {
      action: 'rotate',
      details: rotationDetails(key.id, 'auto', rotation),
    });
  }
  await tell(db, keys, (key, audience) =>
    queueNotice(db, services.vault, now, {
      organisationId: key.organisation_id,
      template: 'apikey-rotation-completed',
      recipients: audience.recipients,
      fields: {
        ...namesOf(key, audience),
        oldKeyEndsAt: ends.get(key.id) ?? '',
        link: `${services.settings.publicUrl ?? ''}/api-keys?key=${key.id}`,
      },
    }),
  );
  return { taken: keys.length, changes: changesOf(keys.map((key) => key.id)) };
}

async function warnOfEndingSecrets(db: Db, services: Services, now: Date): Promise<Batch> {
  const rows = await db
    .selectFrom('api_key_secrets as secret')
    .innerJoin('api_keys as key', 'key.id', 'secret.api_key_id')
    .selectAll('key')
    .select(['secret.digest', 'secret.transition_expires_at', 'secret.masked as old_masked'])
    .where('secret.status', '=', 'ACTIVE')
    .where('secret.transition_expires_at', '>', now.toISOString())
    .where('secret.transition_expires_at', '<=', new Date(now.getTime() + warningMs).toISOString())
    .where('secret.ending_announced', '=', 0)
    .where('key.status', 'in', alive)
    .orderBy('secret.transition_expires_at')
    .limit(batchSize)
    .execute();
  if (rows.length === 0) return { taken: 0, changes: [] };
  const digests = rows.map((row) => row.digest);
  await db.updateTable('api_key_secrets').set({ ending_announced: 1 }).where('digest', 'in', digests).execute();
  await tell(db, rows, (row, { organisationName, recipients }) =>
    queueNotice(db, services.vault, now, {
      organisationId: row.organisation_id,
      template: 'apikey-rotation-old-secret-ending',
      recipients,
      fields: { keyName: row.name, apiKey: row.old_masked, organisationName, endsAt: row.transition_expires_at ?? '' },
    }),
  );
  return { taken: rows.length, changes: [] };
}

const warnOfRotations = (db: Db, services: Services, now: Date): Promise<Batch> =>
  warnAhead(db, now, { date: 'next_rotation_at', announced: 'rotation_announced_for' }, (key, audience) =>
    queueNotice(db, services.vault, now, {
      organisationId: key.organisation_id,
      template: 'apikey-rotation-upcoming',
      recipients: audience.recipients,
      fields: { ...namesOf(key, audience), rotatesAt: key.next_rotation_at ?? '' },
    }),
  );

/** Tells of a date that is a day ahead, once for each date. */
async function warnAhead(
  db: Db,
  now: Date,
  {
    date,
    announced,
  }: { date: 'expires_at' | 'next_rotation_at'; announced: 'expiry_announced_for' | 'rotation_announced_for' },
  notify: (key: ApiKeyTable, audience: Audience) => Promise<void>,
): Promise<Batch> {
  const keys = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('status', 'in', alive)
    .where(date, '>', now.toISOString())
    .where(date, '<=', new Date(now.getTime() + warningMs).toISOString())
    .where((eb) => eb.or([eb(announced, 'is', null), eb(announced, '!=', eb.ref(date))]))
    .orderBy(date)
    .limit(batchSize)
    .execute();
  if (keys.length === 0) return { taken: 0, changes: [] };
  const ids = keys.map((key) => key.id);
  await db
    .updateTable('api_keys')
    .set((eb) => ({ [announced]: eb.ref(date) }))
    .where('id', 'in', ids)
    .execute();
  await tell(db, keys, notify);
  return { taken: keys.length, changes: [] };
}

async function tell<K extends ApiKeyTable>(
  db: Db,
  keys: readonly K[],
  notify: (key: K, audience: Audience) => Promise<void>,
): Promise<void> {
  const audienceOf = await audiences(db, keys);
  for (const key of keys) await notify(key, audienceOf(key));
}
