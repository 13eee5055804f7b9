/** Limits on the way of a request: who refuses, in which words, and what is counted however a call ends. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { grantableTo } from '../../src/identity/scopes.ts';
import type { Json } from '../harness.ts';
import { addKey, type Home, home } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { redisInstalled, sharedRedis } from '../servers/redis.ts';
import { startWorld, type World } from '../world.ts';

const suite = (environment: () => Promise<Record<string, string>>, movesTime: boolean) => {
  let a: SimulatedProvider;
  let b: SimulatedProvider;
  let world: World;
  let place: Home;
  beforeAll(async () => {
    a = await startProvider(openai.says('Hello'));
    b = await startProvider(openai.says('From b'));
    world = await startWorld(
      { a: { provider: 'openai', simulated: a }, b: { provider: 'openai', simulated: b } },
      await environment(),
    );
    place = await home(world.gateway);
  });
  afterAll(async () => {
    await world.gateway.stopWithoutFaults();
    await a.stop();
    await b.stop();
  });
  beforeEach(() => {
    a.script(openai.says('Hello'));
    a.calls.length = 0;
    b.calls.length = 0;
  });

  const question = { model: '@a/gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 10 };
  const newKey = async (fields: object = {}): Promise<{ id: string; secret: string }> => {
    const { organisationId, workspaceId } = place;
    const key = await addKey(world.gateway, {
      organisationId,
      workspaceId,
      type: 'workspace-service',
      scopes: grantableTo('S'),
      name: `Key ${Bun.randomUUIDv7().slice(-6)}`,
    });
    if (Object.keys(fields).length > 0) {
      const changed = await world.gateway.put(`/v1/api-keys/${key.id}`, fields);
      expect(changed.status).toBe(200);
    }
    return key;
  };
  const call = async (key: { secret: string }, more: object = {}, headers: Record<string, string> = {}) => {
    const response = await world.call(
      '/v1/chat/completions',
      { ...question, ...more },
      { 'x-gw-api-key': key.secret, ...headers },
    );
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (text.startsWith('{') ? JSON.parse(text) : text) as Json,
    };
  };
  const policy = async (kind: 'rate' | 'usage', body: object): Promise<string> => {
    const made = await world.gateway.post(`/v1/policies/${kind}-limits`, { workspace_id: place.workspaceId, ...body });
    expect(made).toMatchObject({ status: 200 });
    return made.body.id;
  };
  const onlyFor = (key: { id: string }) => ({
    conditions: [{ key: 'api_key', value: key.id }],
    group_by: [{ key: 'api_key' }],
  });
  const used = async (kind: 'rate' | 'usage', id: string) =>
    (await world.gateway.get(`/v1/policies/${kind}-limits/${id}/entities`)).body.data.map(
      ({ current_usage, reserved }: Json) => ({ current_usage, reserved }),
    );

  test('a limit that is reached is told before what else is wrong with a request, which counts for nothing itself', async () => {
    const key = await newKey({ rate_limits: [{ type: 'requests', unit: 'rpm', value: 1 }] });
    const wrong = { 'x-gw-config': 'no-such-config' };
    expect(await call(key, {}, wrong)).toMatchObject({ status: 400, body: { error: { code: 'config_not_found' } } });
    // What it held is given back beside its answer; nobody waits for Redis to hear of it.
    let next = await call(key);
    while (next.status === 429) next = await call(key);
    expect(next).toMatchObject({ status: 200 });
    expect(await call(key, {}, wrong)).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
  });

  test('the third request of a minute that takes two is refused with 429, in words and headers that say when to come back', async () => {
    const key = await newKey({ rate_limits: [{ type: 'requests', unit: 'rpm', value: 2 }] });
    expect([(await call(key)).status, (await call(key)).status]).toEqual([200, 200]);
    const refused = await call(key);
    expect(refused).toMatchObject({
      status: 429,
      body: {
        status: 'failure',
        error: {
          type: 'rate_limit_error',
          code: 'rate_limit_exceeded',
          param: null,
          message: expect.stringMatching(
            /^Gateway error: rate limit exceeded for API key "Key .*": 2 requests per minute$/,
          ),
        },
      },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61);
    expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('2');
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(a.calls).toHaveLength(2);
    if (!movesTime) return;
    world.gateway.clock.advance({ minutes: 1 });
    expect((await call(key)).status).toBe(200);
  });

  test('a token budget is used as far as a call still fits, then refused with 412, and a raised one opens again', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 100 } });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await call(key)).status);
    expect(statuses).toEqual([200, 200, 200, 412]);
    const refused = await call(key);
    expect(refused.body.error).toMatchObject({ type: 'usage_limit_error', code: 'usage_limit_exceeded' });
    expect(refused.body.error.message).toContain('90/100 tokens, resets at never');
    const record = await world.gateway.get(`/v1/api-keys/${key.id}`);
    expect(record.body.usage_limits).toMatchObject({ current_usage: 90, status: 'active' });
    await world.gateway.put(`/v1/api-keys/${key.id}`, { usage_limits: { type: 'tokens', credit_limit: 200 } });
    expect((await call(key)).status).toBe(200);
    await world.gateway.put(`/v1/api-keys/${key.id}`, { reset_usage: true });
    expect((await world.gateway.get(`/v1/api-keys/${key.id}`)).body.usage_limits.current_usage).toBe(0);
  });

  test('a call that a provider refuses takes nothing from the key, and a fallback rescues it without a retry', async () => {
    const key = await newKey();
    const id = await policy('usage', { ...onlyFor(key), type: 'requests', credit_limit: 100 });
    const set = await world.gateway.put(`/v1/providers/a?workspace_id=${place.workspaceId}`, {
      rate_limits: [{ type: 'requests', unit: 'rpd', value: 1 }],
    });
    expect(set.status).toBe(200);
    expect((await call(key)).status).toBe(200);
    const refused = await call(key);
    expect(refused.status).toBe(429);
    expect(refused.body.error.message).toContain('rate limit exceeded for virtual key "a": 1 requests per day');
    expect(await used('usage', id)).toEqual([{ current_usage: 1, reserved: 0 }]);
    const config = await world.saveConfig({
      strategy: { mode: 'fallback' },
      retry: { attempts: 3, on_status_codes: [429] },
      targets: [{ provider: '@a' }, { provider: '@b' }],
    });
    const rescued = await call(key, { model: 'gpt-4o-mini' }, { 'x-gw-config': config });
    expect(rescued.text).toContain('From b');
    expect({ a: a.calls.length, b: b.calls.length }).toEqual({ a: 1, b: 1 });
    expect(await used('usage', id)).toEqual([{ current_usage: 2, reserved: 0 }]);
    await world.gateway.put(`/v1/providers/a?workspace_id=${place.workspaceId}`, { rate_limits: null });
  });

  test('money is counted to the billionth, also of streams, and nothing stays reserved', async () => {
    const key = await newKey();
    const id = await policy('usage', { ...onlyFor(key), type: 'cost', credit_limit: 0.001 });
    expect((await call(key)).status).toBe(200);
    expect((await call(key, { stream: true })).text).toContain('[DONE]');
    // 20 tokens at 15 cents and 10 at 60 cents a million, twice.
    expect(await used('usage', id)).toEqual([{ current_usage: 0.000018, reserved: 0 }]);
  });

  describe('what a call that does not succeed keeps', () => {
    const counted = async (act: (key: { secret: string }) => Promise<unknown>) => {
      const key = await newKey();
      const requests = await policy('usage', { ...onlyFor(key), type: 'requests', credit_limit: 100 });
      const tokens = await policy('usage', { ...onlyFor(key), type: 'tokens', credit_limit: 10_000 });
      await act(key);
      return { requests: await used('usage', requests), tokens: await used('usage', tokens) };
    };

    test('one that the provider refuses counts as a request and takes no tokens', async () => {
      a.script(openai.serverError);
      expect(await counted((key) => call(key))).toEqual({
        requests: [{ current_usage: 1, reserved: 0 }],
        tokens: [],
      });
    });

    test('a stream that fails before its first chunk takes no tokens', async () => {
      a.script(stream([]));
      expect(await counted((key) => call(key, { stream: true }))).toEqual({
        requests: [{ current_usage: 1, reserved: 0 }],
        tokens: [],
      });
    });

    test('a stream that breaks after it began gives nothing back', async () => {
      a.script(stream([openai.opening, openai.part('Hel')]));
      const { tokens } = await counted((key) => call(key, { stream: true }));
      expect(tokens[0].current_usage).toBeGreaterThanOrEqual(10);
      expect(tokens[0].reserved).toBe(0);
    });

    test('a client that leaves pays for what was produced and holds nothing', async () => {
      const left = await counted(async (key) => {
        a.script((_, provider) => {
          provider.writeHead(200, { 'content-type': 'text/event-stream' });
          provider.write(openai.opening + openai.part('Hello'.repeat(8)));
        });
        const abort = new AbortController();
        const response = await world.call(
          '/v1/chat/completions',
          { ...question, stream: true },
          { 'x-gw-api-key': key.secret },
          { signal: abort.signal },
        );
        const reader = response.body?.getReader();
        await reader?.read();
        abort.abort();
        const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
        expect(record?.response_status_code).toBe(499);
      });
      expect(left.requests).toEqual([{ current_usage: 1, reserved: 0 }]);
      expect(left.tokens[0].reserved).toBe(0);
      expect(left.tokens[0].current_usage).toBeGreaterThan(0);
    });
  });

  test('a usage policy counts each user apart; one is started anew, and an archived policy counts nobody', async () => {
    const key = await newKey();
    const id = await policy('usage', {
      conditions: [
        { key: 'metadata._user', value: '*' },
        { key: 'api_key', value: key.id },
      ],
      group_by: [{ key: 'metadata._user' }],
      type: 'requests',
      credit_limit: 2,
    });
    const as = async (user: string) =>
      (await call(key, {}, { 'x-gw-metadata': JSON.stringify({ _user: user }) })).status;
    expect([await as('ann'), await as('ann'), await as('ann'), await as('bob')]).toEqual([200, 200, 412, 200]);
    expect((await call(key)).status).toBe(200);
    const path = `/v1/policies/usage-limits/${id}/entities`;
    const { data } = (await world.gateway.get(path)).body;
    expect(data.map(({ value_key, status, remaining }: Json) => ({ value_key, status, remaining }))).toEqual([
      { value_key: 'metadata._user:bob', status: 'active', remaining: 1 },
      { value_key: 'metadata._user:ann', status: 'exhausted', remaining: 0 },
    ]);
    expect((await world.gateway.get(`${path}?status=exhausted&search=ANN`)).body.total).toBe(1);
    expect((await world.gateway.put(`${path}/${data[1].id}/reset`)).status).toBe(200);
    expect(await as('ann')).toBe(200);
    await world.gateway.put(`/v1/policies/usage-limits/${id}`, { reset_usage_for_value: 'ann' });
    expect([await as('ann'), await as('ann'), await as('ann')]).toEqual([200, 200, 412]);
    await world.gateway.put(`/v1/policies/usage-limits/${id}`, { credit_limit: 3 });
    expect(await as('ann')).toBe(200);
    expect(await as('ann')).toBe(412);
    await world.gateway.delete(`/v1/policies/usage-limits/${id}`);
    expect(await as('ann')).toBe(200);
  });

  test('a rate policy on one endpoint leaves the others alone, and is named', async () => {
    const key = await newKey();
    await policy('rate', {
      name: 'no embeddings',
      conditions: [
        { key: 'endpoint_type', value: 'embed' },
        { key: 'api_key', value: key.id },
      ],
      type: 'requests',
      unit: 'rpd',
      value: 1,
    });
    a.script(json(200, { object: 'list', data: [], model: 'm', usage: { prompt_tokens: 2, total_tokens: 2 } }));
    const embed = () =>
      world.call('/v1/embeddings', { model: '@a/text-embedding-3-small', input: 'x' }, { 'x-gw-api-key': key.secret });
    expect((await embed()).status).toBe(200);
    const refused = await embed();
    expect({ status: refused.status, text: await refused.text() }).toEqual({
      status: 429,
      text: expect.stringContaining('policy \\"no embeddings\\"'),
    });
    a.script(openai.says('Hello'));
    expect((await call(key)).status).toBe(200);
  });

  test('a policy on a model is asked once the target is chosen, and a free target with a paid fallback is checked again', async () => {
    const key = await newKey();
    await policy('usage', {
      name: 'b is closed',
      conditions: [
        { key: 'model', value: '@b/*' },
        { key: 'api_key', value: key.id },
      ],
      type: 'cost',
      credit_limit: 0,
    });
    expect((await call(key)).status).toBe(200);
    a.script(openai.serverError);
    const config = await world.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@a' }, { provider: '@b' }],
    });
    const refused = await call(key, { model: 'gpt-4o-mini' }, { 'x-gw-config': config });
    expect({ status: refused.status, b: b.calls.length }).toEqual({ status: 412, b: 0 });
    expect(refused.body.error.message).toContain('policy "b is closed"');
  });

  test('in shadow nothing is refused and everything is counted', async () => {
    const key = await newKey();
    const id = await policy('usage', { ...onlyFor(key), type: 'requests', credit_limit: 1, mode: 'shadow' });
    expect([(await call(key)).status, (await call(key)).status]).toEqual([200, 200]);
    expect(await used('usage', id)).toEqual([{ current_usage: 2, reserved: 0 }]);
  });

  test('a clamped budget lowers the token limit to what it can pay for', async () => {
    const key = await newKey();
    await policy('usage', { ...onlyFor(key), type: 'tokens', credit_limit: 200, clamp_max_tokens: true });
    await call(key, { max_tokens: 5_000 });
    expect(a.calls[0]?.json?.max_tokens).toBeWithin(100, 200);
    await call(key, { max_tokens: 20 });
    expect(a.calls[1]?.json?.max_tokens).toBe(20);
    const { max_tokens: _, ...unbounded } = question;
    const response = await world.call('/v1/chat/completions', unbounded, { 'x-gw-api-key': key.secret });
    expect(response.status).toBe(200);
    expect(a.calls[2]?.json?.max_completion_tokens).toBeWithin(1, 140);
  });

  test('a workspace, an integration and a passthrough are counted like everybody', async () => {
    const key = await newKey();
    const id = await policy('usage', { ...onlyFor(key), type: 'requests', credit_limit: 2 });
    const proxied = () =>
      world.call(
        '/v1/proxy/chat/completions',
        { ...question, model: 'gpt-4o-mini' },
        {
          'x-gw-api-key': key.secret,
          'x-gw-provider': '@a',
        },
      );
    expect([(await proxied()).status, (await proxied()).status, (await proxied()).status]).toEqual([200, 200, 412]);
    expect(await used('usage', id)).toEqual([{ current_usage: 2, reserved: 0 }]);
    const limits = { usage_limits: [{ type: 'tokens', credit_limit: 1 }] };
    await world.gateway.put(`/v1/workspaces/${place.workspaceId}`, limits);
    const other = await newKey();
    const refused = await call(other);
    expect(refused.status).toBe(412);
    expect(refused.body.error.message).toContain('usage limit exceeded for workspace "');
    await world.gateway.put(`/v1/workspaces/${place.workspaceId}`, { usage_limits: null });
    expect((await call(other)).status).toBe(200);
  });

  test('reading costs nothing, also with a budget that is used up', async () => {
    const key = await newKey();
    await policy('usage', { ...onlyFor(key), type: 'requests', credit_limit: 0 });
    expect((await call(key)).status).toBe(412);
    const models = await fetch(`${world.gateway.url}/v1/models`, { headers: { 'x-gw-api-key': key.secret } });
    expect(models.status).toBe(200);
  });
};

describe('limits (embedded)', () => suite(async () => ({}), true));
describe.if(redisInstalled)('limits (Redis)', () =>
  suite(async () => ({ REDIS_URL: (await sharedRedis()).url, LIMITS_STORE_TIMEOUT_MS: '30000' }), false),
);
