/** Which master keys count: proven at the start, and followed while one takes the place of another. */
import type { Db, Store } from './database.ts';
import type { KeyRing } from './vault.ts';

export class WrongMasterKeyError extends Error {
  constructor() {
    super(
      'The secrets in the database were sealed with another master key; set GW_MASTER_KEY as before, or put the master.key of that time back into the data folder.',
    );
  }
}

const purpose = 'master key proof';
const wrapPurpose = 'master key';

/** The first start leaves a sealed proof behind; whoever can open it has the same key, or the one that took its place. */
export async function requireSameMasterKey({ db }: Store, vault: KeyRing): Promise<void> {
  await learnMasterKeys(db, vault);
  const proof = db.selectFrom('master_key_proof').select('sealed');
  if (!(await proof.executeTakeFirst())) {
    await db
      .insertInto('master_key_proof')
      .values({ id: 1, sealed: vault.seal(purpose, purpose) })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
  const { sealed } = await proof.executeTakeFirstOrThrow();
  try {
    vault.open(sealed, purpose);
  } catch {
    throw new WrongMasterKeyError();
  }
}

/** Adds the keys that a rotation under way has left for those who hold the other one. */
export async function learnMasterKeys(db: Db, vault: KeyRing): Promise<void> {
  const rows = await db.selectFrom('master_keys').selectAll().execute();
  // One key may open the way to another.
  while (rows.some((row) => learned(row, vault)));
  const sealing = rows.find(({ role }) => role === 'sealing');
  if (sealing && vault.knows(sealing.id)) vault.sealUnder(sealing.id);
}

/** True when a key was new and could be opened; the others are meant for those who hold another one. */
function learned({ id, wrapped }: { id: string; wrapped: string }, vault: KeyRing): boolean {
  if (vault.knows(id)) return false;
  try {
    vault.add(Buffer.from(vault.open(wrapped, wrapPurpose), 'base64'));
    return true;
  } catch {
    return false;
  }
}

/** `vault` seals under the key that the other one is left for. */
export async function leaveKey(
  db: Db,
  vault: KeyRing,
  key: { id: string; bytes: Buffer; role: 'next' | 'previous' },
  now: Date,
): Promise<void> {
  const wrapped = vault.seal(key.bytes.toString('base64'), wrapPurpose);
  await db
    .insertInto('master_keys')
    .values({ id: key.id, wrapped, role: key.role, created_at: now.toISOString() })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ wrapped }))
    .execute();
}

/** Running processes look this often for a rotation that another process has begun. */
export const followEveryMs = 1_000;
