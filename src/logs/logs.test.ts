import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonMessage, logRecord, message, segmentOf } from '../../test/log-records.ts';
import type { Log } from '../log.ts';
import { type Logs, openLogs } from './logs.ts';

let folder: string;
let logs: Logs;
let warnings: string[];
const log: Log = {
  info: () => undefined,
  warn: (text) => void warnings.push(text),
  error: (text) => void warnings.push(text),
};
const breaker = { failureThreshold: 3, backoffMs: 20, timeoutMs: 1 };

const open = () => openLogs(folder, breaker, log);
const spoolFolder = () => join(folder, 'spool');
const storeFolder = () => join(folder, 'logs');
const rowFiles = () =>
  existsSync(storeFolder()) && statSync(storeFolder()).isDirectory()
    ? readdirSync(storeFolder())
        .filter((name) => /^rows-.*\.db$/.test(name))
        .map((name) => join(storeFolder(), name))
    : [];
const segments = () => readdirSync(spoolFolder()).filter((name) => !name.startsWith('lock'));

beforeEach(() => {
  warnings = [];
  folder = mkdtempSync(join(tmpdir(), 'gw-logs-'));
  logs = open();
});
afterEach(async () => {
  await logs.close();
  rmSync(folder, { recursive: true, force: true });
});

function storedIds(): string[] {
  return rowFiles().flatMap((file) => {
    const db = new Database(file, { readonly: true });
    try {
      db.run('PRAGMA busy_timeout = 5000');
      if (!db.query("select 1 from sqlite_master where name = 'logs'").get()) return [];
      return db
        .query<{ id: string }, []>('select id from logs')
        .all()
        .map(({ id }) => id);
    } finally {
      db.close();
    }
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(5);
}

function append(count: number): string[] {
  const records = Array.from({ length: count }, (_, at) => logRecord({ ai_model: `model-${at % 3}` }));
  for (const record of records) logs.append(record);
  return records.map(({ metrics }) => metrics.id);
}

describe('a record', () => {
  test('is found at once, in a segment, and in the store, and reads the same', async () => {
    const record = logRecord(
      { endpoint_type: 'embed' },
      {
        request: jsonMessage({ input: 'a' }),
        response: jsonMessage({ data: [{ index: 0, embedding: [0.1, 0.2] }] }),
        originalResponse: message('application/octet-stream', Buffer.from([1, 2, 3])),
      },
    );
    logs.append(record);
    const fresh = await logs.find(record.metrics.id);
    expect(fresh?.metrics).toEqual(record.metrics);
    expect(Buffer.from(fresh?.bodies.response?.body ?? []).toString()).toBe('{"data":[{"index":0}]}');
    expect(fresh?.bodies.originalResponse).toMatchObject({ body: null, size: 3 });

    await until(() => segments().length > 0);
    const written = await logs.find(record.metrics.id);
    await until(() => storedIds().length > 0);
    const stored = await logs.find(record.metrics.id);
    // What crossed threads holds plain bytes.
    const plain = (found: typeof stored) =>
      JSON.parse(
        JSON.stringify(found, (_, value) => (value instanceof Uint8Array ? [...value] : (value?.data ?? value))),
      );
    expect(plain(written)).toEqual(plain(stored));
    expect(stored?.metrics).toEqual(fresh?.metrics);
    expect(stored?.bodies.response?.body?.length).toBe(fresh?.bodies.response?.body?.length);
  });

  test('that nobody wrote is not found', async () => {
    expect(await logs.find(Bun.randomUUIDv7())).toBeNull();
    expect(await logs.find('no id at all')).toBeNull();
  });
});

test('ten thousand records are stored, each once, and leave no segment behind', async () => {
  const ids: string[] = [];
  for (let round = 0; round < 100; round++) {
    ids.push(...append(100));
    await Bun.sleep(0);
  }
  await logs.close();
  expect(storedIds().sort()).toEqual(ids.sort());
  expect(segments()).toEqual([]);
  expect(logs.dropped).toBe(0);
  expect(warnings).toEqual([]);
});

test('records are found while others are written and imported', async () => {
  const ids: string[] = [];
  const missing: string[] = [];
  let writing = true;
  const readers = Array.from({ length: 4 }, async () => {
    while (writing) {
      const id = ids[Math.floor(Math.random() * ids.length)];
      if (id && (await logs.find(id))?.metrics.id !== id) missing.push(id);
      await Bun.sleep(0);
    }
  });
  const end = Date.now() + 2_500; // Long enough for segments to be finished, imported and deleted meanwhile.
  while (Date.now() < end) {
    ids.push(...append(20));
    await Bun.sleep(2);
  }
  writing = false;
  await Promise.all(readers);
  expect(missing).toEqual([]);
  expect(storedIds().length).toBeGreaterThan(0);
});

describe('a store that fails', () => {
  test('is tried again until it takes what waited, and nothing is lost', async () => {
    await until(() => append(1).length > 0 && storedIds().length > 0);
    const other = new Database(rowFiles()[0] ?? '');
    other.run('begin immediate');
    const ids = append(500);
    await until(() => segments().some((name) => name.endsWith('.ready')));
    await until(() => warnings.some((text) => text.includes('takes no records')));
    ids.push(...append(500));
    await until(() => warnings.some((text) => text.includes('in 0.02 s')));
    for (const id of [ids[0], ids[499], ids[500], ids[999]]) expect((await logs.find(id ?? ''))?.metrics.id).toBe(id);
    other.run('rollback');
    other.close();
    await until(() => segments().length === 0);
    const stored = new Set(storedIds());
    expect(ids.filter((id) => !stored.has(id))).toEqual([]);
  });

  test('at the stop leaves the segments for the next start', async () => {
    await logs.close();
    rmSync(storeFolder(), { recursive: true, force: true });
    writeFileSync(storeFolder(), 'in the way');
    logs = open();
    const ids = append(50);
    await logs.close();
    expect(segments()).toHaveLength(1);
    rmSync(storeFolder());
    logs = open();
    expect((await logs.find(ids[7] ?? ''))?.metrics.id).toBe(ids[7] ?? '');
    await until(() => segments().length === 0);
    expect(storedIds().sort()).toEqual(ids.sort());
  });
});

describe('a disk that takes nothing', () => {
  const block = () => {
    rmSync(spoolFolder(), { recursive: true });
    writeFileSync(spoolFolder(), 'in the way');
  };

  test('makes records wait in memory, with one warning, until it is back', async () => {
    block();
    const ids = append(10);
    await until(() => warnings.some((text) => text.includes('wait in memory')));
    ids.push(...append(10));
    expect((await logs.find(ids[3] ?? ''))?.metrics.id).toBe(ids[3] ?? '');
    rmSync(spoolFolder());
    await until(() => storedIds().length === 20);
    ids.push(...append(10));
    await logs.close();
    expect(storedIds().sort()).toEqual(ids.sort());
    expect([logs.dropped, warnings.filter((text) => text.includes('wait in memory')).length]).toEqual([0, 1]);
  });

  test('costs what waits at the stop, which is counted and told', async () => {
    block();
    append(10);
    await until(() => warnings.some((text) => text.includes('wait in memory')));
    append(10);
    await logs.close();
    expect([logs.dropped, warnings.filter((text) => text.includes('dropped')).length]).toEqual([20, 1]);
  });

  test('and loses what it had taken: the records are counted and told', async () => {
    const ids = append(10);
    await until(() => segments().length > 0);
    rmSync(spoolFolder(), { recursive: true });
    await until(() => logs.dropped === 10);
    expect(warnings.filter((text) => text.includes('dropped'))).toHaveLength(1);
    const later = append(10);
    await logs.close();
    expect(
      storedIds()
        .filter((id) => !ids.includes(id))
        .sort(),
    ).toEqual(later.sort());
  });

  test('makes them wait in little more memory than they fill, however they come', async () => {
    block();
    append(10);
    await until(() => warnings.some((text) => text.includes('wait in memory')));
    // What other tests left behind must not go meanwhile.
    Bun.gc(true);
    const before = process.memoryUsage().arrayBuffers;
    for (let turn = 0; turn < 200; turn++) {
      append(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const megabytes = (process.memoryUsage().arrayBuffers - before) / 1e6;
    expect([logs.dropped, megabytes > 5, megabytes < 100]).toEqual([0, true, true]);
    rmSync(spoolFolder());
    await logs.close();
    expect(storedIds()).toHaveLength(20_010);
  });

  test('never makes more wait in memory than 64 MB', async () => {
    const body = { response: message('text/plain', Buffer.alloc(200_000, 'x')) };
    // Nothing can be written before this turn of the loop ends.
    for (let count = 0; count < 500; count++) logs.append(logRecord({ workspace_id: `w${count % 8}` }, body));
    expect(logs.dropped).toBeGreaterThan(500 - (64 * 1024 * 1024) / 200_000 - 10);
    expect(logs.dropped).toBeLessThan(500 - (64 * 1024 * 1024) / 202_000 + 10);
    const held = logs.dropped;
    await logs.close();
    expect(storedIds()).toHaveLength(500 - held);
  });
});

test('a workspace that floods the spool leaves a quarter of it to others, who lose nothing', async () => {
  const body = { response: message('text/plain', Buffer.alloc(200_000, 'x')) };
  const flood = (count: number) => {
    for (let index = 0; index < count; index++) logs.append(logRecord({ workspace_id: 'flooding' }, body));
  };
  flood(400);
  const dropped = logs.dropped;
  expect(dropped).toBeGreaterThan(100);
  for (let index = 0; index < 50; index++) logs.append(logRecord({ workspace_id: `quiet${index % 5}` }, body));
  expect(logs.dropped).toBe(dropped);
  flood(1);
  expect(logs.dropped).toBe(dropped + 1);
  await logs.close();
  expect(storedIds()).toHaveLength(450 - dropped);
});

test('a record that cannot be worked out is dropped alone', async () => {
  const [before] = append(1);
  logs.append({
    get metrics(): never {
      throw new Error('no figures');
    },
    bodies: {},
  });
  const [after] = append(1);
  await logs.close();
  expect(storedIds().sort()).toEqual([before, after].map(String).sort());
  expect(logs.dropped).toBe(1);
});

describe('limits', () => {
  const limits = { bodyDays: 90, rowDays: 365, spoolBytes: Number.POSITIVE_INFINITY };

  test('with no days for bodies none is ever written', async () => {
    await logs.close();
    logs = openLogs(folder, breaker, log, { limits: { ...limits, bodyDays: 0 } });
    const record = logRecord({}, { response: message('text/plain', Buffer.from('the canary')) });
    logs.append(record);
    const { id } = record.metrics;
    expect((await logs.find(id))?.bodies).toEqual({});
    await logs.close();
    expect(storedIds()).toEqual([id]);
    const [bodies] = readdirSync(storeFolder()).filter((name) => /^bodies-.*\.db$/.test(name));
    const db = new Database(join(storeFolder(), bodies ?? ''), { readonly: true });
    expect(db.query('select count(*) as bodies from bodies').get()).toEqual({ bodies: 0 });
    db.close();
  });

  test('a spool that has reached its size takes no more, and keeps what it has', async () => {
    await logs.close();
    const kept = [logRecord(), logRecord()];
    writeFileSync(join(spoolFolder(), '0.ready'), segmentOf(kept));
    // The store cannot be opened, so that nothing leaves the spool.
    rmSync(storeFolder(), { recursive: true, force: true });
    writeFileSync(storeFolder(), 'in the way');
    logs = openLogs(folder, breaker, log, { limits: { ...limits, spoolBytes: 1_000 } });
    append(3);
    expect(logs.dropped).toBe(3);
    await until(() => warnings.some((text) => text.includes('dropped')));
    await logs.close();
    expect(segments()).toEqual(['0.ready']);
    rmSync(storeFolder());
    logs = openLogs(folder, breaker, log, { limits: { ...limits, spoolBytes: 1_000_000 } });
    const later = append(2);
    await logs.close();
    expect(storedIds().sort()).toEqual([...kept.map(({ metrics }) => metrics.id), ...later].sort());
  });
});

describe('what an earlier run left', () => {
  test('is imported at the start, a torn tail apart', async () => {
    await logs.close();
    const whole = [logRecord(), logRecord()];
    const frame = segmentOf(whole);
    const torn = segmentOf([logRecord()]);
    writeFileSync(join(spoolFolder(), 'killed.open'), Buffer.concat([frame, torn.subarray(0, torn.length - 1)]));
    writeFileSync(join(spoolFolder(), 'empty.open'), '');
    logs = open();
    await until(() => segments().length === 0);
    expect(storedIds().sort()).toEqual(whole.map(({ metrics }) => metrics.id).sort());
    expect(warnings).toEqual([]);
  });

  test('that makes no sense is set aside and does not stand in the way', async () => {
    await logs.close();
    const frame = segmentOf([logRecord()]);
    const rows = Buffer.from(JSON.stringify([[], [[3, 'lost']]]));
    frame.writeUInt32LE(rows.length, 4);
    frame.writeUInt32LE(0, 8);
    rows.copy(frame, 16);
    frame.writeUInt32LE(Bun.hash.crc32(rows), 12);
    writeFileSync(join(spoolFolder(), '0.ready'), frame.subarray(0, 16 + rows.length));
    logs = open();
    const ids = append(5);
    await logs.close();
    expect(storedIds().sort()).toEqual(ids.sort());
    expect(segments()).toEqual(['0.ready.rejected']);
  });

  test('is left to a process that still writes it', async () => {
    append(1);
    await until(() => segments().some((name) => name.endsWith('.open')));
    const second = open();
    expect(segments().filter((name) => name.endsWith('.open'))).toHaveLength(1);
    await second.close();
  });
});

test('a record appended after the close is dropped and counted', async () => {
  await logs.close();
  append(3);
  expect(logs.dropped).toBe(3);
});
