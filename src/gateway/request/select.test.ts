import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { request } from 'node:http';
import { type Plane, savedProvider, startPlane, workspaceCaller, workspaceKey } from '../../../test/gateway-deps.ts';
import * as openai from '../../../test/providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import { InlinePlans } from './inline-plans.ts';

let plane: Plane;
let a: SimulatedProvider;
let b: SimulatedProvider;

beforeAll(async () => {
  a = await startProvider(openai.says('from a'));
  b = await startProvider(openai.says('from b'));
  plane = startPlane({ settings: { targetLimits: { root: 2, conditionalRoot: 2, nested: 2 } } });
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
  plane.providers.set('b', savedProvider('b', { customHost: b.url }));
});
afterAll(async () => {
  await plane.stop();
  await a.stop();
  await b.stop();
});
beforeEach(() => {
  a.calls.length = 0;
  b.calls.length = 0;
  plane.callers.set(workspaceKey, workspaceCaller());
});

const body = { model: 'gpt-4o-mini', messages: [] };
const bind = (configId: string, allowConfigOverride: boolean) =>
  plane.callers.set(
    workspaceKey,
    workspaceCaller({ defaults: { configId, allowConfigOverride, metadata: {}, userName: null } }),
  );

interface Told {
  status: number;
  code: string | undefined;
  asked: string;
}

const ask = async (headers: Record<string, string> = {}, more: object = {}): Promise<Told> => {
  const response = await plane.call('/v1/chat/completions', { ...body, ...more }, headers);
  const answer = (await response.json()) as { error?: { code: string } };
  const asked = `${'a'.repeat(a.calls.length)}${'b'.repeat(b.calls.length)}`;
  a.calls.length = 0;
  b.calls.length = 0;
  return { status: response.status, code: answer.error?.code, asked };
};

const fine = (asked: string): Told => ({ status: 200, code: undefined, asked });
const refused = (code: string): Told => ({ status: 400, code, asked: '' });

describe('which config', () => {
  test('the header replaces the default of the key entirely', async () => {
    const own = plane.saveConfig({ provider: '@a' });
    const other = plane.saveConfig({ provider: '@b' });
    bind(own, true);
    expect(await ask()).toEqual(fine('a'));
    expect(await ask({ 'x-gw-config': other })).toEqual(fine('b'));
    expect(await ask({ 'x-gw-config': '{"provider":"@b"}' })).toEqual(fine('b'));
  });

  test('a key that is bound to its config refuses any other, and takes its own by name', async () => {
    const own = plane.saveConfig({ provider: '@a' });
    const other = plane.saveConfig({ provider: '@b' });
    bind(own, false);
    expect(await ask()).toEqual(fine('a'));
    expect(await ask({ 'x-gw-config': own })).toEqual(fine('a'));
    for (const config of [other, 'unknown', '{"provider":"@b"}']) {
      expect(await ask({ 'x-gw-config': config })).toEqual(refused('config_override_not_allowed'));
    }
  });

  test('a key that is bound to a config that is gone takes no other either', async () => {
    bind('gone', false);
    expect(await ask()).toEqual(refused('config_not_found'));
    for (const config of ['unknown', '{"provider":"@b"}']) {
      expect(await ask({ 'x-gw-config': config })).toEqual(refused('config_override_not_allowed'));
    }
  });

  test('an unknown slug: 400', async () => {
    expect(await ask({ 'x-gw-config': 'pc-nobody' })).toEqual(refused('config_not_found'));
  });

  test.each([
    ['no JSON', '{"provider"', 'invalid_config_json'],
    ['a fault in it', '{"provider":"@a","retry":{"attempts":"many"}}', 'invalid_config'],
    ['the old form', '{"options":[]}', 'invalid_config'],
    [
      'a negative weight',
      '{"strategy":{"mode":"loadbalance"},"targets":[{"provider":"@a","weight":-1}]}',
      'invalid_config',
    ],
    [
      'a private custom host',
      '{"provider":"openai","api_key":"k","custom_host":"http://10.0.0.5/v1"}',
      'invalid_config',
    ],
    [
      'more targets than allowed',
      `{"strategy":{"mode":"fallback"},"targets":[${'{"provider":"@a"},'.repeat(2)}{"provider":"@b"}]}`,
      'config_targets_exceeded',
    ],
  ])('an inline config with %s: 400', async (_, config, code) => {
    expect(await ask({ 'x-gw-config': config })).toEqual(refused(code));
  });

  test('the same inline config is compiled once', async () => {
    const kept = new InlinePlans();
    plane.deps.inlinePlans = kept;
    await ask({ 'x-gw-config': ' {"provider":"@a"} ' });
    const plan = kept.get('{"provider":"@a"}');
    await ask({ 'x-gw-config': ' {"provider":"@a"} ' });
    expect(plan).toBeDefined();
    expect(kept.get('{"provider":"@a"}')).toBe(plan);
  });

  test('limits on targets count for saved configs too, when they are used', async () => {
    const targets = Array.from({ length: 3 }, () => ({ provider: '@a' }));
    const config = plane.saveConfig({ strategy: { mode: 'fallback' }, targets });
    expect(await ask({ 'x-gw-config': config })).toEqual(refused('config_targets_exceeded'));
  });
});

describe('which provider', () => {
  test.each<[string, Record<string, string>, object, string]>([
    ['a saved one by header', { 'x-gw-provider': '@a' }, {}, 'a'],
    ['a virtual key', { 'x-gw-virtual-key': 'a' }, {}, 'a'],
    ['a virtual key with an @', { 'x-gw-virtual-key': '@a' }, {}, 'a'],
    ['the prefix of the model', {}, { model: '@b/gpt-4o-mini' }, 'b'],
    ['both, when they agree', { 'x-gw-provider': '@a' }, { model: '@a/gpt-4o-mini' }, 'a'],
    ['header and virtual key, when they agree', { 'x-gw-provider': '@a', 'x-gw-virtual-key': 'a' }, {}, 'a'],
    ['the kind of the virtual key', { 'x-gw-provider': 'openai', 'x-gw-virtual-key': 'a' }, {}, 'a'],
    ['of a header sent twice, the saved one', { 'x-gw-provider': 'openai, @b' }, {}, 'b'],
    ['the old mode header', { 'x-gw-mode': 'proxy @a' }, {}, 'a'],
    ['the config, over the header', { 'x-gw-config': '{"provider":"@b"}', 'x-gw-provider': '@a' }, {}, 'b'],
    [
      'the header, beside a config of features',
      { 'x-gw-config': '{"retry":{"attempts":1}}', 'x-gw-provider': '@a' },
      {},
      'a',
    ],
  ])('%s', async (_, headers, more, asked) => {
    expect(await ask(headers, more)).toEqual(fine(asked));
  });

  test.each<[string, Record<string, string>, object, string]>([
    ['none is named', {}, {}, 'missing_provider'],
    ['the name is unknown', { 'x-gw-provider': 'nobody' }, {}, 'invalid_provider'],
    ['the slug is unknown', { 'x-gw-provider': '@nobody' }, {}, 'provider_not_found'],
    ['header and virtual key differ', { 'x-gw-provider': '@a', 'x-gw-virtual-key': 'b' }, {}, 'provider_conflict'],
    [
      'the virtual key is of another kind',
      { 'x-gw-provider': 'anthropic', 'x-gw-virtual-key': 'a' },
      {},
      'provider_conflict',
    ],
    ['header and model differ', { 'x-gw-provider': '@a' }, { model: '@b/m' }, 'provider_conflict'],
    ['target and model differ', { 'x-gw-config': '{"provider":"@a"}' }, { model: '@b/m' }, 'provider_conflict'],
    [
      'a raw name meets the model of a saved one',
      { 'x-gw-provider': 'openai', authorization: 'Bearer k' },
      { model: '@b/m' },
      'provider_conflict',
    ],
  ])('400 when %s', async (_, headers, more, code) => {
    expect(await ask(headers, more)).toEqual(refused(code));
  });
});

describe('other headers', () => {
  test.each([
    'http://169.254.169.254/',
    'http://10.0.0.5:8080/v1',
    'http://127.0.0.1.nip.io/',
    'ftp://h/',
    'https://h/#f',
    'http://2130706433/',
  ])('a custom host that may not be called is refused: %s', async (host) => {
    expect(await ask({ 'x-gw-provider': '@a', 'x-gw-custom-host': host })).toEqual(refused('invalid_custom_host'));
  });

  test.each([
    'x-gw-forward-headers',
    'metadata-flavor',
    'X-AWS-EC2-Metadata-Token',
    'host',
    'a b',
    'x-ok,x-google-metadata-request',
  ])('a header that may not be forwarded is refused: %s', async (names) => {
    expect(await ask({ 'x-gw-provider': '@a', 'x-gw-forward-headers': names })).toEqual(
      refused('invalid_forward_headers'),
    );
  });

  test('a body that is no JSON is refused before anybody is asked', async () => {
    const response = await plane.call('/v1/chat/completions', '{"model":', { 'x-gw-provider': '@a' });
    expect(response.status).toBe(400);
    expect(a.calls).toHaveLength(0);
  });

  test('a GET with a body is passed on with it', async () => {
    expect((await getWithBody('/v1/proxy/search', '{"query":"x"}')).status).toBe(200);
    expect((await getWithBody('/v1/proxy/search', '')).status).toBe(200);
    expect(a.calls.map(({ method, body }) => [method, body.toString()])).toEqual([
      ['GET', '{"query":"x"}'],
      ['GET', ''],
    ]);
  });
});

/** `fetch` sends no such thing. */
function getWithBody(path: string, content: string): Promise<{ status: number; text: string }> {
  const headers = { 'x-gw-api-key': workspaceKey, 'x-gw-provider': '@a', 'content-length': content.length };
  return new Promise((resolve, reject) => {
    const asked = request(plane.url + path, { method: 'GET', headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
    });
    asked.on('error', reject);
    asked.end(content);
  });
}

describe('of several faults the first in the order of checks is told', () => {
  const faults: Record<string, Record<string, string>> = {
    invalid_content_type: { 'content-type': 'text/plain' },
    invalid_forward_headers: { 'x-gw-forward-headers': 'host' },
    invalid_custom_host: { 'x-gw-custom-host': 'http://169.254.169.254/' },
    config_not_found: { 'x-gw-config': 'gone' },
  };
  const order = Object.keys(faults);
  const send = async (path: string, headers: Record<string, string>, text: string) => {
    const response = await fetch(`${plane.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gw-api-key': workspaceKey, ...headers },
      body: text,
    });
    const { error } = (await response.json()) as { error: { code: string } };
    return error.code;
  };

  test.each(order)('%s counts before all that is checked later', async (code) => {
    const headers = Object.assign({}, ...order.slice(order.indexOf(code)).map((later) => faults[later]));
    expect(await send('/v1/chat/completions', headers, '{broken')).toBe(code);
    expect(await send('/v1/prompts/gone/completions', headers, '{broken')).toBe(code);
  });

  test('then the body, then the prompt', async () => {
    expect(await send('/v1/chat/completions', {}, '{broken')).toBe('invalid_body');
    expect(await send('/v1/prompts/gone/completions', {}, '{broken')).toBe('invalid_body');
    expect(await send('/v1/prompts/gone/completions', {}, '{}')).toBe('prompt_not_found');
  });
});
