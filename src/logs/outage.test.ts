/** A log store that is away for ten minutes of a simulated clock, and a program that is killed while it stores: on both engines. */
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logRecord, segmentOf } from '../../test/log-records.ts';
import { type ClickHouseServer, clickhouseInstalled, startClickHouse } from '../../test/servers/clickhouse.ts';
import { type CutLine, startCutLine } from '../../test/servers/cut-line.ts';
import { silentLog } from '../log.ts';
import { connect } from './clickhouse/client.ts';
import type { Engine } from './engine.ts';
import { type ImportReport, LogImporter } from './importer.ts';
import { openLogs } from './logs.ts';
import { framesIn } from './segment.ts';
import type { Timer } from './timer.ts';

const tenMinutes = 600_000;
/** The seed's own figures. */
const breaker = { failureThreshold: 5, backoffMs: 60_000, timeoutMs: 15_000 };
const retention = { bodyMs: 3e11, rowMs: 3e11 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-log-outage-'));
  mkdirSync(join(folder, 'spool'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function addSegment(number: number): string[] {
  const records = [logRecord(), logRecord(), logRecord({}, {})];
  writeFileSync(join(folder, 'spool', `${String(number).padStart(6, '0')}.ready`), segmentOf(records));
  return records.map(({ metrics }) => metrics.id);
}

/** Lets the store be away for ten minutes while segments come, and answers what was told and how often it was tried. */
async function throughOutage(engine: Engine, comeBack: () => void): Promise<{ ids: string[]; told: ImportReport[] }> {
  const ids = [addSegment(0), addSegment(1)].flat();
  const told: ImportReport[] = [];
  let clock = 0;
  const timer: Timer = (ms, run) => {
    clock += ms;
    ids.push(...addSegment(clock));
    if (clock >= tenMinutes) comeBack();
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  };
  const orders = { folder: join(folder, 'spool'), engine, objects: null, breaker, retention };
  const importer = new LogImporter(orders, (report) => void told.push(report), timer);
  importer.run();
  while (!told.some(({ report }) => report === 'recovered')) await Bun.sleep(5);
  await importer.stop();
  return { ids, told };
}

function expectOnce(stored: readonly string[], ids: readonly string[], told: readonly ImportReport[]): void {
  expect(stored.toSorted()).toEqual(ids.toSorted());
  expect(readdirSync(join(folder, 'spool'))).toEqual([]);
  // It is told when the trouble begins and each time that the open breaker tries again: once a minute.
  const troubles = told.filter(({ report }) => report === 'trouble');
  expect(troubles.length).toBeGreaterThan(5);
  expect(troubles.length).toBeLessThan(15);
}

const storedIds = (): string[] =>
  readdirSync(join(folder, 'logs'))
    .filter((name) => /^rows-.*\.db$/.test(name))
    .flatMap((name) => {
      const db = new Database(join(folder, 'logs', name), { readonly: true });
      const rows = db.query<{ id: string }, []>('select id from logs').all();
      db.close();
      return rows.map(({ id }) => id);
    });

test('files that cannot be written for ten minutes: every record is stored once, and the store is tried once a minute', async () => {
  const logs = join(folder, 'logs');
  writeFileSync(logs, 'a file where the folder should be');
  const { ids, told } = await throughOutage({ kind: 'embedded', folder: logs }, () => rmSync(logs, { force: true }));
  expectOnce(storedIds(), ids, told);
});

describe.if(clickhouseInstalled)('ClickHouse', () => {
  let server: ClickHouseServer;
  let direct: string;
  let line: CutLine;
  beforeAll(async () => {
    server = await startClickHouse();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    direct = server.newDatabase();
    line = await startCutLine(direct);
  });
  afterEach(() => line.stop());

  async function idsIn(table: 'gw_logs' | 'gw_log_bodies'): Promise<string[]> {
    const client = connect(direct, 15_000);
    const found = await client.query({ query: `select id from ${table}`, format: 'JSONEachRow' });
    const rows = await found.json<{ id: string }>();
    await client.close();
    return rows.map(({ id }) => id);
  }

  test('that is away for ten minutes: every record is stored once, and it is tried once a minute', async () => {
    line.mode = 'refuses';
    const { ids, told } = await throughOutage({ kind: 'clickhouse', url: line.url }, () => {
      line.mode = 'carries';
    });
    expectOnce(await idsIn('gw_logs'), ids, told);
    const bodies = await idsIn('gw_log_bodies');
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  /** A process that appends without end, and says so once records have reached a file. */
  const appender = () => `
    import { openLogs } from ${JSON.stringify(join(import.meta.dir, 'logs.ts'))};
    import { silentLog } from ${JSON.stringify(join(import.meta.dir, '../log.ts'))};
    import { logRecord } from ${JSON.stringify(join(import.meta.dir, '../../test/log-records.ts'))};
    const options = { clickhouseUrl: ${JSON.stringify(line.url)} };
    const logs = openLogs(${JSON.stringify(folder)}, ${JSON.stringify(breaker)}, silentLog, options);
    for (let round = 0; ; round++) {
      for (let count = 0; count < 20; count++) logs.append(logRecord());
      await Bun.sleep(1);
      if (round === 20) process.stdout.write('writing\\n');
    }
  `;

  const idsInSpool = (): string[] =>
    readdirSync(join(folder, 'spool'))
      .filter((name) => !name.startsWith('lock'))
      .flatMap((name) => [...framesIn(readFileSync(join(folder, 'spool', name)))])
      .flatMap(({ rows }) => rows.map(([, , id]) => id));

  test('kill -9 while inserts are under way, known to have succeeded or not, stores every record once', async () => {
    const known = new Set<string>();
    for (const mode of ['carries', 'loses answers', 'refuses'] as const) {
      line.mode = 'carries';
      const lostBefore = line.lost;
      const child = spawn(process.execPath, ['-e', appender()], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.on('close', resolve));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      line.mode = mode;
      // The insert has reached the server, and the program cannot know it.
      while (mode === 'loses answers' && line.lost === lostBefore) await Bun.sleep(5);
      child.kill('SIGKILL');
      await ended;
      for (const id of idsInSpool()) known.add(id);
      line.mode = 'carries';
      const logs = openLogs(folder, breaker, silentLog, { clickhouseUrl: direct });
      await logs.settled();
      await logs.close();
      expect(idsInSpool()).toEqual([]);
      const stored = await idsIn('gw_logs');
      expect(new Set(stored).size).toBe(stored.length);
      expect([...known.difference(new Set(stored))]).toEqual([]);
      const bodies = await idsIn('gw_log_bodies');
      expect(new Set(bodies).size).toBe(bodies.length);
      expect(new Set(bodies)).toEqual(new Set(stored));
    }
    expect(known.size).toBeGreaterThan(0);
  });
});
