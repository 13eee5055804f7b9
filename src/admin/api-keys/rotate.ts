/** Gives a key a new secret while the old one lives on for a while; calls and the rotation job both come here. */
import { afterRotation, type RotationPolicy } from '../../identity/rotation.ts';
import { newApiKeySecret } from '../../identity/secrets.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { ApiKeyTable } from '../../store/schema.ts';
import type { Services } from '../kernel/services.ts';
import { sealSecret } from './events.ts';
import { addSecret } from './mint.ts';

const dayMs = 86_400_000;

interface Rotation {
  secret: string;
  oldKeyMasked: string;
  transitionEnd: string;
}

export const policyOf = (key: Pick<ApiKeyTable, 'rotation_policy'>): RotationPolicy | null =>
  key.rotation_policy === null ? null : decode(key.rotation_policy);

/** The end of the transition that the key is in, or null when only its current secret counts. */
export async function openTransition(db: Db, keyId: string, now: Date): Promise<string | null> {
  const row = await db
    .selectFrom('api_key_secrets')
    .select('transition_expires_at')
    .where('api_key_id', '=', keyId)
    .where('status', '=', 'ACTIVE')
    .where('transition_expires_at', '>', now.toISOString())
    .executeTakeFirst();
  return row?.transition_expires_at ?? null;
}

/** Rotates a key that is in no transition. By itself (`auto`) the new secret is sealed, because nobody is there to read it. */
export async function rotateKey(
  db: Db,
  services: Services,
  now: Date,
  key: Pick<ApiKeyTable, 'id' | 'rotation_policy'>,
  { transitionMs, mode }: { transitionMs: number; mode: 'manual' | 'auto' },
): Promise<Rotation> {
  const at = now.toISOString();
  const transitionEnd = new Date(now.getTime() + transitionMs).toISOString();
  const old = await db
    .selectFrom('api_key_secrets')
    .select(['digest', 'masked'])
    .where('api_key_id', '=', key.id)
    .where('transition_expires_at', 'is', null)
    .executeTakeFirstOrThrow();
  // A secret whose transition is over may still wait for the job; it must not be a third one.
  await db
    .updateTable('api_key_secrets')
    .set({ status: 'EXPIRED', sealed: null })
    .where('api_key_id', '=', key.id)
    .where('transition_expires_at', 'is not', null)
    .execute();
  await db
    .updateTable('api_key_secrets')
    .set({
      transition_expires_at: transitionEnd,
      sealed: null,
      // Whoever rotates by hand was told the end in the reply; a warning is due only when it lies far off.
      ending_announced: mode === 'manual' && transitionMs <= dayMs ? 1 : 0,
    })
    .where('digest', '=', old.digest)
    .execute();
  const secret = newApiKeySecret(services.settings.apiKeyPrefix);
  await addSecret(db, now, key.id, secret, mode === 'auto' ? sealSecret(services)(secret) : null);
  const policy = policyOf(key);
  const next = policy && afterRotation(policy, now, mode);
  await db
    .updateTable('api_keys')
    .set({
      last_rotated_at: at,
      last_updated_at: at,
      ...(next && { rotation_policy: encode(next), next_rotation_at: next.next_rotation_at }),
    })
    .where('id', '=', key.id)
    .execute();
  return { secret, oldKeyMasked: old.masked, transitionEnd };
}

/** What the audit row of a rotation tells. */
export const rotationDetails = (keyId: string, mode: 'manual' | 'auto', rotation: Rotation) => ({
  api_key_id: keyId,
  rotation_mode: mode,
  old_key_masked: rotation.oldKeyMasked,
  transition_expires_at: rotation.transitionEnd,
});
