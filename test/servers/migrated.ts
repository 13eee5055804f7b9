/** A state database at this program's schema version, made once for each process: a copy costs a fraction of the migrations. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type StoreAddress } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';

let made: Promise<string> | undefined;

/** The path of a migrated SQLite file that nobody has open, to be copied. */
export function migratedFile(): Promise<string> {
  made ??= makeFile();
  return made;
}

async function makeFile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-migrated-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'state.db');
  await migrateAt({ engine: 'sqlite', file: path });
  return path;
}

export async function migrateAt(address: StoreAddress): Promise<void> {
  const store = openStore(address);
  await migrate(store, new Date());
  await store.close();
}
