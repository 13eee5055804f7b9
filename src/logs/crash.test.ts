import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../log.ts';
import { openLogs } from './logs.ts';
import { framesIn } from './segment.ts';

const breaker = { failureThreshold: 5, backoffMs: 60_000, timeoutMs: 15_000 };

/** A process that appends without end, and says so once records have reached a file. */
const appender = (folder: string) => `
  import { readdirSync } from 'node:fs';
  import { openLogs } from ${JSON.stringify(join(import.meta.dir, 'logs.ts'))};
  import { silentLog } from ${JSON.stringify(join(import.meta.dir, '../log.ts'))};
  import { logRecord } from ${JSON.stringify(join(import.meta.dir, '../../test/log-records.ts'))};
  const logs = openLogs(${JSON.stringify(folder)}, ${JSON.stringify(breaker)}, silentLog);
  for (let round = 0; ; round++) {
    for (let count = 0; count < 200; count++) logs.append(logRecord());
    await Bun.sleep(1);
    if (round === 20) process.stdout.write('writing\\n');
  }
`;

const idsInSpool = (folder: string): string[] =>
  readdirSync(join(folder, 'spool'))
    .filter((name) => !name.startsWith('lock'))
    .flatMap((name) => [...framesIn(readFileSync(join(folder, 'spool', name)))])
    .flatMap(({ rows }) => rows.map(([, , id]) => id));

function inStore<T>(folder: string, kind: 'rows' | 'bodies', read: (db: Database) => T[]): T[] {
  return readdirSync(join(folder, 'logs'))
    .filter((name) => name.startsWith(kind) && name.endsWith('.db'))
    .flatMap((name) => {
      const db = new Database(join(folder, 'logs', name));
      try {
        return read(db);
      } finally {
        db.close();
      }
    });
}

const idsInStore = (folder: string): string[] =>
  inStore(folder, 'rows', (db) => db.query<{ id: string }, []>('select id from logs').all()).map(({ id }) => id);

test('kill -9 in the middle of appends loses nothing that reached a file and stores nothing twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-log-crash-'));
  for (let round = 0; round < 3; round++) {
    const child = spawn(process.execPath, ['-e', appender(folder)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.on('close', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    // Another moment each time: in a write, in a transaction, between the two.
    await Bun.sleep(round * 37);
    child.kill('SIGKILL');
    await ended;
    const reached = new Set(idsInSpool(folder));
    expect(reached.size).toBeGreaterThan(0);
    const logs = openLogs(folder, breaker, silentLog);
    await logs.close();
    const stored = idsInStore(folder);
    expect(new Set(stored).size).toBe(stored.length);
    expect([...reached.difference(new Set(stored))]).toEqual([]);
    expect(idsInSpool(folder)).toEqual([]);
  }
  // Every row finds its block, and no number was left out, by which chunks of columns are found.
  const blocks = new Set(
    inStore(folder, 'bodies', (db) => db.query<{ block: number }, []>('select block from bodies').all()).map(
      ({ block }) => block,
    ),
  );
  const rows = inStore(folder, 'rows', (db) =>
    db.query<{ n: number; block: number }, []>('select n, block from logs order by n').all(),
  );
  expect(rows.filter(({ block }) => !blocks.has(block))).toEqual([]);
  expect(rows.every(({ n }, at) => n === at + 1)).toBe(true);
  rmSync(folder, { recursive: true, force: true });
});
