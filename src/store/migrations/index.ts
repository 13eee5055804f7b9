/** Every migration, in order. A released one is never changed; the next one is appended here. */
import type { Db } from '../database.ts';
import { identity } from './0001_identity.ts';
import { catalog } from './0002_catalog.ts';
import { batches } from './0003_batches.ts';

interface Migration {
  name: string;
  /** Runs inside one transaction on either engine, so it may use only what both have. */
  up(db: Db): Promise<void>;
}

export const migrations: readonly Migration[] = [
  { name: 'identity', up: identity },
  { name: 'catalog', up: catalog },
  { name: 'batches', up: batches },
];
