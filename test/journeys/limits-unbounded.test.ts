/** Calls that set no token limit: they are kept within what their limits have room for, and no limit is passed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { grantableTo } from '../../src/identity/scopes.ts';
import type { Json } from '../harness.ts';
import { addKey, type Home, home } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { type Behaviour, json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { redisInstalled, sharedRedis } from '../servers/redis.ts';
import { startWorld, type World } from '../world.ts';

const asked = 20;
/** What this model writes by itself; no more than it is allowed. */
const writes =
  (tokens: (question: string) => number): Behaviour =>
  (call, response) => {
    const allowed = call.json.max_completion_tokens ?? call.json.max_tokens ?? 32_768;
    const wanted = tokens(call.json.messages[0].content);
    const completion = Math.min(allowed, wanted);
    const usage = { prompt_tokens: asked, completion_tokens: completion, total_tokens: asked + completion };
    const finish_reason = completion < wanted ? 'length' : 'stop';
    if (!call.json.stream) {
      const whole = openai.completion('Hello');
      const [choice] = whole.choices;
      json(200, { ...whole, choices: [{ ...choice, finish_reason }], usage })(call, response);
      return;
    }
    const told = `data: ${JSON.stringify({ id: 'chatcmpl-Bq1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices: [], usage })}\n\n`;
    stream([openai.opening, openai.part('Hello'), openai.finish, told, openai.done])(call, response);
  };

const suite = (environment: () => Promise<Record<string, string>>) => {
  let provider: SimulatedProvider;
  let world: World;
  let place: Home;
  beforeAll(async () => {
    provider = await startProvider(writes(() => 100));
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, await environment());
    place = await home(world.gateway);
  });
  afterAll(async () => {
    await world.gateway.stopWithoutFaults();
    await provider.stop();
  });
  beforeEach(() => {
    provider.script(writes(() => 100));
    provider.calls.length = 0;
  });

  const limited = async (policy: object): Promise<{ id: string; secret: string; policy: string }> => {
    const { organisationId, workspaceId } = place;
    const key = await addKey(world.gateway, {
      organisationId,
      workspaceId,
      type: 'workspace-service',
      scopes: grantableTo('S'),
      name: 'Unbounded',
    });
    const made = await world.gateway.post('/v1/policies/usage-limits', {
      workspace_id: workspaceId,
      conditions: [{ key: 'api_key', value: key.id }],
      ...policy,
    });
    expect(made.status).toBe(200);
    return { ...key, policy: made.body.id };
  };
  const call = async (key: { secret: string }, question: string, more: object = {}) => {
    const response = await world.call(
      '/v1/chat/completions',
      { model: '@a/gpt-4.1', messages: [{ role: 'user', content: question }], ...more },
      { 'x-gw-api-key': key.secret },
    );
    return { status: response.status, text: await response.text() };
  };
  const used = async ({ policy }: { policy: string }): Promise<Json> =>
    (await world.gateway.get(`/v1/policies/usage-limits/${policy}/entities`)).body.data[0];

  test('1,000 at once, on a model that nobody has called before, never pass a token limit, and it can be used up', async () => {
    const limit = 400_000;
    const key = await limited({ type: 'tokens', credit_limit: limit });
    provider.script(writes((question) => (question.endsWith('7') ? 12_000 : 3_000)));
    const ask = async (n: number) =>
      (await call(key, `Question ${n}`, { model: '@a/gpt-4.1-mini', stream: n % 3 === 0 })).status;
    const statuses = await Promise.all(Array.from({ length: 1_000 }, (_, n) => ask(n)));
    expect(new Set(statuses)).toEqual(new Set([200, 412]));
    let refused = 0;
    for (let n = 0; refused < 3 && n < 500; n++) if ((await ask(n)) === 412) refused++;
    const { current_usage, reserved } = await used(key);
    expect(reserved).toBe(0);
    expect(current_usage).toBeLessThanOrEqual(limit);
    expect(current_usage).toBeGreaterThanOrEqual(0.95 * limit);
  }, 120_000);

  test('many at once never pass a limit on money', async () => {
    const limit = 0.1;
    const key = await limited({ type: 'cost', credit_limit: limit });
    provider.script(writes(() => 16_000));
    const statuses = await Promise.all(
      Array.from(
        { length: 200 },
        async (_, n) => (await call(key, `Question ${n}`, { model: '@a/gpt-4o-mini' })).status,
      ),
    );
    expect(statuses).toContain(412);
    const { current_usage, reserved } = await used(key);
    expect(reserved).toBe(0);
    expect(current_usage).toBeLessThanOrEqual(limit);
  }, 60_000);

  test('where there is room for the longest answer of the model, the body goes out as it came', async () => {
    const key = await limited({ type: 'tokens', credit_limit: 10_000_000 });
    await call(key, 'Hi');
    expect(provider.calls[0]?.json).not.toContainAnyKeys(['max_tokens', 'max_completion_tokens']);
  });

  test('where there is less, the token limit of the call says so, and one that the caller set stays', async () => {
    const key = await limited({ type: 'tokens', credit_limit: 3_000 });
    provider.script(writes(() => 50));
    await call(key, 'Hi');
    expect(provider.calls[0]?.json.max_completion_tokens).toBeWithin(256, 3_000);
    await call(key, 'Hi', { max_tokens: 12 });
    expect(provider.calls[1]?.json).toMatchObject({ max_tokens: 12 });
    expect(provider.calls[1]?.json.max_completion_tokens).toBeUndefined();
  });

  test('what is left is too little for an answer: refused, with a word on how to get one', async () => {
    const key = await limited({ type: 'tokens', credit_limit: 200 });
    const refused = await call(key, 'Hi');
    expect(refused.status).toBe(412);
    expect(refused.text).toContain('ask for fewer tokens');
    expect((await call(key, 'Hi', { max_tokens: 20 })).status).toBe(200);
  });

  test('an answer that the limit cut short is not kept for others', async () => {
    const key = await limited({ type: 'tokens', credit_limit: 3_000 });
    const config = await world.saveConfig({ cache: { mode: 'simple' } });
    const cached = async (secret: string) => {
      const response = await world.call(
        '/v1/chat/completions',
        { model: '@a/gpt-4.1-nano', messages: [{ role: 'user', content: 'A long story' }] },
        { 'x-gw-api-key': secret, 'x-gw-config': config },
      );
      return { status: response.headers.get('x-gw-cache-status'), body: (await response.json()) as Json };
    };
    provider.script(writes(() => 5_000));
    expect((await cached(key.secret)).body.choices[0].finish_reason).toBe('length');
    const whole = await cached(world.gateway.workspaceKey);
    expect(whole).toMatchObject({ status: 'MISS', body: { choices: [{ finish_reason: 'stop' }] } });
    expect((await cached(world.gateway.workspaceKey)).status).toBe('HIT');
  });
};

describe('calls without a token limit (embedded)', () => suite(async () => ({})));
describe.if(redisInstalled)('calls without a token limit (Redis)', () =>
  suite(async () => ({ REDIS_URL: (await sharedRedis()).url, LIMITS_STORE_TIMEOUT_MS: '30000' })),
);
