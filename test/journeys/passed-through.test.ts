/** Providers that are only passed through: the address, the key in its place, and nothing else of ours. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;

const basic = `Basic ${Buffer.from('sk-scenario-ai-secret:hush').toString('base64')}`;
const keys: Record<string, Record<string, string>> = {
  qdrant: { 'api-key': 'sk-qdrant-secret' },
  milvus: { authorization: 'Bearer sk-milvus-secret' },
  meshy: { authorization: 'Bearer sk-meshy-secret' },
  tripo3d: { authorization: 'Bearer sk-tripo3d-secret' },
  'scenario-ai': { authorization: basic },
};

beforeAll(async () => {
  provider = await startProvider(json(200, { result: [{ id: 1, score: 0.9 }] }));
  world = await startWorld({});
  for (const id of Object.keys(keys)) {
    await world.saveProvider(id, id, provider, {
      configurations: { custom_host: provider.url.replace('/v1', '/api'), scenario_api_secret: 'hush' },
    });
  }
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});

test.each(Object.keys(keys))('%s gets its key bare, and the body as it came', async (id) => {
  const body = '{"vector": [0.1,  0.2], "limit": 1}';
  const response = await world.call(
    '/v1/proxy/collections/c/points/search',
    null,
    { 'x-gw-provider': `@${id}` },
    { body },
  );
  expect((await response.json()) as unknown).toEqual({ result: [{ id: 1, score: 0.9 }] });
  const call = provider.calls.at(-1);
  expect(call).toMatchObject({ method: 'POST', path: '/api/collections/c/points/search', headers: keys[id] });
  expect(call?.body.toString()).toBe(body);
  expect(call?.headers['x-gw-api-key']).toBeUndefined();
});

test('what they do not offer is refused as such', async () => {
  const response = await world.call('/v1/embeddings', { model: '@qdrant/x', input: 'a' });
  expect(response.status).toBe(400);
  expect((await response.json()) as unknown).toMatchObject({ error: { code: 'unsupported_endpoint' } });
});
