/** The provider called passthrough: a host to which unified routes go as they came too; and names that look like a saved provider's model. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { json, lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;

beforeAll(async () => {
  provider = await startProvider(json(418, { odd: 'answer' }));
  world = await startWorld({ a: { provider: 'openai', simulated: provider } }, { HEADER_PREFIX_ALIASES: 'x-acme-' });
  await world.gateway.put('/v1/admin/organisation/settings', {
    data_plane_security_settings: { block_inline_config: false },
  });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

describe('the provider called passthrough', () => {
  const ask = (path: string, headers: Record<string, string> = {}) =>
    world.call(
      path,
      { odd: 1, messages: [] },
      { 'x-gw-provider': 'passthrough', 'x-gw-custom-host': provider.url, 'x-own': 'yes', ...headers },
    );

  for (const path of ['/chat/completions', '/messages?beta=true', '/responses', '/embeddings', '/rerank', '/odd']) {
    test(`takes ${path} as it came`, async () => {
      const response = await ask(`/v1${path}`, { authorization: 'Bearer theirs' });
      expect([response.status, await response.json()]).toEqual([418, { odd: 'answer' }]);
      const { headers, path: asked, json: sent } = lastCall(provider);
      expect([asked, sent]).toEqual([`/v1${path}`, { odd: 1, messages: [] }]);
      expect([headers.authorization, headers['x-own']]).toEqual(['Bearer theirs', 'yes']);
      expect(Object.keys(headers).filter((name) => name.startsWith('x-gw-'))).toEqual([]);
    });
  }

  test('gets no credential that the client did not send', async () => {
    await ask('/v1/messages', { 'x-api-key': 'theirs' });
    const { headers } = lastCall(provider);
    expect([headers['x-api-key'], headers.authorization]).toEqual(['theirs', undefined]);
  });

  test('needs an address', async () => {
    const response = await ask('/v1/messages', { 'x-gw-custom-host': '' });
    expect([response.status, ((await response.json()) as Json).error.code]).toEqual([400, 'invalid_provider']);
  });
});

test.each(['@a', '@a/'])('the model %s names a provider and no model', async (model) => {
  const response = await world.call('/v1/chat/completions', { model, messages: [] });
  expect([response.status, ((await response.json()) as Json).error]).toEqual([
    400,
    expect.objectContaining({ code: 'invalid_body', field: 'model' }),
  ]);
  expect(provider.calls).toEqual([]);
});

test('a flag under another prefix for our headers counts like one under ours', async () => {
  const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
  for (const prefix of ['x-gw-', 'x-acme-']) {
    const headers = { [`${prefix}provider`]: '@a', [`${prefix}beta`]: 'use-responses-api-2026-07-30' };
    await world.call('/v1/messages', body, headers);
    expect(lastCall(provider).path).toBe('/v1/responses');
  }
});
