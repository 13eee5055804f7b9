import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  type Plane,
  rightsOf,
  savedProvider,
  startPlane,
  workspaceCaller,
  workspaceKey,
} from '../../../test/gateway-deps.ts';
import * as openai from '../../../test/providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';

let plane: Plane;
let upstream: SimulatedProvider;

beforeAll(async () => {
  upstream = await startProvider(openai.says('fine'));
  plane = startPlane({ settings: { headerPrefixAliases: ['x-acme-'] } });
  plane.providers.set('a', savedProvider('a', { customHost: upstream.url }));
});
afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.calls.length = 0;
});
/** Whatever else is tried here: the key has never travelled on. */
afterEach(() => {
  for (const call of upstream.calls) {
    expect(JSON.stringify([call.path, call.headers])).not.toContain(workspaceKey);
    expect(call.body.toString()).not.toContain(workspaceKey);
  }
});

const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [] });
const ask = (headers: Record<string, string>, path = '/v1/chat/completions') =>
  fetch(plane.url + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

describe('the key may come as', () => {
  const carriers: [string, Record<string, string>][] = [
    ['x-gw-api-key', { 'x-gw-api-key': workspaceKey }],
    ['x-gw-api-key under an alias', { 'x-acme-api-key': workspaceKey }],
    ['a bearer token', { authorization: `Bearer ${workspaceKey}` }],
    ['a bearer token in another case', { authorization: `bearer  ${workspaceKey}` }],
    ['x-api-key', { 'x-api-key': workspaceKey }],
    [
      'x-gw-api-key and once more as bearer token',
      { 'x-gw-api-key': workspaceKey, authorization: `Bearer ${workspaceKey}` },
    ],
    ['all of them at once', { 'x-gw-api-key': workspaceKey, authorization: workspaceKey, 'x-api-key': workspaceKey }],
  ];
  test.each(carriers)('%s', async (_, headers) => {
    const saved: Record<string, string> = { ...headers, 'x-gw-provider': '@a' };
    expect((await ask(saved)).status).toBe(200);
    expect((await ask(saved, '/v1/proxy/chat/completions')).status).toBe(200);
    const forwarding = { ...saved, 'x-gw-forward-headers': 'authorization,x-api-key,x-acme-api-key' };
    expect((await ask(forwarding)).status).toBe(200);
    expect(upstream.calls.map((call) => call.headers.authorization)).toEqual(
      Array.from({ length: 3 }, () => 'Bearer sk-a-secret'),
    );
  });

  test('our key, sent where a provider’s belongs, is no credential for it', async () => {
    const response = await ask({
      'x-gw-api-key': workspaceKey,
      authorization: `Bearer ${workspaceKey}`,
      'x-gw-provider': 'openai',
      'x-gw-custom-host': upstream.url,
    });
    expect(await response.json()).toMatchObject({ error: { code: 'missing_credential' } });
  });

  test('x-gw-api-key goes before the others, which then are the provider’s', async () => {
    const response = await ask({
      'x-gw-api-key': workspaceKey,
      authorization: 'Bearer sk-mine',
      'x-gw-provider': 'openai',
      'x-gw-custom-host': upstream.url,
    });
    expect(response.status).toBe(200);
    expect(upstream.calls[0]?.headers.authorization).toBe('Bearer sk-mine');
  });
});

describe('refused', () => {
  const refused = async (headers: Record<string, string>) => {
    const response = await ask(headers);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test('no key at all: 401', async () => {
    expect(await refused({})).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
  });

  test('an unknown key: 401, naming the header that carried it', async () => {
    expect(await refused({ authorization: 'Bearer nobody' })).toMatchObject({
      status: 401,
      body: { error: { code: 'invalid_api_key', field: 'authorization' } },
    });
  });

  test('an admin key: 403', async () => {
    plane.callers.set('admin', workspaceCaller({ kind: 'admin-key', workspaceId: null }));
    expect(await refused({ 'x-gw-api-key': 'admin' })).toMatchObject({
      status: 403,
      body: { success: false, data: { errorCode: 'AB03' }, error: { code: 'key_type_not_allowed' } },
    });
  });

  test('a key without the scope: 403 in the control plane’s form', async () => {
    plane.callers.set('reader', workspaceCaller({ rights: rightsOf('logs.view') }));
    expect(await refused({ 'x-gw-api-key': 'reader' })).toMatchObject({
      status: 403,
      body: { success: false, data: { errorCode: 'AB03' }, error: { code: 'insufficient_scope' } },
    });
  });

  test('a key whose workspace is gone: 401', async () => {
    const rights = { ...rightsOf(), everyWorkspace: new Set(['completions.write'] as const) };
    plane.callers.set('orphan', workspaceCaller({ workspaceId: 'gone', rights }));
    expect(await refused({ 'x-gw-api-key': 'orphan' })).toMatchObject({ status: 401 });
  });
});

test('models may be listed with the right to list providers', async () => {
  plane.callers.set('lister', workspaceCaller({ rights: rightsOf('virtual_keys.list') }));
  const models = await fetch(`${plane.url}/v1/models`, { headers: { 'x-gw-api-key': 'lister' } });
  expect(models.status).toBe(200);
});

describe('our key in the query of a call that passes through', () => {
  const key = { 'x-gw-api-key': workspaceKey, 'x-gw-provider': '@a' };
  const queries: [string, string][] = [
    [`?api_key=${workspaceKey}`, ''],
    [`?a=%20b&key=${workspaceKey}&c=d+e`, '?a=%20b&c=d+e'],
    [`?key=${encodeURIComponent(`Bearer ${workspaceKey}`)}&x`, '?x'],
    ['?a=100%&b=', '?a=100%&b='],
  ];
  test.each(queries)('%s goes on as "%s"', async (sent, passed) => {
    expect((await ask(key, `/v1/proxy/chat/completions${sent}`)).status).toBe(200);
    expect(upstream.calls.map(({ path }) => path.slice(path.indexOf('completions') + 'completions'.length))).toEqual([
      passed,
    ]);
  });
});
