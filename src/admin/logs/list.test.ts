import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Json, startGateway, type TestGateway } from '../../../test/harness.ts';
import { jsonMessage, logRecord } from '../../../test/log-records.ts';
import { addKey, addOrganisation, addPerson, addWorkspace, home } from '../../../test/people.ts';
import type { LogMetrics } from '../../logs/record.ts';

let gateway: TestGateway;
let place: Awaited<ReturnType<typeof home>>;
let other: { id: string; slug: string };
const hour = 3_600_000;
const now = Date.now();

const append = (metrics: Partial<LogMetrics>, answer = 'Paris.'): string => {
  const record = logRecord(
    { organisation_id: place.organisationId, workspace_id: place.workspaceId, id: Bun.randomUUIDv7(), ...metrics },
    {
      request: jsonMessage({ messages: [{ role: 'user', content: 'What is the capital of France?' }] }),
      response: jsonMessage({ choices: [{ message: { content: answer } }] }),
    },
  );
  gateway.app.services.logs.append(record);
  return record.metrics.id;
};

beforeAll(async () => {
  gateway = await startGateway();
  place = await home(gateway);
  other = await addWorkspace(gateway, place.organisationId, 'Other');
  for (let at = 0; at < 30; at++) {
    append(
      {
        created_at: now - at * 10_000,
        ai_model: at % 2 === 0 ? 'gpt-4o' : 'gpt-4o-mini',
        cost: at / 8,
        user_id: at % 3 === 0 ? place.owner.userId : null,
        response_status_code: at % 5 === 4 ? 500 : 200,
        is_success: at % 5 !== 4,
        trace_id: `trace-${at}`,
      },
      `Answer ${at}`,
    );
  }
  append({ created_at: now - 48 * hour, trace_id: 'old' });
  append({ workspace_id: other.id, workspace_slug: other.slug, trace_id: 'elsewhere' });
  append({ organisation_id: Bun.randomUUIDv7(), trace_id: 'foreign' });
  await gateway.app.services.logs.settled();
});
afterAll(() => gateway.stopWithoutFaults());

const list = (query = '', key?: string) => gateway.get(`/v1/logs?${query}`, key === undefined ? {} : { key });
const traces = ({ body }: { body: Json }): string[] => body.data.map((row: Json) => row.trace_id);

describe('the list of calls', () => {
  test('shows the last day of every workspace, newest first, with the beginnings of what was said', async () => {
    const { status, body } = await list('page_size=2');
    expect([status, body.object, body.total]).toEqual([200, 'list', 31]);
    expect(body.data[1]).toMatchObject({
      trace_id: 'trace-0',
      prompt_preview: 'What is the capital of France?',
      answer_preview: 'Answer 0',
      organisation_name: expect.any(String),
    });
  });

  test('can be walked by its cursor, each call once', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await list(`page_size=7&order_by=cost&order_by_type=asc${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...body.data.map((row: Json) => row.id));
      cursor = body.next_cursor;
    }
    expect([seen.length, new Set(seen).size]).toEqual([31, 31]);
  });

  test('is narrowed by every filter', async () => {
    const ws = `workspace_slug=${(await gateway.get(`/v1/workspaces/${place.workspaceId}`)).body.slug}`;
    expect((await list(`${ws}&ai_model=gpt-4o&status_code=500`)).body.total).toBe(3);
    expect((await list(`${ws}&cost_min=1&cost_max=2`)).body.total).toBe(9);
    expect((await list(`${ws}&search=aNSWER%2012`)).body.total).toBe(1);
    expect((await list(`${ws}&metadata=${encodeURIComponent('{"_user":"anna"}')}&page_size=1`)).body.total).toBe(30);
    expect((await list(`${ws}&metadata=${encodeURIComponent('{"_user":"bob"}')}`)).body.total).toBe(0);
    expect(traces(await list('trace_id=trace-3,trace-4'))).toEqual(['trace-3', 'trace-4']);
    const long = 'x'.repeat(512);
    append({ trace_id: long, created_at: now - 25 * hour });
    await gateway.app.services.logs.settled();
    const longAgo = encodeURIComponent(new Date(now - 26 * hour).toISOString());
    expect(traces(await list(`trace_id=${long}&time_of_generation_min=${longAgo}`))).toEqual([long]);
    expect((await list(`${ws}&ai_org_model=openai__gpt-4o,anthropic__`)).body.total).toBe(15);
    const since = encodeURIComponent(new Date(now - 72 * hour).toISOString());
    expect((await list(`${ws}&time_of_generation_min=${since}`)).body.total).toBe(32);
  });

  test.each([
    ['a state that is none', 'status_code=abc', 'status_code.0'],
    ['a number that is none', 'cost_min=cheap', 'cost_min'],
    ['metadata that is no JSON', 'metadata={', 'metadata'],
    ['an order that is none', 'order_by=model', 'order_by'],
    ['a cursor that is none', 'cursor=abc', 'cursor'],
    [
      'a range that ends before it begins',
      'time_of_generation_min=2026-02-01T00:00:00Z&time_of_generation_max=2026-01-01T00:00:00Z',
      'time_of_generation_max',
    ],
    ['a range of years', 'time_of_generation_min=2020-02-01T00:00:00Z', 'time_of_generation_min'],
    ['costs that end before they begin', 'cost_min=2&cost_max=1', 'cost_max'],
    ['scores that end before they begin', 'weighted_feedback_min=1&weighted_feedback_max=0', 'weighted_feedback_max'],
    ['a page too deep', 'current_page=90000&page_size=500', 'current_page'],
  ])('refuses %s and names it', async (_, query, field) => {
    const { status, body } = await list(query);
    expect([status, body.data.errors?.[0]?.path]).toEqual([400, field]);
  });

  test('refuses the cursor of a list in another order', async () => {
    const { body } = await list('page_size=1&order_by=cost');
    expect((await list(`cursor=${body.next_cursor}`)).status).toBe(400);
  });
});

describe('who sees what', () => {
  const setting = async (changed: Record<string, boolean>) =>
    expect((await gateway.put('/v1/admin/organisation/settings', { security_settings: changed })).status).toBe(200);

  test('a workspace key sees its workspace alone, and may name no other', async () => {
    expect((await list('page_size=1', gateway.workspaceKey)).body.total).toBe(30);
    expect((await list(`workspace_slug=${other.slug}`, gateway.workspaceKey)).status).toBe(403);
    expect((await list('workspace_slug=nowhere')).status).toBe(404);
  });

  test("another tenant's admin sees nothing of it", async () => {
    const theirs = await addOrganisation(gateway);
    expect((await list('', theirs.adminKey)).body.total).toBe(0);
    expect((await gateway.get('/v1/logs/traces/trace-1', { key: theirs.adminKey })).status).toBe(404);
  });

  test('a member whose settings say so sees own calls alone, in lists and in sums', async () => {
    const { userId, session } = await addPerson(gateway, place.organisationId, 'member', {
      workspaces: { [place.workspaceId]: 'member' },
    });
    const key = await addKey(gateway, {
      ...place,
      type: 'workspace-user',
      userId,
      scopes: ['logs.list', 'analytics.view'],
    });
    append({ user_id: userId, trace_id: 'mine', created_at: now - 1 });
    await gateway.app.services.logs.settled();
    await setting({ membersViewAllData: false });
    for (const credential of [session, key.secret]) {
      expect(traces(await list('', credential))).toEqual(['mine']);
      const groups = await gateway.get('/v1/analytics/groups/model', { key: credential });
      expect(groups.body.data).toEqual([{ model: 'gpt-4o-mini', requests: 1, object: 'analytics-group' }]);
      expect((await gateway.get('/v1/logs/traces/trace-1', { key: credential })).status).toBe(404);
    }
    await setting({ membersViewAllData: true, membersViewLogs: false });
    const { body } = await list('page_size=1', session);
    expect(body.data[0]).not.toHaveProperty('prompt_preview');
    expect(await list('search=Answer', session)).toMatchObject({
      status: 403,
      body: { data: { errors: [{ location: 'query', path: 'search' }] } },
    });
    await setting({ membersViewLogMetadata: false });
    expect((await list('', session)).status).toBe(403);
    // Logs are hidden, analytics are not.
    const range = `time_of_generation_min=${new Date(now - 86_400_000).toISOString()}&time_of_generation_max=${new Date(now + 1_000).toISOString()}`;
    const counted = async (credential: string) =>
      (await gateway.get(`/v1/analytics/graphs/requests?${range}`, { key: credential })).body.summary?.total;
    expect(await counted(session)).toBe(31);
    await setting({ membersViewAllData: false });
    expect(await counted(session)).toBe(1);
    await setting({ membersViewAllData: true, membersViewAnalytics: false });
    expect((await gateway.get(`/v1/analytics/graphs/requests?${range}`, { key: session })).status).toBe(403);
    await setting({ membersViewAnalytics: true });
    await setting({ membersViewLogs: true, membersViewLogMetadata: true });
  });
});

test("an organisation's administrators count calls of logs that they may not see", async () => {
  const { session } = await addPerson(gateway, place.organisationId, 'admin');
  const settings = (on: boolean) =>
    gateway.put('/v1/admin/organisation/settings', { security_settings: { organisationAdminsViewLogMetadata: on } });
  await settings(false);
  expect((await list('', session)).status).toBe(403);
  expect((await gateway.get('/v1/analytics/groups/model', { key: session })).body.total).toBeGreaterThan(0);
  await settings(true);
});

test('a trace is read as a tree, with what it cost', async () => {
  const root = append({
    trace_id: 'tree',
    span_id: 'a',
    span_name: 'request',
    parent_span_id: '',
    cost: 1,
    total_units: 5,
  });
  const child = append({
    trace_id: 'tree',
    span_id: 'b',
    span_name: 'first target',
    parent_span_id: 'a',
    cost: 2,
    total_units: 6,
  });
  append({ trace_id: 'tree', span_id: 'c', parent_span_id: 'gone' });
  append({ trace_id: 'tree', span_id: 'd', parent_span_id: 'e' });
  append({ trace_id: 'tree', span_id: 'e', parent_span_id: 'd' });
  await gateway.app.services.logs.settled();
  const { body } = await gateway.get('/v1/logs/traces/tree');
  expect(body).toMatchObject({ object: 'trace', trace_id: 'tree' });
  expect(body.total_cost).toBeCloseTo(3 + 3 * 0.00036, 9);
  expect(body.spans).toHaveLength(5);
  expect(body.tree[0]).toEqual({
    span_id: 'a',
    span_name: 'request',
    log_ids: [root],
    children: [{ span_id: 'b', span_name: 'first target', log_ids: [child], children: [] }],
  });
  const depth = JSON.stringify(body.tree);
  for (const span of ['c', 'd', 'e']) expect(depth).toContain(`"span_id":"${span}"`);
  expect((await gateway.get('/v1/logs/traces/none')).status).toBe(404);
});

test('the values of a range are offered', async () => {
  const range = `time_of_generation_min=${new Date(now - hour).toISOString()}&time_of_generation_max=${new Date(now + hour).toISOString()}`;
  const { body } = await gateway.get(`/v1/logs/filter-values?${range}&trace_id=trace-0,trace-1`);
  expect(body).toMatchObject({
    object: 'filter-values',
    ai_models: ['gpt-4o', 'gpt-4o-mini'],
    status_codes: [200],
    metadata_keys: ['_user', 'environment'],
  });
});
