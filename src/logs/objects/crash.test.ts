/** A program that is killed while it writes bodies into an object store: every record is stored once, with its bodies, on both engines. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClickHouseServer, clickhouseInstalled, startClickHouse } from '../../../test/servers/clickhouse.ts';
import { type SimulatedObjectStore, startObjectStore } from '../../../test/servers/object-store.ts';
import { silentLog } from '../../log.ts';
import { contentOf } from '../content.ts';
import { type LogOptions, type Logs, openLogs } from '../logs.ts';
import type { Cursor } from '../query.ts';
import { framesIn } from '../segment.ts';

const breaker = { failureThreshold: 2, backoffMs: 20, timeoutMs: 5_000 };

let folder: string;
let bucket: SimulatedObjectStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-object-crash-'));
  bucket = await startObjectStore();
});
afterEach(async () => {
  await bucket.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A process that appends without end, and says so once records have reached a file. */
const appender = (options: Partial<LogOptions>) => `
  import { openLogs } from ${JSON.stringify(join(import.meta.dir, '../logs.ts'))};
  import { silentLog } from ${JSON.stringify(join(import.meta.dir, '../../log.ts'))};
  import { logRecord } from ${JSON.stringify(join(import.meta.dir, '../../../test/log-records.ts'))};
  const logs = openLogs(${JSON.stringify(folder)}, ${JSON.stringify(breaker)}, silentLog, ${JSON.stringify(options)});
  for (let round = 0; ; round++) {
    logs.append(logRecord());
    await Bun.sleep(5);
    if (round === 20) process.stdout.write('writing\\n');
  }
`;

const idsInSpool = (): string[] =>
  readdirSync(join(folder, 'spool'))
    .filter((name) => !name.startsWith('lock'))
    .flatMap((name) => [...framesIn(readFileSync(join(folder, 'spool', name)))])
    .flatMap(({ rows }) => rows.map(([, , id]) => id));

async function everyId(logs: Logs): Promise<string[]> {
  const ids: string[] = [];
  const scopes = [{ workspaceId: null, userId: null }];
  const filter = { organisationId: 'organisation-1', scopes, from: 0, to: Date.now() + 60_000 };
  for (let after: Cursor | undefined; ; ) {
    const query = { filter, sort: 'created_at', descending: true, offset: 0, limit: 500 } as const;
    const { rows } = await logs.list({ ...query, ...(after && { after }) });
    ids.push(...rows.map(({ metrics }) => metrics.id));
    const last = rows.at(-1);
    if (!last) return ids;
    after = { value: last.metrics.created_at, id: last.metrics.id };
  }
}

function suite(clickhouseUrl: () => string | null): void {
  test('kill -9 while objects are written, known to be there or not, stores every record once with its bodies', async () => {
    const objects = { store: bucket.settings, prefix: '', format: 'v1' } as const;
    const options = { clickhouseUrl: clickhouseUrl(), objects };
    const reached = new Set<string>();
    for (const moment of ['waits', 'has written some', 'is away'] as const) {
      const before = bucket.objects.size;
      bucket.isAway = moment === 'is away';
      const child = spawn(process.execPath, ['-e', appender(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.on('close', resolve));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      // Some objects of a segment are there, and none of its rows may be.
      while (moment === 'has written some' && bucket.objects.size === before) await Bun.sleep(1);
      child.kill('SIGKILL');
      await ended;
      for (const id of idsInSpool()) reached.add(id);
      bucket.isAway = false;
      const logs = openLogs(folder, breaker, silentLog, options);
      await logs.settled();
      const stored = await everyId(logs);
      expect(new Set(stored).size).toBe(stored.length);
      expect([...reached.difference(new Set(stored))]).toEqual([]);
      expect(idsInSpool()).toEqual([]);
      expect(new Set([...bucket.objects.keys()].map((path) => /([^/]+)\.json$/.exec(path)?.[1]))).toEqual(
        new Set(stored),
      );
      for (const id of stored.slice(0, 20)) {
        const found = await logs.find(id);
        expect([found?.bodiesFault, found?.bodies.response && contentOf(found.bodies.response).form]).toEqual([
          undefined,
          'json',
        ]);
      }
      await logs.close();
    }
    expect(reached.size).toBeGreaterThan(0);
  });
}

describe('with rows in files', () => suite(() => null));

describe.if(clickhouseInstalled)('with rows in ClickHouse', () => {
  let server: ClickHouseServer;
  beforeAll(async () => {
    server = await startClickHouse();
  });
  afterAll(() => server.stop());
  suite(() => server.newDatabase());
});
