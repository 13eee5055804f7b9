import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { segmentOf } from '../../../test/log-records.ts';
import { sampleRecords } from '../../../test/sample-log-records.ts';
import { edgesOf } from '../analytics/buckets.ts';
import { exactCents } from '../cents.ts';
import { bucketOf, latenciesFrom } from '../latency.ts';
import type { Aggregate, AggregateQuery, LogFilter } from '../query.ts';
import type { LogMetrics } from '../record.ts';
import { framesIn } from '../segment.ts';
import { EmbeddedReader } from './reader.ts';
import { EmbeddedWriter } from './writer.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const forever = { bodyMs: 3e12, rowMs: 3e12 };

/** Every fortieth record comes late, after all others, so that its hour has been rolled up before. */
const inTime = sampleRecords(14_000).map(({ metrics }) => ({ metrics, bodies: {} }));
const records = [...inTime.filter((_, at) => at % 40 !== 0), ...inTime.filter((_, at) => at % 40 === 0)];
const calls = inTime.map(({ metrics }) => metrics);
const start = calls[0]?.created_at ?? 0;

let folder: string;
let reader: EmbeddedReader;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-rollups-'));
  const writer = new EmbeddedWriter(folder, 1_000, 1);
  for (let at = 0; at < records.length; at += 2_000) {
    const some = records.slice(at, at + 2_000);
    writer.write(framesIn(segmentOf(...Array.from({ length: 125 }, (_, n) => some.slice(n * 16, n * 16 + 16)))));
    // It comes a second time.
    if (at === 4_000) writer.write(framesIn(segmentOf(some.slice(0, 16))));
  }
  writer.close();
  reader = new EmbeddedReader(folder);
});
afterAll(() => {
  reader.close();
  rmSync(folder, { recursive: true, force: true });
});

const everything: LogFilter = {
  organisationId: 'organisation-1',
  scopes: [{ workspaceId: null, userId: null }],
  from: start,
  to: start + 40 * day,
};

const filters: Record<string, Partial<LogFilter>> = {
  'all of them': {},
  'whole hours': { from: start + day, to: start + 20 * day },
  'a partial first and last hour': { from: start + 17 * minute, to: start + 30 * day + 43 * minute + 1 },
  'a part of one hour': { from: start + day + 10 * minute, to: start + day + 50 * minute },
  'one model and one workspace': {
    from: start + 17 * minute,
    scopes: [{ workspaceId: 'workspace-1', userId: null }],
    models: [{ org: 'openai', model: 'gpt-4o' }],
  },
  'one person': { scopes: [{ workspaceId: null, userId: 'person-1' }], to: start + 33 * day + 1 },
  errors: { values: { response_status_code: ['429', '500'] } },
  'a range of costs, which no rollup knows': { ranges: { cost: { min: 0.005 } }, from: start + 17 * minute },
};

const groups: Record<string, AggregateQuery['group']> = {
  nothing: { by: 'nothing' },
  days: { by: 'time', edges: edgesOf({ ms: start + 17 * minute, offset: 0 }, start + 31 * day) },
  'days of a clock that is half an hour off': {
    by: 'time',
    edges: edgesOf({ ms: start + 17 * minute, offset: 330 }, start + 31 * day),
  },
  models: { by: 'field', field: 'ai_model' },
  statuses: { by: 'field', field: 'response_status_code' },
};

/** The same, from the records themselves. */
function expected(filter: LogFilter, group: AggregateQuery['group']): Map<string | number, LogMetrics[]> {
  const { from, to, scopes, models, values, ranges } = filter;
  const chosen = calls.filter(
    (call) =>
      call.created_at >= from &&
      call.created_at < to &&
      scopes.some(
        ({ workspaceId, userId }) =>
          (workspaceId ?? call.workspace_id) === call.workspace_id && (userId ?? call.user_id) === call.user_id,
      ) &&
      (!models || models.some(({ org, model }) => org === call.ai_org && model === call.ai_model)) &&
      (values?.response_status_code?.includes(String(call.response_status_code)) ?? true) &&
      call.cost >= (ranges?.cost?.min ?? 0),
  );
  const keyOf = (call: LogMetrics): string | number => {
    if (group.by === 'field') return call[group.field] ?? '';
    if (group.by !== 'time') return '';
    return group.edges.slice(0, -1).findLast((edge) => edge <= call.created_at) ?? group.edges[0] ?? 0;
  };
  return Map.groupBy(chosen, keyOf);
}

const sum = (list: readonly LogMetrics[], field: 'cost' | 'req_units' | 'res_units' | 'total_units') =>
  list.reduce((total, call) => total + call[field], 0);

function expectSame(row: Aggregate, list: readonly LogMetrics[]): void {
  expect(row.requests).toBe(list.length);
  expect(row.outcomes.reduce((total, { requests }) => total + requests, 0)).toBe(list.length);
  expect(row.cost).toBe(exactCents(sum(list, 'cost')));
  expect([row.reqUnits, row.resUnits, row.totalUnits]).toEqual([
    sum(list, 'req_units'),
    sum(list, 'res_units'),
    sum(list, 'total_units'),
  ]);
  const hits = list.filter(({ cache_status }) => cache_status === 'HIT');
  expect(row.savedBySimpleCache).toBe(hits.reduce((total, { saved_cost }) => total + (saved_cost ?? 0), 0));
  const times = list.map(({ created_at }) => created_at);
  expect([row.firstSeen, row.lastSeen]).toEqual(list.length === 0 ? [0, 0] : [Math.min(...times), Math.max(...times)]);
  const buckets = Map.groupBy(list, ({ response_time }) => bucketOf(response_time));
  expect(row.latencies).toEqual(latenciesFrom([...buckets].map(([bucket, { length }]) => [bucket, length] as const)));
  expect(row.users).toBe(new Set(list.map(({ metadata }) => metadata._user)).size);
}

const rollupsIn = (month: string): number => {
  const db = new Database(join(folder, `rows-${month}.db`), { readonly: true });
  const count = db.query<{ n: number }, []>('select count(*) as n from rollups').get()?.n ?? 0;
  db.close();
  return count;
};

function expectEverything(from: EmbeddedReader): void {
  for (const more of Object.values(filters)) {
    for (const group of Object.values(groups)) {
      const filter = { ...everything, ...more };
      const rows = from.aggregate({ filter, group, measures: ['latencies', 'users'] });
      const lists = expected(filter, group);
      for (const row of rows) expectSame(row, lists.get(row.key) ?? []);
      expect(rows.filter(({ requests }) => requests > 0)).toHaveLength(lists.size);
    }
  }
}

test('full blocks of rows are rolled up, the newest rows are not', () => {
  expect([rollupsIn('2026-05'), rollupsIn('2026-06')]).toEqual([1, 2]);
});

describe('sums from rollups are those of the rows', () => {
  for (const [name, more] of Object.entries(filters)) {
    for (const [by, group] of Object.entries(groups)) {
      test(`${name}, by ${by}`, () => {
        const filter = { ...everything, ...more };
        const rows = reader.aggregate({ filter, group, measures: ['latencies', 'users'] });
        const lists = expected(filter, group);
        for (const row of rows) expectSame(row, lists.get(row.key) ?? []);
        expect(rows.filter(({ requests }) => requests > 0)).toHaveLength(lists.size);
      });
    }
  }
});

test.each(Object.entries(filters))('a page of %s has its rows in order, and their number', (_, more) => {
  const filter = { ...everything, ...more };
  const all = expected(filter, { by: 'nothing' }).get('') ?? [];
  for (const descending of [true, false]) {
    const { total, rows } = reader.list({ filter, sort: 'created_at', descending, offset: 3, limit: 40 });
    expect(total).toBe(all.length);
    const ordered = all.toSorted((a, b) => (descending ? b.created_at - a.created_at : a.created_at - b.created_at));
    expect(rows.map(({ metrics }) => metrics.id)).toEqual(ordered.slice(3, 43).map(({ id }) => id));
  }
});

test('the values that a filter offers are those of the rows of its range', () => {
  const filter = { ...everything, from: start + 17 * minute, to: start + 2 * day + 11 * minute };
  const all = expected(filter, { by: 'nothing' }).get('') ?? [];
  const values = reader.values(filter);
  expect(values.ai_model).toEqual([...new Set(all.map(({ ai_model }) => ai_model))].sort());
  expect(values.response_status_code).toEqual([...new Set(all.map((call) => call.response_status_code))].sort());
  expect(values.metadataKeys).toEqual(['_user', 'environment']);
});

test('a file of an older release has no rollups: its rows are summed, until the daily run makes them', () => {
  for (const month of ['2026-05', '2026-06']) {
    const db = new Database(join(folder, `rows-${month}.db`));
    db.run('drop table rollups');
    db.run('drop table rollup_parts');
    db.run('drop index logs_span');
    db.close();
  }
  const before = new EmbeddedReader(folder);
  expectEverything(before);
  before.close();
  const writer = new EmbeddedWriter(folder, 1_000, 1);
  writer.purge(start, forever);
  writer.close();
  expect([rollupsIn('2026-05'), rollupsIn('2026-06')]).toEqual([1, 2]);
  const after = new EmbeddedReader(folder);
  expectEverything(after);
  after.close();
});

test('spans are found by an index', () => {
  const db = new Database(join(folder, 'rows-2026-06.db'), { readonly: true });
  const plan = db
    .query<{ detail: string }, []>("explain query plan select n from logs where span_id in ('a', 'b')")
    .all()
    .map(({ detail }) => detail);
  db.close();
  expect(plan.join()).toContain('logs_span');
});
