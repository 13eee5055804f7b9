/** Refuses a master key other than the one that sealed what the store holds, before anything is served with it. */
import type { Store } from './database.ts';
import type { Vault } from './vault.ts';

export class WrongMasterKeyError extends Error {
  constructor() {
    super(
      'The secrets in the database were sealed with another master key; set GW_MASTER_KEY as before, or put the master.key of that time back into the data folder.',
    );
  }
}

const purpose = 'master key proof';

/** The first start leaves a sealed proof behind; whoever can open it has the same key. */
export async function requireSameMasterKey({ db }: Store, vault: Vault): Promise<void> {
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
