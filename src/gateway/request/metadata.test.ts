import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane, workspaceCaller, workspaceKey } from '../../../test/gateway-deps.ts';

let plane: Plane;

beforeAll(() => {
  plane = startPlane({ settings: { headersToMetadata: ['x-team', 'x-env'] } });
  plane.providers.set('s', savedProvider('s', { provider: 'sandbox', credential: null }));
});
afterAll(() => plane.stop());
beforeEach(() => {
  plane.metadata = {};
  plane.settings = { ...plane.settings, user_attribution: { enabled: false, allow_override: false } };
  plane.callers.set(workspaceKey, workspaceCaller());
});

const keyDefaults = (metadata: Record<string, string>, userName: string | null = null) =>
  plane.callers.set(
    workspaceKey,
    workspaceCaller({ defaults: { configId: null, allowConfigOverride: true, metadata, userName } }),
  );

/** The metadata that a call is recorded with. */
async function recorded(headers: Record<string, string>, body: object = {}): Promise<Record<string, string>> {
  const response = await plane.call(
    '/v1/chat/completions',
    { model: '@s/echo', messages: [{ role: 'user', content: 'Hi' }], ...body },
    headers,
  );
  expect(response.status).toBe(200);
  const [record] = await plane.settled();
  return { ...record?.metrics.metadata };
}

const sent = (metadata: unknown) => ({ 'x-gw-metadata': JSON.stringify(metadata) });

test('the vector of the specification', async () => {
  keyDefaults({ env: 'prod' });
  plane.metadata = { team: 'x', _user: 'w' };
  expect(await recorded({ ...sent({ _user: 'a', env: 'dev' }), baggage: 'env=bag,k=v' }, { user: 'b' })).toEqual({
    _user: 'w',
    env: 'prod',
    team: 'x',
    k: 'v',
  });
});

describe('from low to high', () => {
  test('baggage, config, copied headers, x-gw-metadata, key, workspace', async () => {
    const config = plane.saveConfig({ provider: '@s', metadata: { env: 'config', a: 'config' } });
    const headers: Record<string, string> = { 'x-gw-config': config, baggage: 'env=baggage,b=baggage' };
    expect(await recorded(headers)).toEqual({ env: 'config', a: 'config', b: 'baggage' });
    headers['x-env'] = 'copied';
    headers['X-Team'] = 'red';
    expect(await recorded(headers)).toMatchObject({ 'x-env': 'copied', 'x-team': 'red', env: 'config' });
    Object.assign(headers, sent({ env: 'sent', 'x-env': 'sent' }));
    expect(await recorded(headers)).toMatchObject({ env: 'sent', 'x-env': 'sent' });
    keyDefaults({ env: 'key' });
    expect(await recorded(headers)).toMatchObject({ env: 'key' });
    plane.metadata = { env: 'workspace' };
    expect(await recorded(headers)).toMatchObject({ env: 'workspace' });
  });

  test('what a target says stands over its config, and below the request', async () => {
    const config = plane.saveConfig({
      strategy: { mode: 'single' },
      metadata: { env: 'config', tier: 'config' },
      targets: [{ provider: '@s', metadata: { env: 'target', own: 'target' } }],
    });
    const headers = { 'x-gw-config': config };
    expect(await recorded(headers)).toEqual({ env: 'target', tier: 'config', own: 'target' });
    expect(await recorded({ ...headers, ...sent({ env: 'sent' }) })).toMatchObject({ env: 'sent', own: 'target' });
  });
});

describe('values', () => {
  test('what is no text becomes one, and long ones are cut at 128', async () => {
    const metadata = { n: 1, yes: true, no: null, list: [1, 'a'], object: { a: 1 }, long: 'x'.repeat(200) };
    expect(await recorded(sent(metadata))).toEqual({
      n: '1',
      yes: 'true',
      no: 'null',
      list: '[1,"a"]',
      object: '{"a":1}',
      long: 'x'.repeat(128),
    });
  });

  test.each(["{'a':'b'}", 'text', '[1]', '"a"', 'null', '{'])(
    'a header that is no JSON object counts as none: %s',
    async (header) => {
      expect(await recorded({ 'x-gw-metadata': header })).toEqual({});
    },
  );

  test('names of the language are only names', async () => {
    expect(await recorded({ 'x-gw-metadata': '{"__proto__":"a","constructor":"b"}' })).toMatchObject({
      constructor: 'b',
    });
  });

  test('baggage is decoded, its properties left out, and what is not a pair skipped', async () => {
    expect(await recorded({ baggage: 'a=%C5%BE%20x;p=1, b = 2 ,c,=d,e=%zz' })).toEqual({ a: 'ž x', b: '2', e: '%zz' });
  });
});

describe('the user', () => {
  test('the body names it, unless the metadata does', async () => {
    expect(await recorded({}, { user: 'body' })).toEqual({ _user: 'body' });
    expect(await recorded(sent({ _user: 'header' }), { user: 'body' })).toEqual({ _user: 'header' });
  });

  test('with attribution on, a user key names its owner, and only where that is allowed another one', async () => {
    keyDefaults({}, 'Ann Owner');
    expect(await recorded({}, { user: 'body' })).toEqual({ _user: 'body' });
    plane.settings = { ...plane.settings, user_attribution: { enabled: true, allow_override: false } };
    expect(await recorded(sent({ _user: 'header' }))).toEqual({ _user: 'Ann Owner' });
    plane.settings = { ...plane.settings, user_attribution: { enabled: true, allow_override: true } };
    expect(await recorded(sent({ _user: 'header' }))).toEqual({ _user: 'header' });
    expect(await recorded({})).toEqual({ _user: 'Ann Owner' });
  });
});
