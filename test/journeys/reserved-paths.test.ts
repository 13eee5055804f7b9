/** Paths that belong to the service, built or not: none of them reaches a provider, and the answer says what to do. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { resources } from '../../src/admin/resources.ts';
import { reservedSegments } from '../../src/http/reserved-paths.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { rawCall } from '../raw-client.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;

beforeAll(async () => {
  provider = await startProvider(json(200, { ok: true }));
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
});
afterAll(async () => {
  await world.gateway.stopWithoutFaults();
  await provider.stop();
});
beforeEach(() => {
  provider.calls.length = 0;
});

const ask = async (path: string, method = 'POST', key = world.gateway.workspaceKey) => {
  const headers = { 'x-gw-api-key': key, 'x-gw-provider': '@a', 'content-type': 'application/json' };
  const {
    status,
    headers: told,
    body,
  } = await rawCall(world.gateway.url + path, {
    method,
    headers,
    ...(method !== 'GET' && { body: Buffer.from('{"secret":1}') }),
  });
  return { status, allow: told.allow, text: body.toString() };
};

test('no segment that is reserved reaches a provider, in any spelling and by any method', async () => {
  for (const segment of reservedSegments) {
    const spellings = [
      `/v1/${segment}/no/such/path/there`,
      `/v1/${segment.toUpperCase()}/no/such/path/there`,
      `/v1//${segment}/no/such/path/there`,
      `/v1/%${segment.charCodeAt(0).toString(16)}${segment.slice(1)}/no/such/path/there`,
      `/v1/v1/${segment}/no/such/path/there`,
    ];
    for (const path of spellings) {
      for (const method of ['POST', 'PROPFIND']) {
        const { status } = await ask(path, method);
        // SCIM asks for its own token first, and every path below an agent is the agent's.
        expect({ path, method, isRefused: [401, 404, 405].includes(status) }).toEqual({
          path,
          method,
          isRefused: true,
        });
      }
    }
  }
  expect(provider.calls).toEqual([]);
});

test('every administrative endpoint stands below a reserved segment', () => {
  const dataPlane = new Set(['batches']);
  const segments = resources
    .flatMap(({ endpoints }) => endpoints)
    .flatMap(({ path, aliases = [], atRoot }) => (atRoot ? [] : [path, ...aliases]))
    .map((path) => path.split('/')[1] ?? '');
  expect([...new Set(segments)].filter((name) => !reservedSegments.has(name) && !dataPlane.has(name))).toEqual([]);
});

test('an unknown path names the one that may have been meant', async () => {
  expect(await ask('/v1/workspaces/x/uesrs')).toMatchObject({ status: 404, text: expect.stringContaining('No route') });
  expect((await ask('/v1/confgs', 'GET', world.gateway.adminKey)).text).toContain('did you mean /v1/configs?');
  expect(await ask('/v1/workspace', 'GET', world.gateway.adminKey)).toMatchObject({
    status: 404,
    text: expect.stringContaining('did you mean /v1/workspaces?'),
  });
  expect((await ask('/v1/api-keys/organisation/servce')).text).toContain('/v1/api-keys');
});

test('a wrong method is answered 405 with those that are offered', async () => {
  expect(await ask('/v1/configs', 'DELETE')).toMatchObject({ status: 405, allow: 'GET, HEAD, POST' });
  expect(provider.calls).toEqual([]);
});

test('a provider has such a path behind /proxy/', async () => {
  expect((await ask('/v1/proxy/collections/c/points')).status).toBe(200);
  expect(provider.calls.map(({ path }) => path)).toEqual(['/v1/collections/c/points']);
});
