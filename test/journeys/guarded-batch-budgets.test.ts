/** Budgets of batches that a provider runs between guardrails: used-up ones refuse, and each answered row counts once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { grantableTo } from '../../src/identity/scopes.ts';
import { type Json, onEachEngine, startGateway } from '../harness.ts';
import { addKey, home, storeOf } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { answered, OpenAiBatches } from '../providers/openai-batches.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { redisInstalled, sharedRedis } from '../servers/redis.ts';
import { startWorld, type World } from '../world.ts';

const row = (id: string, content = 'hello') =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
  });

const title = 'budgets of a batch between guardrails';
onEachEngine(title, suite);
describe.if(redisInstalled)(`${title} (Redis)`, () =>
  suite(async (env = {}) =>
    startGateway({ REDIS_URL: (await sharedRedis()).url, LIMITS_STORE_TIMEOUT_MS: '30000', ...env }),
  ),
);

function suite(start: typeof startGateway): void {
  let provider: SimulatedProvider;
  let store: OpenAiBatches;
  let world: World;
  let config: string;

  beforeAll(async () => {
    provider = await startProvider();
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, {}, start);
    await world.gateway.app.jobs.stop();
    config = await world.saveConfig({
      provider: '@a',
      output_guardrails: [{ 'default.contains': { words: ['launch code'], operator: 'none' }, deny: true }],
    });
  });
  afterAll(async () => {
    await world.gateway.stopWithoutFaults();
    await provider.stop();
  });
  beforeEach(() => {
    store = new OpenAiBatches();
    provider.script(store.behaviour);
  });

  const tick = async () => {
    world.gateway.clock.advance({ seconds: 31 });
    await world.gateway.app.jobs.runOnce('managed-batches');
  };
  const workspaceId = async (): Promise<string> => (await world.gateway.get('/v1/workspaces')).body.data[0].id;
  const keyWith = async (usage_limits: object | null) => {
    const { organisationId, workspaceId } = await home(world.gateway);
    const key = await addKey(world.gateway, {
      organisationId,
      workspaceId,
      type: 'workspace-service',
      scopes: grantableTo('S'),
      name: 'Batches',
    });
    if (usage_limits) await world.gateway.put(`/v1/api-keys/${key.id}`, { usage_limits });
    const client = new OpenAI({
      apiKey: key.secret,
      baseURL: `${world.gateway.url}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'x-gw-config': config },
    });
    return { id: key.id, client };
  };
  const order = async (client: OpenAI, rows: string[]) => {
    const file = await client.files.create({ purpose: 'batch', file: await toFile(Buffer.from(rows.join('\n')), 'r') });
    const asked = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    return client.batches.create(asked);
  };
  const used = async (id: string): Promise<number> =>
    (await world.gateway.get(`/v1/api-keys/${id}/usage`)).body.data[0].current_usage;
  const answers = (asked: Json) =>
    answered(asked, openai.completion(asked.custom_id === 'bad' ? 'the launch code' : 'Fine.'));
  const tokensOfRow = openai.completion('').usage.total_tokens;

  test('each answered row counts once, a withheld one too, and a used-up budget refuses the next batch', async () => {
    const key = await keyWith({ type: 'tokens', credit_limit: 3 * tokensOfRow });
    const batch = await order(key.client, [row('one'), row('two'), row('bad')]);
    await tick();
    expect(await used(key.id)).toBe(0);
    store.end(store.id(1), answers);
    await tick();
    const counts = (await key.client.batches.retrieve(batch.id)).request_counts;
    expect(counts).toEqual({ total: 3, completed: 2, failed: 1 });
    expect(await used(key.id)).toBe(3 * tokensOfRow);
    expect(await order(key.client, [row('one')]).catch((fault) => fault.status)).toBe(412);
  });

  test('an interruption between rows counts and logs none of them twice', async () => {
    const { db } = storeOf(world.gateway);
    const key = await keyWith({ type: 'tokens', credit_limit: 1_000_000 });
    let batchId = '';
    const setStatus = (status: 'failed' | 'processing_post_request_guardrails') =>
      db.updateTable('managed_batches').set({ status }).where('id', '=', batchId).execute();
    const hook = await startProvider(async (call, response) => {
      await setStatus('failed');
      return json(200, { verdict: true })(call, response);
    });
    const watched = await world.saveConfig({
      provider: '@a',
      output_guardrails: [{ 'default.webhook': { webhookURL: `${hook.url}/judge` } }],
    });
    const client = key.client.withOptions({ defaultHeaders: { 'x-gw-config': watched } });
    batchId = (await order(client, [row('one'), row('two')])).id;
    await tick();
    store.end(store.id(1), answers);
    await tick();
    expect(await used(key.id)).toBe(2 * tokensOfRow);
    // As after a kill before it was written down how far the answers were checked.
    await db.updateTable('provider_batches').set({ answers_checked: 0 }).where('batch_id', '=', batchId).execute();
    await setStatus('processing_post_request_guardrails');
    await tick();
    expect((await client.batches.retrieve(batchId)).status).toBe('completed');
    expect(await used(key.id)).toBe(2 * tokensOfRow);
    const counter = db.selectFrom('limit_counters').select('settled').where('entity_id', '=', key.id);
    expect(await counter.execute()).toEqual([{ settled: 2 * tokensOfRow }]);
    const logged = (await world.records(batchId, 2)).filter(({ endpoint_type }) => endpoint_type === 'chatComplete');
    expect(logged).toHaveLength(2);
    await hook.stop();
  });

  test('a line that the provider wrote twice counts once', async () => {
    const key = await keyWith({ type: 'tokens', credit_limit: 1_000_000 });
    const batch = await order(key.client, [row('one'), row('two')]);
    await tick();
    store.end(store.id(1), (asked) => answers({ ...asked, custom_id: 'one' }));
    await tick();
    expect((await key.client.batches.retrieve(batch.id)).request_counts?.completed).toBe(1);
    expect(await used(key.id)).toBe(tokensOfRow);
  });

  test('money counts at the price of batches', async () => {
    const key = await keyWith({ type: 'cost', credit_limit: 10 });
    const batch = await order(key.client, [row('one')]);
    await tick();
    store.end(store.id(1), answers);
    await tick();
    const records = await world.records(batch.id, 1);
    const { cost } = records.find(({ endpoint_type }) => endpoint_type === 'chatComplete') ?? { cost: 0 };
    expect(cost).toBeGreaterThan(0);
    expect(await used(key.id)).toBeCloseTo(cost / 100, 12);
  });

  test('a used-up budget of the provider or of the workspace refuses a batch before it starts', async () => {
    const { gateway } = world;
    const key = await keyWith(null);
    const workspace = await workspaceId();
    const limit = { type: 'tokens', credit_limit: tokensOfRow };
    const spendAll = async () => {
      await order(key.client, [row('one')]);
      await tick();
      store.end(store.id(store.batches.size), answers);
      await tick();
    };
    expect((await gateway.put(`/v1/providers/a?workspace_id=${workspace}`, { usage_limits: limit })).status).toBe(200);
    await spendAll();
    const refusal = await order(key.client, [row('one')]).catch((fault) => fault);
    expect([refusal.status, refusal.message]).toEqual([412, expect.stringContaining('virtual key "a"')]);
    await gateway.put(`/v1/providers/a?workspace_id=${workspace}`, { usage_limits: null });
    expect((await gateway.put(`/v1/workspaces/${workspace}`, { usage_limits: [limit] })).status).toBe(200);
    await spendAll();
    const next = await order(key.client, [row('one')]).catch((fault) => fault);
    expect([next.status, next.message]).toEqual([412, expect.stringContaining('workspace')]);
    await gateway.put(`/v1/workspaces/${workspace}`, { usage_limits: null });
  });

  test('a row whose own budget is used up is refused, and others are sent', async () => {
    const workspace = await workspaceId();
    const policy = await world.gateway.post('/v1/policies/usage-limits', {
      workspace_id: workspace,
      conditions: [{ key: 'model', value: 'gpt-4o' }],
      type: 'tokens',
      credit_limit: tokensOfRow,
    });
    expect(policy.status).toBe(200);
    const key = await keyWith(null);
    const large = (id: string) => row(id).replace('gpt-4o-mini', 'gpt-4o');
    await order(key.client, [large('first')]);
    await tick();
    store.end(store.id(1), answers);
    await tick();
    const batch = await order(key.client, [large('over'), row('small')]);
    await tick();
    expect(store.rows(store.id(2)).map(({ custom_id }) => custom_id)).toEqual(['small']);
    store.end(store.id(2), answers);
    await tick();
    const done = await key.client.batches.retrieve(batch.id);
    const refused = JSON.parse(await (await key.client.files.content(done.error_file_id ?? '')).text());
    expect(refused).toMatchObject({ custom_id: 'over', response: { status_code: 412 } });
  });
}
