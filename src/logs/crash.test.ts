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

function idsInStore(folder: string): string[] {
  const db = new Database(join(folder, 'logs.db'));
  try {
    return db
      .query<{ id: string }, []>('select id from logs order by id')
      .all()
      .map(({ id }) => id);
  } finally {
    db.close();
  }
}

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
  // Every block is somebody's, and every row finds its own.
  const db = new Database(join(folder, 'logs.db'), { readonly: true });
  const orphans = 'select count(*) as n from log_bodies where block not in (select block from logs)';
  const lost = 'select count(*) as n from logs where block not in (select block from log_bodies)';
  expect(db.query(orphans).get()).toEqual({ n: 0 });
  expect(db.query(lost).get()).toEqual({ n: 0 });
  db.close();
  rmSync(folder, { recursive: true, force: true });
});
