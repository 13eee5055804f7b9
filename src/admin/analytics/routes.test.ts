/** Graphs, groups and summaries over HTTP: their shapes, their sums, their refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Json, startGateway, type TestGateway } from '../../../test/harness.ts';
import { logRecord } from '../../../test/log-records.ts';
import { addOrganisation, home } from '../../../test/people.ts';
import { graphNames } from '../../logs/analytics/graphs.ts';
import type { LogMetrics } from '../../logs/record.ts';

let gateway: TestGateway;
let place: Awaited<ReturnType<typeof home>>;
const day = 86_400_000;
const now = Date.now();
const start = Math.floor((now - 9 * day) / day) * day;
const calls: Partial<LogMetrics>[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  place = await home(gateway);
  for (let at = 0; at < 200; at++) {
    const failed = at % 10 === 0;
    const hit = at % 8 === 1;
    calls.push({
      created_at: start + Math.floor(at / 20) * day + (at % 20) * 60_000,
      ai_model: at % 2 === 0 ? 'gpt-4o' : 'claude-sonnet',
      ai_org: at % 2 === 0 ? 'openai' : 'anthropic',
      api_key_id: Bun.randomUUIDv7(),
      cost: failed || at % 50 === 11 ? 0 : 0.125,
      cost_known: at % 50 !== 11,
      req_units: 10,
      res_units: at % 3,
      total_units: 10 + (at % 3),
      is_success: !failed,
      response_status_code: failed ? (at % 20 === 0 ? 503 : 429) : 200,
      response_time: hit ? 20 : 100 + at,
      cache_status: hit ? 'HIT' : at % 8 === 2 ? 'DISABLED' : 'MISS',
      saved_cost: hit ? 0.25 : 0,
      retry_success_count: at % 25 === 3 ? 2 : 0,
      mode: at % 40 === 7 ? 'fallback' : 'single',
      last_used_option_index: at % 40 === 7 ? 1 : 0,
      trace_id: `trace-${at}`,
      prompt_slug: at % 50 === 1 ? 'pp-greeting' : '',
      metadata: { _user: `user-${at % 6}` },
    });
  }
  for (const metrics of calls) {
    const where = { organisation_id: place.organisationId, workspace_id: place.workspaceId, workspace_slug: 'first' };
    gateway.app.services.logs.append(logRecord({ id: Bun.randomUUIDv7(), ...where, ...metrics }, {}));
  }
  await gateway.app.services.logs.saveFeedback(
    [7, -5, 9].map((value, at) => ({
      id: Bun.randomUUIDv7(),
      organisation_id: place.organisationId,
      workspace_id: place.workspaceId,
      trace_id: `trace-${at}`,
      value,
      weight: at === 2 ? 0.5 : 1,
      metadata: {},
      created_at: start + at * day + 1,
    })),
  );
  await gateway.app.services.logs.settled();
});
afterAll(() => gateway.stopWithoutFaults());

const iso = (ms: number) => new Date(ms).toISOString();
const range = `time_of_generation_min=${iso(start)}&time_of_generation_max=${iso(start + 10 * day)}`;
const graph = async (name: string, query = range, key?: string): Promise<Json> =>
  (await gateway.get(`/v1/analytics/graphs/${name}?${query}`, key ? { key } : {})).body;
const sum = (list: Json[], field: string): number => list.reduce((total, point) => total + point[field], 0);
const total = (field: 'cost' | 'total_units') => calls.reduce((all, call) => all + (call[field] ?? 0), 0);

describe('graphs', () => {
  test('sum up to what was logged, by days', async () => {
    const requests = await graph('requests');
    expect(requests.summary).toEqual({ total: 200 });
    expect(requests.data_points).toHaveLength(10);
    expect(requests.data_points[0]).toEqual({ timestamp: iso(start).replace('.000Z', 'Z'), total: 20 });
    const cost = await graph('cost');
    expect([cost.summary.total, sum(cost.data_points, 'total')]).toEqual([total('cost'), total('cost')]);
    expect([cost.summary.unpriced_requests, sum(cost.data_points, 'unpriced_requests')]).toEqual([4, 4]);
    expect(cost.summary.avg).toBe(total('cost') / 196);
    const tokens = await graph('tokens');
    expect([tokens.summary.total, tokens.summary.avg]).toEqual([total('total_units'), total('total_units') / 200]);
  });

  test('tell latencies, errors and rescues', async () => {
    const latency = await graph('latency');
    const times = calls.map((call) => call.response_time ?? 0).sort((a, b) => a - b);
    expect(latency.summary).toEqual({
      avg: times.reduce((all, time) => all + time, 0) / 200,
      p50: times[99],
      p90: times[179],
      p99: times[197],
    });
    expect((await graph('errors')).summary).toEqual({ total: 20 });
    expect((await graph('errors/rate')).summary).toEqual({ rate: 10 });
    expect((await graph('errors/stacks')).data_points[0].stats).toEqual([
      { response_status_code: 429, count: 1 },
      { response_status_code: 503, count: 1 },
    ]);
    expect(await graph('errors/status-codes')).toMatchObject({
      summary: { total_errors: 20, unique_error_codes: 2 },
      data_points: [
        { status_code: 429, count: 10 },
        { status_code: 503, count: 10 },
      ],
    });
    const rescued = await graph('requests/rescued');
    expect(rescued.summary).toEqual({ retry: 8, fallback: 5 });
    expect(rescued.data_points[0]).toMatchObject({ retry: [{ retry_success_count: 2, count: 1 }], fallback: 1 });
  });

  test('count users once, and what the cache saved', async () => {
    expect((await graph('users')).summary).toEqual({ total: 6 });
    expect((await graph('users/requests')).summary).toEqual({ total: 200, unique: 6, avg: 200 / 6 });
    const cache = await graph('cache/hit-rate');
    expect(cache.summary.total).toBe(25);
    expect(cache.summary.rate).toBeCloseTo((100 * 25) / 175, 9);
    expect(cache.data_points.at(-1).cumulative_simple_cache_savings).toBe(25 * 0.25);
    expect((await graph('cache/latency')).data_points[0].avg).toBe(20);
    const { body } = await gateway.get(`/v1/analytics/summary/cache?${range}`);
    expect(body.summary).toMatchObject({ hits: 25, avg_latency: 20, total_requests: 200 });
    expect(body.summary.cache_speedup).toBeGreaterThan(80);
  });

  test('of feedback count what was given', async () => {
    expect(await graph('feedbacks')).toMatchObject({ summary: { total: 3 } });
    expect((await graph('feedbacks/scores')).data_points.map((point: Json) => point.score)).toEqual([-5, 7, 9]);
    expect((await graph('feedbacks/weighted')).summary.avg).toBeCloseTo((7 - 5 + 4.5) / 2.5, 9);
    expect((await graph('feedbacks/ai-models')).data_points).toEqual([
      { ai_model: 'gpt-4o', total: 2, avg_weighted_feedback: (7 + 4.5) / 1.5 },
      { ai_model: 'claude-sonnet', total: 1, avg_weighted_feedback: -5 },
    ]);
  });

  test('stand on the clock of whoever asks, with empty spans in place', async () => {
    const query = `time_of_generation_min=${encodeURIComponent('2026-01-01T00:00:00+05:30')}&time_of_generation_max=${encodeURIComponent('2026-01-11T00:00:00+05:30')}`;
    const { summary, data_points } = await graph('requests', query);
    expect([summary.total, data_points.length]).toEqual([0, 10]);
    expect(data_points[1]).toEqual({ timestamp: '2026-01-02T00:00:00+05:30', total: 0 });
  });

  test.each(graphNames)('%s answers an empty range with zeros', async (name) => {
    const theirs = await addOrganisation(gateway);
    const { object, data_points } = await graph(name, range, theirs.adminKey);
    expect(object).toBe('analytics-graph');
    const figures = JSON.stringify(data_points.map(({ timestamp: _, ...point }: Json) => point));
    expect(figures).not.toMatch(/:[1-9]/);
  });

  test('refuse a range that is none, and a graph that is none', async () => {
    const backwards = `time_of_generation_min=${iso(now)}&time_of_generation_max=${iso(start)}`;
    for (const [query, field] of [
      [backwards, 'time_of_generation_max'],
      ['', 'time_of_generation_min'],
      [`${range}&api_key_ids=x`, 'api_key_ids.0'],
    ] as const) {
      const { status, body } = await gateway.get(`/v1/analytics/graphs/cost?${query}`);
      expect([status, body.data.errors[0].path]).toEqual([400, field]);
    }
  });
});

describe('groups', () => {
  const group = (path: string, query = '') => gateway.get(`/v1/analytics/groups/${path}?${query}`);

  test('show the count alone, and exactly the columns that are asked for', async () => {
    const plain = await group('model');
    expect(plain.body).toMatchObject({ object: 'list', total: 2 });
    expect(plain.body.data).toContainEqual({ model: 'gpt-4o', requests: 100, object: 'analytics-group' });
    const { body } = await group('ai_service', 'columns=cost,p95_latency&order_by=cost&order_by_type=asc');
    expect(body.data.map((row: Json) => Object.keys(row))).toEqual([
      ['ai_service', 'requests', 'cost', 'p95_latency', 'object'],
      ['ai_service', 'requests', 'cost', 'p95_latency', 'object'],
    ]);
    expect(sum(body.data, 'cost')).toBe(total('cost'));
    expect((await gateway.get('/v1/logs/groups/ai_service?columns=cost')).body.total).toBe(2);
    const unpriced = await group('ai_service', 'columns=unpriced_requests');
    expect(sum(unpriced.body.data, 'unpriced_requests')).toBe(4);
  });

  test('have every column of the seed', async () => {
    const columns =
      'cost,total_tokens,avg_tokens,avg_input_tokens,avg_output_tokens,avg_latency,p95_latency,p99_latency,success_rate,error_count,cache_hit_rate,last_seen,first_seen';
    const { body } = await group('workspace', `columns=${columns}`);
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      workspace: 'first',
      requests: 200,
      total_tokens: total('total_units'),
      success_rate: 90,
      error_count: 20,
      first_seen: iso(start),
    });
    expect(Object.keys(body.data[0])).toHaveLength(16);
  });

  test.each(['status_code', 'api_key', 'config', 'provider', 'prompt'])(
    'by %s leave out calls without a value',
    async (by) => {
      const { status, body } = await group(by);
      expect(status).toBe(200);
      expect(sum(body.data, 'requests')).toBe(by === 'prompt' ? 4 : by === 'api_key' ? 50 : 200);
    },
  );

  test('are cut into pages', async () => {
    const first = await group('api_key', 'page_size=3');
    const second = await group('api_key', 'page_size=3&current_page=1');
    expect([first.body.total, first.body.data.length]).toEqual([200, 3]);
    const keys = [...first.body.data, ...second.body.data].map((row: Json) => row.api_key);
    expect(new Set(keys).size).toBe(6);
  });

  test('in the forms of the reference product', async () => {
    const users = await group('users', range);
    expect(users.body.data).toHaveLength(6);
    expect(users.body.data[0]).toEqual({
      user: expect.any(String),
      requests: expect.any(String),
      cost: expect.any(String),
      object: 'analytics-group',
    });
    expect((await group('ai-models', range)).body.data[0]).toMatchObject({ requests: '100' });
    const metadata = await group('metadata/_user', range);
    expect(sum(metadata.body.data, 'requests')).toBe(200);
    expect(sum(metadata.body.data, 'requests_with_feedback')).toBe(3);
  });

  test('of workspaces are refused to a workspace key, and the field is named', async () => {
    const { status, body } = await gateway.get('/v1/analytics/groups/workspace', { key: gateway.workspaceKey });
    expect([status, body.data.errors]).toEqual([
      403,
      [{ location: 'path', path: 'groupBy', message: expect.any(String) }],
    ]);
  });

  test.each([
    ['columns=price', 'model', 'columns'],
    ['', 'colour', 'groupBy'],
    ['order_by=colour', 'model', 'order_by'],
  ])('refuse %s of %s', async (query, by, field) => {
    const { status, body } = await group(by, query);
    expect([status, body.data.errors[0].path]).toEqual([400, field]);
  });
});
