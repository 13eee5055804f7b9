import { describe, expect, test } from 'bun:test';
import { jsonMessage, logRecord, message, segmentOf } from '../../test/log-records.ts';
import { contextFields, metricsOf } from './layout.ts';
import { bodyLimit, messagesAt } from './messages.ts';
import type { KeptRecord, LogRecord } from './record.ts';
import { findInSegment, framesIn } from './segment.ts';

function recordsIn(segment: Buffer): KeptRecord[] {
  return [...framesIn(segment)].flatMap(({ contexts, rows, messages }) =>
    rows.map((row) => {
      const context = contexts[row[0]];
      if (!context) throw new Error('no context');
      const [, place] = row;
      return { metrics: metricsOf(context, row), bodies: place === null ? {} : messagesAt(messages, place) };
    }),
  );
}

const idsIn = (segment: Buffer): string[] => recordsIn(segment).map(({ metrics }) => metrics.id);

describe('a segment', () => {
  test('gives back every field of every record', () => {
    const records = [
      logRecord(),
      logRecord({
        user_id: 'user-1',
        first_token_time: 12.5,
        error_message: 'line\nbreak "quoted" \u0000 é 漢字',
        is_success: false,
        response_status_code: 503,
        cache_status: null,
        cache_type: null,
        config_id: null,
        config_version_id: null,
        metadata: {},
        ignored_config_keys: [],
        stream_mode: 1,
      }),
    ];
    expect(recordsIn(segmentOf(records)).map(({ metrics }) => metrics)).toEqual(records.map(({ metrics }) => metrics));
  });

  test('gives back headers and bodies byte by byte', () => {
    const record = logRecord(
      {},
      {
        request: jsonMessage({ text: 'é 漢字' }, { 'x-trace': '1' }),
        transformedRequest: jsonMessage({ shaped: true }),
        response: message('text/event-stream', Buffer.from('data: {"a":1}\n\ndata: [DONE]\n\n')),
        originalResponse: message('text/plain', Buffer.from('plain')),
      },
    );
    const [other, found] = recordsIn(segmentOf([logRecord(), record]));
    expect(other?.bodies.request?.headers['x-gw-api-key']).toBe('***1234');
    for (const name of ['request', 'transformedRequest', 'response', 'originalResponse'] as const) {
      const { headers, contentType, body, size } = found?.bodies[name] ?? {};
      const given = record.bodies[name];
      expect({ headers, contentType, size }).toEqual({
        headers: given?.headers,
        contentType: given?.contentType,
        size: given?.body?.length,
      });
      expect(Buffer.from(body ?? []).equals(given?.body ?? Buffer.alloc(0))).toBe(true);
    }
  });

  test('has headers that several requests share once', () => {
    const headers = { 'x-client': 'the same for all of them' };
    const records = Array.from({ length: 3 }, (_, count) =>
      logRecord(
        {},
        { request: { ...jsonMessage({ count }), headers }, response: jsonMessage({}, { count: `${count}` }) },
      ),
    );
    const segment = segmentOf([...records, logRecord()]);
    expect(segment.toString('latin1').split('the same for all of them')).toHaveLength(2);
    const found = recordsIn(segment).slice(0, 3);
    expect(found.map(({ bodies }) => bodies.request?.headers)).toEqual([headers, headers, headers]);
    expect(found.map(({ bodies }) => bodies.response?.headers.count)).toEqual(['0', '1', '2']);
  });

  test('keeps of binary and of oversized bodies the size alone', () => {
    const record = logRecord(
      {},
      {
        request: message('multipart/form-data; boundary=x', Buffer.alloc(100)),
        response: message('audio/mpeg', Buffer.alloc(5_000)),
        originalResponse: jsonMessage('x'.repeat(bodyLimit)),
        transformedRequest: { headers: {}, contentType: 'video/mp4', body: null, size: 70 },
      },
    );
    const segment = segmentOf([record]);
    expect(segment.length).toBeLessThan(3_000);
    const bodies = recordsIn(segment)[0]?.bodies;
    expect(Object.values(bodies ?? {}).map(({ size, body }) => [size, body])).toEqual([
      [100, null],
      [70, null],
      [5_000, null],
      [bodyLimit + 2, null],
    ]);
  });

  test('tells records of many contexts apart', () => {
    const records = Array.from({ length: 60 }, (_, at) => logRecord({ ai_model: `model-${at % 30}`, cost: at }));
    expect(recordsIn(segmentOf(records)).map(({ metrics }) => metrics)).toEqual(records.map(({ metrics }) => metrics));
  });

  test('takes no two records for alike that differ in any field', () => {
    const plain = logRecord();
    for (const field of contextFields) {
      const value: unknown = plain.metrics[field];
      const other = typeof value === 'boolean' ? !value : Array.isArray(value) ? ['other'] : `other ${value}`;
      const record: LogRecord = { ...plain, metrics: { ...plain.metrics, [field]: other } };
      expect(recordsIn(segmentOf([plain, record])).map(({ metrics }) => metrics[field])).toEqual([
        plain.metrics[field],
        record.metrics[field],
      ]);
    }
  });

  test('has records without messages among others', () => {
    const records = [logRecord({}, {}), logRecord(), logRecord({}, {})];
    expect(recordsIn(segmentOf(records)).map(({ bodies }) => Object.keys(bodies))).toEqual([
      [],
      ['request', 'response'],
      [],
    ]);
    expect(recordsIn(segmentOf([logRecord({}, {})]))).toHaveLength(1);
  });
});

describe('a segment that was cut short', () => {
  const first = [logRecord(), logRecord()];
  const second = [logRecord()];
  const whole = segmentOf(first, second);
  const firstBytes = segmentOf(first).length;
  const firstIds = first.map(({ metrics }) => metrics.id);

  test('gives the frames before the cut, wherever it is', () => {
    for (let end = firstBytes; end < whole.length; end += 7) {
      expect(idsIn(whole.subarray(0, end))).toEqual(firstIds);
    }
    expect(idsIn(whole.subarray(0, firstBytes - 1))).toEqual([]);
    expect(idsIn(whole)).toHaveLength(3);
  });

  test('ends where a byte is wrong', () => {
    for (const at of [firstBytes, firstBytes + 5, firstBytes + 13, firstBytes + 40, whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      expect(idsIn(damaged)).toEqual(firstIds);
    }
    expect(idsIn(Buffer.concat([segmentOf(first), Buffer.alloc(4_096)]))).toEqual(firstIds);
  });
});

test('a record is found by its id in a segment, and nothing by another', () => {
  const record = logRecord({ ai_model: 'other' });
  const segment = segmentOf([logRecord()], [logRecord(), record]);
  expect(findInSegment(segment, record.metrics.id)?.metrics).toEqual(record.metrics);
  expect(findInSegment(segment, Bun.randomUUIDv7())).toBeNull();
});
