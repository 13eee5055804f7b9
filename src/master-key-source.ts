/** The master key, from wherever the operator keeps it. */
import { systemClock } from './clock.ts';
import type { MasterKeySource } from './environment.ts';
import { decryptedByKms } from './gateway/credentials/kms.ts';
import { masterKeyFile, masterKeyFrom } from './store/vault.ts';

/** The key itself; a file is made where there is none. */
export async function readMasterKey(source: MasterKeySource, dataDir: string): Promise<Buffer> {
  if (source.from === 'environment') return masterKeyFrom(source.secret);
  if (source.from === 'file') return masterKeyFile(dataDir, source.name);
  const key = await decryptedByKms(source, {
    fetch,
    now: () => systemClock.now(),
    env: process.env,
    readFile: (path) => Bun.file(path).text(),
  });
  // A data key of KMS has the right length; any other secret becomes one, as those of the environment do.
  return key.length === 32 ? key : masterKeyFrom(key.toString('base64'));
}
