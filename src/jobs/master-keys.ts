/** Looks for a rotation of the master key that another process has begun, so that this one reads what is sealed under either key. */
import type { Db } from '../store/database.ts';
import { followEveryMs, learnMasterKeys } from '../store/master-key.ts';
import type { KeyRing } from '../store/vault.ts';
import type { Job } from './runner.ts';

export const createMasterKeyFollower = (db: Db, vault: KeyRing): Job => ({
  name: 'master-keys',
  everyMs: followEveryMs,
  onEveryNode: true,
  run: () => learnMasterKeys(db, vault),
});
