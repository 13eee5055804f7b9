/** What every log store must do; each engine runs it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mergeLatencies, noLatencies, percentiles } from '../src/logs/latency.ts';
import type { Aggregate, GroupField, LogFilter, LogQueries } from '../src/logs/query.ts';
import type { LogMetrics, LogRecord } from '../src/logs/record.ts';
import { framesIn } from '../src/logs/segment.ts';
import type { LogWriter } from '../src/logs/store.ts';
import { filterCases } from './log-filter-cases.ts';
import { segmentOf } from './log-records.ts';
import { hookResultsOf, hour, models, sampleRecords, start } from './sample-log-records.ts';

export interface OpenLogStore {
  writer: LogWriter;
  queries: LogQueries;
  close(): Promise<void>;
}

const everything: LogFilter = {
  organisationId: 'organisation-1',
  scopes: [{ workspaceId: null, userId: null }],
  from: start,
  to: start + 40 * 24 * hour,
};

const sum = (
  records: readonly LogMetrics[],
  field: 'cost' | 'total_units' | 'req_units' | 'res_units' | 'response_time',
) => records.reduce((total, record) => total + record[field], 0);

export function logStoreSuite(open: () => Promise<OpenLogStore>): void {
  // More than one chunk of columns in the first month.
  const records = sampleRecords(6_500);
  const metrics = records.map((record) => record.metrics);
  let store: OpenLogStore;
  const list = (filter: Partial<LogFilter>, more: object = {}) =>
    store.queries.list({
      filter: { ...everything, ...filter },
      sort: 'created_at',
      descending: true,
      offset: 0,
      limit: 20,
      ...more,
    });
  const total = async (filter: Partial<LogFilter>) => (await list(filter, { limit: 1 })).total;
  const segmentAt = (from: number, to: number) => {
    const batches: LogRecord[][] = [];
    for (let at = from; at < to; at += 16) batches.push(records.slice(at, Math.min(to, at + 16)));
    return segmentOf(...batches);
  };

  beforeAll(async () => {
    store = await open();
    for (const [from, to] of [
      [0, 4_000],
      [4_000, 6_500],
    ] as const) {
      await store.writer.write(framesIn(segmentAt(from, to)), `segment-${from}`);
    }
    // A segment whose deletion failed comes again.
    await store.writer.write(framesIn(segmentAt(4_000, 6_500)), 'segment-4000');
    await store.queries.saveFeedback(
      [0, 1, 2, 3].map((at) => ({
        id: `00000000-0000-4000-8000-00000000000${at}`,
        organisation_id: 'organisation-1',
        workspace_id: 'workspace-1',
        trace_id: `trace-${10 + Math.floor(at / 2)}`,
        value: [10, 4, -10, -6][at] ?? 0,
        weight: at === 1 ? 0.5 : 1,
        metadata: { _user: 'anna' },
        created_at: start + at * 24 * hour,
      })),
    );
  });
  afterAll(() => store.close());

  describe('a record', () => {
    test('has every field it was written with, and its bodies', async () => {
      const record = records[4_321];
      const found = await store.queries.find(record?.metrics.id ?? '');
      expect(found?.metrics).toEqual({
        ...record?.metrics,
        cost: Number(record?.metrics.cost.toFixed(9)),
      } as LogMetrics);
      expect(JSON.parse(Buffer.from(found?.bodies.response?.body ?? []).toString())).toEqual({
        choices: [{ message: { content: 'Answer 4321 with the word zebra1' } }],
      });
      expect(found?.bodies.hookResults).toBeUndefined();
      expect(found?.bodies.request?.headers).toEqual({ 'content-type': 'application/json' });
    });

    test('has what guardrails said of it', async () => {
      const found = await store.queries.find(records[4_320]?.metrics.id ?? '');
      expect(found?.metrics.guardrails).toEqual({ verdict: true, denied: false, soft_denied: false });
      expect(JSON.parse(Buffer.from(found?.bodies.hookResults?.body ?? []).toString())).toEqual(hookResultsOf(4_320));
    });

    test('that nobody wrote is not found', async () => {
      expect(await store.queries.find(Bun.randomUUIDv7())).toBeNull();
    });
  });

  describe('a list', () => {
    test('is sorted newest first, counts all, and shows the beginnings of what was said', async () => {
      const page = await list({});
      expect(page.total).toBe(6_500);
      expect(page.rows.map((row) => row.metrics.id)).toEqual(
        metrics
          .slice(-20)
          .reverse()
          .map(({ id }) => id),
      );
      expect(page.rows[0]).toMatchObject({
        promptPreview: 'Question number 6499, Ünïcode',
        answerPreview: 'Answer 6499 with the word zebra19',
      });
    });

    test.each(['created_at', 'cost', 'total_units', 'response_time'] as const)(
      'by %s can be walked by offset and by cursor, both ways, each row once',
      async (sort) => {
        for (const descending of [true, false]) {
          const filter = { values: { response_status_code: ['500'] } };
          const seen: string[] = [];
          const byOffset: string[] = [];
          const values: number[] = [];
          for (let offset = 0; ; offset += 250) {
            const last = seen.at(-1);
            const value = values.at(-1);
            const after = last !== undefined && value !== undefined ? { after: { value, id: last } } : {};
            const { rows } = await list(filter, { sort, descending, limit: 250, ...after });
            const page = await list(filter, { sort, descending, limit: 250, offset });
            byOffset.push(...page.rows.map((row) => row.metrics.id));
            seen.push(...rows.map((row) => row.metrics.id));
            values.push(...rows.map((row) => row.metrics[sort]));
            if (rows.length === 0) break;
          }
          const expected = metrics.filter((record) => record.response_status_code === 500);
          expect(seen).toEqual(byOffset);
          expect(new Set(seen)).toEqual(new Set(expected.map(({ id }) => id)));
          const ordered = values.toSorted((a, b) => (descending ? b - a : a - b));
          expect(values).toEqual(ordered);
        }
      },
    );

    for (const [name, filter, matches] of filterCases) {
      test(`of ${name} holds exactly the rows that match`, async () => {
        const expected = metrics.filter(matches);
        expect(await total(filter)).toBe(expected.length);
        const { rows } = await list(filter);
        expect(rows.map((row) => row.metrics.id)).toEqual(
          expected
            .slice(-20)
            .reverse()
            .map(({ id }) => id),
        );
      });
    }
  });

  describe('sums', () => {
    const expectSums = (row: Aggregate | undefined, expected: readonly LogMetrics[]) => {
      expect(row?.requests).toBe(expected.length);
      expect(row?.cost).toBeCloseTo(sum(expected, 'cost'), 9);
      expect(row?.totalUnits).toBe(sum(expected, 'total_units'));
      expect(row?.reqUnits).toBe(sum(expected, 'req_units'));
      expect(row?.resUnits).toBe(sum(expected, 'res_units'));
      const errors = row?.outcomes.filter(({ success }) => !success).reduce((n, { requests }) => n + requests, 0);
      expect(errors).toBe(expected.filter(({ is_success }) => !is_success).length);
      const latency = row?.outcomes.reduce((all, outcome) => all + outcome.latency, 0);
      expect(latency).toBeCloseTo(sum(expected, 'response_time'), 3);
      const unpriced = row?.outcomes.filter(({ costKnown }) => !costKnown).reduce((n, { requests }) => n + requests, 0);
      expect(unpriced).toBe(expected.filter(({ cost_known }) => !cost_known).length);
    };

    test('over all rows, with percentiles, users and savings', async () => {
      const [row] = await store.queries.aggregate({
        filter: everything,
        group: { by: 'nothing' },
        measures: ['latencies', 'users'],
      });
      expectSums(row, metrics);
      expect(row).toMatchObject({ users: 17, firstSeen: metrics[0]?.created_at, lastSeen: metrics.at(-1)?.created_at });
      const times = metrics.map(({ response_time }) => Math.floor(response_time + 0.5)).sort((a, b) => a - b);
      const rank = (level: number) => times[Math.ceil((level / 100) * times.length) - 1] ?? 0;
      const [p50 = 0, p99 = 0] = percentiles(row?.latencies ?? noLatencies, [50, 99]);
      expect(Math.abs(p50 - rank(50))).toBeLessThanOrEqual(rank(50) / 1_000);
      expect(Math.abs(p99 - rank(99))).toBeLessThanOrEqual(rank(99) / 1_000);
      expect(row?.savedBySimpleCache).toBe(metrics.filter((r) => r.cache_status === 'HIT').length / 2);
      expect(row?.savedBySemanticCache).toBe(metrics.filter((r) => r.cache_status === 'SEMANTIC HIT').length / 2);
    });

    test('by spans of time are there for empty spans too, and make up the whole', async () => {
      const edges = [...Array.from({ length: 41 }, (_, day) => start + day * 24 * hour)];
      const rows = await store.queries.aggregate({
        filter: everything,
        group: { by: 'time', edges },
        measures: ['latencies'],
      });
      expect(rows.map(({ key }) => key)).toEqual(edges.slice(0, -1));
      rows.forEach((row, day) => {
        const [from = 0, to = 0] = edges.slice(day, day + 2);
        expectSums(
          row,
          metrics.filter((record) => record.created_at >= from && record.created_at < to),
        );
      });
      const [whole] = await store.queries.aggregate({
        filter: everything,
        group: { by: 'nothing' },
        measures: ['latencies'],
      });
      expect(mergeLatencies(rows.map((row) => row.latencies))).toEqual(whole?.latencies ?? noLatencies);
    });

    test.each([
      ['ai_model', (r: LogMetrics) => r.ai_model],
      ['response_status_code', (r: LogMetrics) => r.response_status_code],
      ['workspace_slug', (r: LogMetrics) => r.workspace_slug],
      ['prompt_slug', (r: LogMetrics) => r.prompt_slug],
    ] as [GroupField, (record: LogMetrics) => string | number][])(
      'by %s, without rows that have none',
      async (field, keyOf) => {
        const rows = await store.queries.aggregate({ filter: everything, group: { by: 'field', field } });
        const keys = new Set(metrics.map(keyOf).filter((key) => key !== ''));
        expect(new Set(rows.map(({ key }) => key))).toEqual(keys);
        for (const row of rows)
          expectSums(
            row,
            metrics.filter((record) => keyOf(record) === row.key),
          );
      },
    );

    test('by a metadata key, with the feedback on their traces', async () => {
      const rows = await store.queries.aggregate({
        filter: everything,
        group: { by: 'metadata', key: 'environment' },
        measures: ['feedback'],
      });
      expect(rows.map(({ key }) => key).sort()).toEqual(['prod', 'staging']);
      for (const row of rows)
        expectSums(
          row,
          metrics.filter((record) => record.metadata.environment === row.key),
        );
      // The first call of trace 10 is of another workspace than its feedback.
      expect(Object.fromEntries(rows.map(({ key, feedback }) => [key, feedback]))).toEqual({
        prod: { requests: 1, weighted: -16, weight: 2 },
        staging: { requests: 2, weighted: 12 - 16, weight: 3.5 },
      });
    });

    test('say how calls were rescued', async () => {
      const [row] = await store.queries.aggregate({ filter: everything, group: { by: 'nothing' } });
      const rescued = row?.outcomes.filter(({ success, retry }) => success && retry > 0) ?? [];
      expect(rescued.reduce((n, { requests }) => n + requests, 0)).toBe(
        metrics.filter((record) => record.is_success && record.retry_success_count > 0).length,
      );
      const byFallback = row?.outcomes.filter(({ success, fallback }) => success && fallback) ?? [];
      expect(byFallback.reduce((n, { requests }) => n + requests, 0)).toBe(
        metrics.filter((record) => record.is_success && record.mode === 'fallback').length,
      );
    });
  });

  test('offers the values that the rows of a range have', async () => {
    const values = await store.queries.values({ ...everything, values: { api_key_id: ['key-1'] } });
    expect(values).toEqual({
      ai_org: ['anthropic', 'openai'],
      ai_model: models.toSorted(),
      virtual_key: ['openai-main'],
      config: ['pc-main'],
      api_key_id: ['key-1'],
      prompt_slug: [],
      response_status_code: [200, 429, 500],
      metadataKeys: ['_user', 'environment'],
    });
    expect((await store.queries.values({ ...everything, from: start - hour, to: start })).ai_org).toEqual([]);
  });

  test('the traces that are there are told, within a workspace and a range', async () => {
    const traceIds = ['trace-0', 'trace-1', 'trace-3000', records[1]?.metrics.id ?? '', 'nobody'];
    const within = async (filter: Partial<LogFilter>) =>
      (await store.queries.traces({ ...everything, traceIds, ...filter })).toSorted();
    expect(await within({})).toEqual(['trace-0', 'trace-1', 'trace-3000']);
    expect(await within({ scopes: [{ workspaceId: 'workspace-3', userId: null }] })).toEqual([]);
    expect(await within({ from: start + 24 * hour })).toEqual(['trace-3000']);
    expect(await within({ traceIds: [] })).toEqual([]);
  });

  describe('feedback', () => {
    test('is found, and a later state replaces it', async () => {
      const id = '00000000-0000-4000-8000-00000000000f';
      const given = {
        id,
        organisation_id: 'organisation-9',
        workspace_id: 'workspace-9',
        trace_id: 'trace-9',
        value: 1,
        weight: 1,
        metadata: {},
        created_at: start,
      };
      await store.queries.saveFeedback([given]);
      const changed = { ...given, value: -3, weight: 0.25, metadata: { note: 'worse' } };
      await Bun.sleep(2);
      await store.queries.saveFeedback([changed]);
      expect(await store.queries.findFeedback(id)).toEqual(changed);
      expect(await store.queries.feedbackOnTrace('workspace-9', 'trace-9')).toEqual([changed]);
      expect(await store.queries.feedbackOnTrace('workspace-8', 'trace-9')).toEqual([]);
      expect(await store.queries.findFeedback(Bun.randomUUIDv7())).toBeNull();
    });

    test('on a trace of another workspace does not count where the ids are the same', async () => {
      // Both workspaces have calls in it.
      const trace = { traceIds: ['trace-20'] };
      const given = {
        id: '00000000-0000-4000-8000-0000000000ff',
        organisation_id: 'organisation-1',
        workspace_id: 'workspace-2',
        trace_id: 'trace-20',
        value: -9,
        weight: 1,
        metadata: {},
        created_at: start - 1,
      };
      await store.queries.saveFeedback([given]);
      const { rows } = await list({ ...trace, feedback: { max: -8 } });
      expect(rows.map(({ metrics: row }) => row.workspace_id)).toEqual(['workspace-2']);
      const groups = await store.queries.aggregate({
        filter: { ...everything, ...trace },
        group: { by: 'field', field: 'workspace_slug' },
        measures: ['feedback'],
      });
      expect(groups.map(({ key, feedback }) => [key, feedback.requests]).toSorted()).toEqual([
        ['first', 0],
        ['second', 1],
      ]);
      const within = { ...everything, from: start - 2 };
      const [first] = await store.queries.feedback(within);
      expect(first).toMatchObject({ value: -9, model: metrics[40]?.ai_model });
      const elsewhere = { ...within, scopes: [{ workspaceId: 'workspace-1', userId: null }] };
      expect((await store.queries.feedback(elsewhere)).map(({ value }) => value)).not.toContain(-9);
    });

    test('is counted by when it was given and by the calls of its trace', async () => {
      const counted = await store.queries.feedback(everything);
      expect(counted.map(({ value, weight }) => [value, weight])).toEqual([
        [10, 1],
        [4, 0.5],
        [-10, 1],
        [-6, 1],
      ]);
      expect(counted.every(({ model }) => models.includes(model))).toBe(true);
      const later = await store.queries.feedback({ ...everything, from: start + 36 * hour });
      expect(later.map(({ value }) => value)).toEqual([-10, -6]);
      expect(await store.queries.feedback({ ...everything, values: { response_status_code: ['418'] } })).toEqual([]);
    });
  });
}
