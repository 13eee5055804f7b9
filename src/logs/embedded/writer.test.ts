import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { jsonMessage, logRecord, message, segmentOf } from '../../../test/log-records.ts';
import { contentOf } from '../content.ts';
import type { LogRecord } from '../record.ts';
import { framesIn } from '../segment.ts';
import { ColumnCache } from './column-cache.ts';
import { dayOf, monthOf } from './files.ts';
import { Month } from './month.ts';
import { EmbeddedReader } from './reader.ts';
import { EmbeddedWriter } from './writer.ts';

let folder: string;
let writer: EmbeddedWriter;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-log-store-'));
  writer = new EmbeddedWriter(folder, 100);
});
afterEach(() => {
  writer.close();
  rmSync(folder, { recursive: true, force: true });
});

function find(id: string) {
  const reader = new EmbeddedReader(folder);
  try {
    return reader.find(id);
  } finally {
    reader.close();
  }
}

/** Of this month's file, or of today's where it is about bodies. */
function count(table: 'logs' | 'contexts' | 'metadata_sets' | 'bodies'): number {
  const file = table === 'bodies' ? `bodies-${dayOf(Date.now())}.db` : `rows-${monthOf(Date.now())}.db`;
  const db = new Database(join(folder, file), { readonly: true });
  try {
    return db.query<{ n: number }, []>(`select count(*) as n from ${table}`).get()?.n ?? 0;
  } finally {
    db.close();
  }
}

test('a stored record has every field it was written with', () => {
  const records = [
    logRecord({ attempt: { rule: 'single', after: [], retries: [{ status: 503, wait_ms: 200 }], waited_ms: 200 } }),
    logRecord({
      first_token_time: 5.25,
      error_message: 'no',
      is_success: false,
      cache_status: null,
      is_proxy_call: true,
    }),
    logRecord({ metadata: {}, ignored_config_keys: [], usage_estimated: true }, {}),
  ];
  writer.write(framesIn(segmentOf(records)));
  for (const { metrics } of records) expect(find(metrics.id)?.metrics).toEqual(metrics);
  const [first, , last] = records;
  expect(contentOf(find(first?.metrics.id ?? '')?.bodies.response ?? empty)).toMatchObject({
    form: 'json',
    value: { id: 'chatcmpl-1' },
  });
  expect(find(last?.metrics.id ?? '')?.bodies).toEqual({});
  expect(find(Bun.randomUUIDv7())).toBeNull();
});

const empty = { headers: {}, contentType: '', body: null, size: 0 };

test('beginnings that were known when the record was made are stored as they are, others are read from the bytes', () => {
  const request = { ...jsonMessage({ messages: [{ role: 'user', content: 'in the bytes' }] }), preview: 'known' };
  writer.write(framesIn(segmentOf([logRecord({}, { request, response: jsonMessage({ content: 'answered' }) })])));
  const db = new Database(join(folder, `rows-${monthOf(Date.now())}.db`), { readonly: true });
  expect(db.query('select prompt_preview, answer_preview from logs').all()).toEqual([
    { prompt_preview: 'known', answer_preview: 'answered' },
  ]);
  db.close();
});

test('a segment that is imported twice is stored once', () => {
  const first = [logRecord(), logRecord()];
  const segment = segmentOf(first);
  writer.write(framesIn(segment));
  writer.write(framesIn(segment));
  expect([count('logs'), count('bodies')]).toEqual([2, 1]);
  const added = logRecord();
  writer.write(framesIn(segmentOf(first, [added])));
  expect([count('logs'), count('bodies')]).toEqual([3, 2]);
  for (const { metrics } of [...first, added]) expect(find(metrics.id)?.bodies.request?.size).toBeGreaterThan(0);
});

test.each([1, 15, 16, 17, 32, 40])('%i records of a frame are stored, with their messages and without', (size) => {
  const records = Array.from({ length: size }, (_, at) => (at % 3 === 2 ? logRecord({}, {}) : logRecord()));
  writer.write(framesIn(segmentOf(records)));
  expect(count('logs')).toBe(size);
  for (const { metrics, bodies } of records) {
    const found = find(metrics.id);
    expect(found?.metrics).toEqual(metrics);
    expect(found?.bodies.request?.headers).toEqual(bodies.request?.headers);
    expect(found?.bodies.response?.size).toBe(bodies.response?.body?.length);
  }
});

test('what records have in common is stored once', () => {
  const records = Array.from({ length: 50 }, (_, at) => logRecord({ ai_model: `model-${at % 5}` }));
  writer.write(framesIn(segmentOf(records)));
  writer.write(framesIn(segmentOf(Array.from({ length: 50 }, () => logRecord({ ai_model: 'model-1' })))));
  expect([count('logs'), count('contexts')]).toEqual([100, 5]);
});

test('messages of many records share blocks, and each finds its own again', () => {
  const records = Array.from({ length: 600 }, (_, at) =>
    logRecord({}, { response: jsonMessage({ at, text: `${at} `.repeat(500) }) }),
  );
  const batches = Array.from({ length: 60 }, (_, at) => records.slice(at * 10, at * 10 + 10));
  writer.write(framesIn(segmentOf(...batches)));
  expect(count('bodies')).toBeGreaterThan(1);
  expect(count('bodies')).toBeLessThan(20);
  for (const at of [0, 9, 10, 299, 300, 599]) {
    const response = find(records[at]?.metrics.id ?? '')?.bodies.response ?? empty;
    expect(contentOf(response)).toMatchObject({ form: 'json', value: { at } });
  }
});

test('a segment that fails half-way leaves nothing behind', () => {
  function* failing() {
    yield* framesIn(segmentOf([logRecord({ ai_model: 'seldom' })]));
    throw new Error('the disk went away');
  }
  expect(() => writer.write(failing())).toThrow('the disk went away');
  expect([count('logs'), count('bodies'), count('contexts')]).toEqual([0, 0, 0]);
  const next = logRecord({ ai_model: 'seldom' });
  writer.write(framesIn(segmentOf([next])));
  expect(find(next.metrics.id)?.metrics).toEqual(next.metrics);
});

test('a file of an older release gets the fields that came since, and its rows stay readable', () => {
  const old = logRecord();
  writer.write(framesIn(segmentOf([old])));
  writer.close();
  const db = new Database(join(folder, `rows-${monthOf(Date.now())}.db`));
  db.run('alter table logs drop column first_token_time');
  db.run('alter table contexts drop column runtime');
  db.close();
  writer = new EmbeddedWriter(folder, 100);
  const record = logRecord({ ai_model: 'newer', first_token_time: 7 });
  writer.write(framesIn(segmentOf([record])));
  expect(find(record.metrics.id)?.metrics).toEqual(record.metrics);
  expect(find(old.metrics.id)?.metrics).toMatchObject({ id: old.metrics.id, first_token_time: null, runtime: null });
});

describe('answers of embedding calls', () => {
  const vectors = {
    data: [{ index: 0, object: 'embedding', embedding: [0.123456789, 0.2] }],
    usage: { total_tokens: 4 },
  };
  const stored = (record: LogRecord) => {
    writer.write(framesIn(segmentOf([logRecord(), record, logRecord()])));
    return find(record.metrics.id)?.bodies ?? {};
  };

  test('are stored without their vectors, whatever their form', () => {
    const bodies = stored(
      logRecord(
        { endpoint_type: 'embed' },
        {
          request: jsonMessage({ input: 'a' }),
          response: jsonMessage(vectors),
          originalResponse: jsonMessage({ embeddings: { float: [[0.123456789, 0.3]] }, texts: ['a'], n: [] }),
        },
      ),
    );
    expect(contentOf(bodies.request ?? empty)).toEqual({ form: 'json', value: { input: 'a' } });
    expect(contentOf(bodies.response ?? empty)).toEqual({
      form: 'json',
      value: { data: [{ index: 0, object: 'embedding' }], usage: { total_tokens: 4 } },
    });
    expect(contentOf(bodies.originalResponse ?? empty)).toEqual({
      form: 'json',
      value: { embeddings: {}, texts: ['a'], n: [] },
    });
  });

  test('are cleaned through their compression, and dropped where they cannot be read', () => {
    const packed = gzipSync(JSON.stringify({ data: [{ embedding: 'AAAAAA==', index: 0 }] }));
    const bodies = stored(
      logRecord(
        { endpoint_type: 'embed' },
        {
          response: message('application/json', packed, { 'content-encoding': 'gzip' }),
          originalResponse: message('application/json', Buffer.from('[0.1, 0.2')),
        },
      ),
    );
    expect(contentOf(bodies.response ?? empty)).toEqual({ form: 'json', value: { data: [{ index: 0 }] } });
    expect(contentOf(bodies.originalResponse ?? empty)).toEqual({ form: 'omitted', size: 9 });
  });
});

describe('what has been kept long enough', () => {
  const dayMs = 86_400_000;
  const retention = { bodyMs: 90 * dayMs, rowMs: 365 * dayMs };
  const files = () => readdirSync(folder).filter((name) => name.endsWith('.db'));

  test('goes with its whole file: bodies first, rows later', () => {
    const now = Date.now();
    const record = logRecord({ created_at: now });
    writer.write(framesIn(segmentOf([record])));
    writer.purge(now + 89 * dayMs, retention);
    expect(find(record.metrics.id)?.bodies.response).toBeDefined();
    writer.purge(now + 92 * dayMs, retention);
    expect(find(record.metrics.id)?.bodies).toEqual({});
    expect(find(record.metrics.id)?.metrics).toEqual(record.metrics);
    writer.purge(now + 400 * dayMs, retention);
    expect(find(record.metrics.id)).toBeNull();
    expect(files()).toEqual([]);
  });

  test('is of the month in which the call was made, however late its record came', () => {
    const now = Date.now();
    const [late, fresh] = [logRecord({ created_at: now - 100 * dayMs }), logRecord({ created_at: now })];
    writer.write(framesIn(segmentOf([late, fresh])));
    expect(files().filter((name) => name.startsWith('rows-'))).toHaveLength(2);
    writer.purge(now, { ...retention, rowMs: 60 * dayMs });
    expect([find(late.metrics.id), find(fresh.metrics.id)?.metrics.id]).toEqual([null, fresh.metrics.id]);
  });

  test('is written again into a file of its own', () => {
    const now = Date.now();
    writer.write(framesIn(segmentOf([logRecord({ created_at: now })])));
    writer.purge(now + 400 * dayMs, retention);
    const next = logRecord({ created_at: now });
    writer.write(framesIn(segmentOf([next])));
    expect(find(next.metrics.id)?.bodies.response).toBeDefined();
  });
});

test('a month that an older release wrote, and nobody has written since, is read without the fields that came since', () => {
  const record = logRecord();
  writer.write(framesIn(segmentOf([record])));
  writer.close();
  const file = join(folder, `rows-${monthOf(Date.now())}.db`);
  const old = new Database(file);
  old.run('alter table contexts drop column runtime');
  old.run('alter table contexts drop column mcp_tool');
  old.run('alter table logs drop column mcp');
  old.close();
  const month = new Month('old', file, new ColumnCache());
  expect(month.contexts()[1]).toMatchObject({ ai_model: record.metrics.ai_model, mcp_tool: null });
  month.close();
  expect(find(record.metrics.id)?.metrics).toMatchObject({ id: record.metrics.id, mcp: null, runtime: null });
  writer = new EmbeddedWriter(folder, 100);
});
