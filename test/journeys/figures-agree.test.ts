/** The same calls, told by the answers, the list of logs, graphs, groups, an export and the ledger of limits: all agree. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
beforeAll(async () => {
  let calls = 0;
  provider = await startProvider((call, response) => {
    calls++;
    if (calls % 7 === 0) return openai.serverError(call, response);
    const usage = { prompt_tokens: 100 + calls, completion_tokens: 10 * calls, total_tokens: 100 + 11 * calls };
    return json(200, { ...openai.completion('Hello'), usage })(call, response);
  });
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});

const sumOf = (rows: readonly Json[], field: string): number => rows.reduce((sum, row) => sum + Number(row[field]), 0);

test('requests, tokens and money are the same wherever they are told', async () => {
  const { gateway } = world;
  const workspace_id = (await gateway.get('/v1/workspaces')).body.data[0].id;
  const conditions = [{ key: 'metadata.run', value: 'agree' }];
  const policies = new Map<string, string>();
  for (const type of ['requests', 'tokens', 'cost']) {
    const policy = { workspace_id, conditions, type, credit_limit: 1_000_000 };
    policies.set(type, (await gateway.post('/v1/policies/usage-limits', policy)).body.id);
  }
  const told: Json[] = [];
  for (let n = 0; n < 30; n++) {
    const response = await world.call(
      '/v1/chat/completions',
      { model: '@a/gpt-4o-mini', messages: [{ role: 'user', content: `Call ${n}` }], max_tokens: 500 },
      { 'x-gw-metadata': JSON.stringify({ run: 'agree' }) },
    );
    const body: Json = await response.json();
    if (response.status === 200) told.push(body.usage);
  }
  await gateway.app.services.logs.settled();
  const tokens = sumOf(told, 'total_tokens');
  // 15 cents a million tokens that are asked, 60 a million that are answered; the API tells cents.
  const cents = sumOf(told, 'prompt_tokens') * 15e-6 + sumOf(told, 'completion_tokens') * 60e-6;

  const around = (hours: number) => new Date(gateway.clock.now().getTime() + hours * 3_600_000).toISOString();
  const range = `time_of_generation_min=${around(-1)}&time_of_generation_max=${around(1)}`;
  const filter = `workspace_id=${workspace_id}&${range}`;
  const { data: logs } = (await gateway.get(`/v1/logs?${filter}&page_size=100`)).body;
  expect(logs).toHaveLength(30);
  const graph = async (name: string) => (await gateway.get(`/v1/analytics/graphs/${name}?${filter}`)).body;
  const [requestGraph, tokenGraph, costGraph] = [await graph('requests'), await graph('tokens'), await graph('cost')];
  expect([requestGraph.summary.total, sumOf(requestGraph.data_points, 'total')]).toEqual([30, 30]);
  expect([tokenGraph.summary.total, sumOf(tokenGraph.data_points, 'total')]).toEqual([tokens, tokens]);
  expect(costGraph.summary.total).toBeCloseTo(cents, 9);
  expect(sumOf(costGraph.data_points, 'total')).toBeCloseTo(cents, 9);

  const groups = (await gateway.get(`/v1/analytics/groups/model?${filter}&columns=cost`)).body.data;
  expect(sumOf(groups, 'requests')).toBe(30);
  expect(sumOf(groups, 'cost')).toBeCloseTo(cents, 9);

  const made = await gateway.post('/v1/logs/exports', {
    workspace_id,
    filters: {},
    requested_data: ['id', 'cost', 'total_tokens'],
  });
  expect(made.status).toBe(200);
  await gateway.post(`/v1/logs/exports/${made.body.id}/start`);
  await gateway.app.jobs.runOnce('export-runner');
  const { signed_url } = (await gateway.get(`/v1/logs/exports/${made.body.id}/download`)).body;
  const exported = (await (await fetch(signed_url)).text())
    .trimEnd()
    .split('\n')
    .map((line): Json => JSON.parse(line));
  expect(exported).toHaveLength(30);
  expect(sumOf(exported, 'total_units')).toBe(tokens);
  expect(sumOf(exported, 'cost')).toBeCloseTo(cents, 9);

  const ledger = async (type: string): Promise<number> =>
    (await gateway.get(`/v1/policies/usage-limits/${policies.get(type)}/entities`)).body.data[0].current_usage;
  expect(await ledger('requests')).toBe(30);
  expect(await ledger('tokens')).toBe(tokens);
  expect(await ledger('cost')).toBeCloseTo(cents / 100, 8);
});
