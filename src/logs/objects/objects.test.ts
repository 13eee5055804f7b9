import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { jsonMessage, logRecord, message, segmentOf } from '../../../test/log-records.ts';
import { type ClickHouseServer, clickhouseInstalled, startClickHouse } from '../../../test/servers/clickhouse.ts';
import { type SimulatedObjectStore, startObjectStore } from '../../../test/servers/object-store.ts';
import type { Log } from '../../log.ts';
import { connect } from '../clickhouse/client.ts';
import { contentOf } from '../content.ts';
import { openWriter } from '../engine.ts';
import { type Logs, openLogs } from '../logs.ts';
import type { KeptRecord, LogRecord } from '../record.ts';
import { framesIn } from '../segment.ts';
import type { PathFormat } from './path.ts';

const dayMs = 86_400_000;
const limits = { bodyDays: 90, rowDays: 365, spoolBytes: Number.POSITIVE_INFINITY };
const breaker = { failureThreshold: 2, backoffMs: 20, timeoutMs: 5_000 };

let folder: string;
let bucket: SimulatedObjectStore;
let warnings: string[];
const log: Log = {
  info: () => undefined,
  warn: (text) => void warnings.push(text),
  error: (text) => void warnings.push(text),
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-objects-'));
  bucket = await startObjectStore();
  warnings = [];
});
afterEach(async () => {
  await bucket.stop();
  rmSync(folder, { recursive: true, force: true });
});

const answerOf = (record: KeptRecord | null) =>
  record?.bodies.response ? contentOf(record.bodies.response) : { form: 'absent' };

function suite(engine: { url: () => string | null; storedBodies: (url: string | null) => Promise<number> }): void {
  let logs: Logs;
  let url: string | null;
  const open = (format: PathFormat = 'v1', now: () => number = Date.now) => {
    const objects = { store: bucket.settings, prefix: 'gw/', format };
    return openLogs(folder, breaker, log, { limits, clickhouseUrl: url, objects, now });
  };
  beforeEach(() => {
    url = engine.url();
    logs = open();
  });
  afterEach(() => logs.close());

  async function stored(record: LogRecord): Promise<KeptRecord | null> {
    logs.append(record);
    await logs.settled();
    return logs.find(record.metrics.id);
  }

  function listed(records: readonly LogRecord[]) {
    const filter = {
      organisationId: 'organisation-1',
      scopes: [{ workspaceId: null, userId: null }],
      from: 0,
      to: Date.now() + dayMs,
      traceIds: records.map(({ metrics }) => metrics.trace_id),
    };
    return logs.list({ filter, sort: 'created_at', descending: true, offset: 0, limit: 5 });
  }

  test('bodies lie in the bucket, under the path of their log, and are read back from there', async () => {
    const record = logRecord({ trace_id: 'trace-of-one' });
    const found = await stored(record);
    const path = `gw/90/organisation-1/${record.metrics.id}.json`;
    expect([...bucket.objects.keys()]).toEqual([path]);
    expect(found).toMatchObject({ metrics: record.metrics, object: path });
    expect(answerOf(found)).toMatchObject({ form: 'json', value: { id: 'chatcmpl-1' } });
    expect(found?.bodies.request?.headers).toMatchObject({ 'x-gw-api-key': '***1234' });
    expect(await engine.storedBodies(url)).toBe(0);
    expect(bucket.refused).toBe(0);
    const page = await listed([record]);
    expect(page.rows).toMatchObject([{ promptPreview: 'What is the capital of France? 🇫🇷', answerPreview: 'Paris.' }]);
  });

  test('a path of the second form names workspace and hour', async () => {
    await logs.close();
    logs = open('v2');
    const record = logRecord({ created_at: Date.parse('2026-05-04T03:02:01Z') });
    logs.append(record);
    await logs.settled();
    expect([...bucket.objects.keys()]).toEqual([
      `gw/90/organisation-1/default/2026/05/04/03/${record.metrics.id}.json`,
    ]);
  });

  test('packed bodies are readable in the bucket, vectors never come there, and metrics alone make no object', async () => {
    const packed = gzipSync(JSON.stringify({ said: 'hello' }));
    const response = message('application/json', packed, { 'content-encoding': 'gzip' });
    const found = await stored(logRecord({}, { response }));
    expect(answerOf(found)).toMatchObject({ form: 'json', value: { said: 'hello' } });
    const vectors = { object: 'list', data: [{ index: 0, embedding: [0.125, 0.5] }], usage: { total_tokens: 3 } };
    await stored(logRecord({ endpoint_type: 'embed' }, { response: jsonMessage(vectors) }));
    expect([...bucket.objects.values()].map(({ text }) => text).join()).not.toContain('0.125');
    expect((await stored(logRecord({}, {})))?.bodies).toEqual({});
    expect(bucket.objects.size).toBe(2);
  });

  test('while the bucket is away records wait, are found, and are stored once when it is back', async () => {
    bucket.isAway = true;
    const records = Array.from({ length: 3 }, () => logRecord({ trace_id: 'trace-of-three' }));
    for (const record of records) logs.append(record);
    while (!warnings.some((text) => text.includes('takes no records'))) await Bun.sleep(5);
    for (const { metrics } of records) {
      expect(answerOf(await logs.find(metrics.id))).toMatchObject({ form: 'json' });
    }
    bucket.isAway = false;
    await logs.settled();
    expect(bucket.objects.size).toBe(3);
    expect((await listed(records)).total).toBe(3);
  });

  test('an object that is gone, is no log, or cannot be read now is said plainly', async () => {
    const record = logRecord();
    await stored(record);
    const { id } = record.metrics;
    const path = `gw/90/organisation-1/${id}.json`;
    bucket.isAway = true;
    expect((await logs.find(id))?.bodiesFault).toMatchObject({ kind: 'away' });
    bucket.isAway = false;
    bucket.objects.set(path, { text: 'a line of somebody else', at: new Date() });
    expect((await logs.find(id))?.bodiesFault).toMatchObject({
      kind: 'missing',
      message: expect.stringContaining(path),
    });
    bucket.objects.delete(path);
    const found = await logs.find(id);
    expect(found).toMatchObject({ metrics: record.metrics, bodies: {} });
    expect(found?.bodiesFault).toEqual({ kind: 'missing', message: `The object store has no object ${path}` });
  });

  test('bodies that are too old are not read, whether their object is still there or not', async () => {
    const record = logRecord();
    await stored(record);
    await logs.close();
    logs = open('v1', () => Date.now() + 91 * dayMs);
    const found = await logs.find(record.metrics.id);
    expect([found?.bodies, found?.bodiesFault]).toEqual([{}, undefined]);
  });
}

describe('bodies in an object store, rows in files', () => {
  suite({
    url: () => null,
    storedBodies: async () => {
      const files = readdirSync(join(folder, 'logs')).filter((name) => /^bodies-.*\.db$/.test(name));
      return files.reduce((total, name) => {
        const db = new Database(join(folder, 'logs', name), { readonly: true });
        const { n } = db.query<{ n: number }, []>('select count(*) as n from bodies').get() ?? { n: 0 };
        db.close();
        return total + n;
      }, 0);
    },
  });
});

describe.if(clickhouseInstalled)('bodies in an object store, rows in ClickHouse', () => {
  let server: ClickHouseServer;
  let database: string;
  beforeAll(async () => {
    server = await startClickHouse();
    database = server.newDatabase();
  });
  afterAll(() => server.stop());
  suite({
    url: () => database,
    storedBodies: async (url) => {
      const client = connect(url ?? '', 5_000);
      const found = await client.query({ query: 'select count() as n from gw_log_bodies', format: 'JSONEachRow' });
      const [row] = await found.json<{ n: number }>();
      await client.close();
      return Number(row?.n);
    },
  });
});

test('the daily run deletes our objects once they are old enough, over many pages, and nothing else', async () => {
  const objects = { store: bucket.settings, prefix: 'gw/', format: 'v1' } as const;
  const retention = { bodyMs: 90 * dayMs, rowMs: 365 * dayMs };
  const engine = { kind: 'embedded', folder: join(folder, 'logs') } as const;
  const writer = await openWriter(engine, 5_000, retention, objects);
  await writer.write(framesIn(segmentOf([logRecord()])), 'segment');
  const old = new Date(Date.now() - 91 * dayMs);
  for (let n = 0; n < 1_200; n++) bucket.objects.set(`gw/90/old/${Bun.randomUUIDv7()}.json`, { text: '{}', at: old });
  for (const path of ['gw/90/old/report.json', 'gw/readme.txt', 'elsewhere/90/a/b.json']) {
    bucket.objects.set(path, { text: 'of others', at: old });
  }
  await writer.purge(Date.now(), retention);
  await writer.close();
  expect(bucket.objects.size).toBe(4);
});
