/** Nitro mode: bodies that nobody here reads go through as they are; whatever would need reading is refused. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../gateway-deps.ts';
import * as openai from '../providers/openai.ts';
import { json, lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { rawCall } from '../raw-client.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane();
  provider = await startProvider(openai.says('fine'));
  plane.providers.set('a', savedProvider('a', { provider: 'openai', customHost: provider.url }));
  plane.providers.set('c', savedProvider('c', { provider: 'anthropic', customHost: provider.url }));
  const models = { allowAll: false, bySlug: new Map() };
  plane.providers.set('few', savedProvider('few', { provider: 'openai', customHost: provider.url, models }));
});
beforeEach(() => {
  provider.calls.length = 0;
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});
afterAll(async () => {
  await plane.stop();
  await provider.stop();
});

type Fields = Record<string, string>;

const ask = (path: string, body: string, headers: Fields = {}) =>
  rawCall(plane.url + path, {
    headers: {
      'x-gw-api-key': workspaceKey,
      'x-gw-nitro-mode': 'true',
      'x-gw-provider': '@a',
      'content-type': 'application/json',
      ...headers,
    },
    body: Buffer.from(body),
  });
const code = async (...asked: Parameters<typeof ask>) => {
  const { status, body } = await ask(...asked);
  return `${status} ${JSON.parse(body.toString()).error?.code ?? 'answered'}`;
};

describe('goes through unread', () => {
  const routes: [path: string, slug: string][] = [
    ['/v1/chat/completions', '@a'],
    ['/v1/embeddings', '@a'],
    ['/v1/responses', '@a'],
    ['/v1/messages', '@c'],
  ];
  test.each(routes)('%s of %s', async (path, slug) => {
    const odd = '{"model": "@nobody/looks", "n": 12345678901234567890, broken';
    await ask(path, odd, { 'x-gw-provider': slug });
    expect([lastCall(provider).body.toString(), lastCall(provider).headers['content-length']]).toEqual([
      odd,
      String(odd.length),
    ]);
  });

  test('and the answer is understood: streamed, billed, logged without the request', async () => {
    const question = JSON.stringify({ model: 'gpt-4o-mini', messages: [], stream: true });
    const { headers, body } = await ask('/v1/chat/completions', question);
    expect([headers['content-type'], headers['x-gw-cache-status']]).toEqual([
      'text/event-stream; charset=utf-8',
      'DISABLED',
    ]);
    expect(body.toString()).toEndWith('data: [DONE]\n\n');
    const record = (await plane.settled()).at(-1);
    expect(record?.metrics).toMatchObject({ total_units: 30, stream_mode: 1, ai_model: 'gpt-4o-mini' });
    expect(record?.bodies.request?.body).toBeNull();
  });

  test('with a config of one provider and nothing to do', async () => {
    const config = plane.saveConfig({ provider: '@a', request_timeout: 5_000, cache: 'simple' });
    expect(await code('/v1/chat/completions', '{}', { 'x-gw-provider': '', 'x-gw-config': config })).toBe(
      '200 answered',
    );
  });

  test('of any other value of the header nothing is heard', async () => {
    expect(await code('/v1/chat/completions', '{', { 'x-gw-nitro-mode': 'false' })).toBe('400 invalid_body');
  });
});

describe('is refused', () => {
  const configs: [what: string, config: object][] = [
    ['a strategy', { strategy: { mode: 'single' }, targets: [{ provider: '@a' }] }],
    ['retries', { provider: '@a', retry: { attempts: 1 } }],
    ['parameters to override', { provider: '@a', override_params: { a: 1 } }],
    ['default parameters', { provider: '@a', default_params: { a: 1 } }],
    ['parameters to drop', { provider: '@a', drop_params: ['a'] }],
    ['input guardrails', { provider: '@a', input_guardrails: ['some'] }],
  ];
  test.each(configs)('with %s', async (_, config) => {
    const headers = { 'x-gw-provider': '', 'x-gw-config': plane.saveConfig(config) };
    expect(await code('/v1/chat/completions', '{}', headers)).toBe('400 nitro_unsupported');
    expect(provider.calls).toEqual([]);
  });

  test('on other routes, for other bodies, and by providers of another dialect', async () => {
    expect(await code('/v1/images/generations', '{}')).toBe('400 nitro_unsupported');
    expect(await code('/v1/chat/completions', '', { 'content-type': 'multipart/form-data; boundary=x' })).toBe(
      '400 nitro_unsupported',
    );
    expect(await code('/v1/chat/completions', '{}', { 'x-gw-provider': '@c' })).toBe('400 nitro_unsupported');
    expect(await code('/v1/messages', '{}')).toBe('400 nitro_unsupported');
    expect(provider.calls).toEqual([]);
  });

  test('where only some models are allowed, and where only the model would name the provider', async () => {
    provider.script(json(200, {}));
    expect(await code('/v1/chat/completions', '{}', { 'x-gw-provider': '@few' })).toBe('403 model_not_allowed');
    expect(await code('/v1/chat/completions', '{"model":"@a/m"}', { 'x-gw-provider': '' })).toBe(
      '400 missing_provider',
    );
    expect(provider.calls).toEqual([]);
  });
});
