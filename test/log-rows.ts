/** How many log records the embedded store of a data folder holds. */
import { Database } from 'bun:sqlite';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export function storedLogRows(dataDir: string): number {
  const folder = join(dataDir, 'logs');
  return readdirSync(folder)
    .filter((name) => /^rows-.*\.db$/.test(name))
    .map((name) => {
      const month = new Database(join(folder, name), { readonly: true });
      const row = month.query<{ count: number }, []>('select count(*) as count from logs').get();
      month.close();
      return row?.count ?? 0;
    })
    .reduce((sum, count) => sum + count, 0);
}
