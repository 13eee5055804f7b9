import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../../../test/gateway-deps.ts';
import * as openai from '../../../test/providers/openai.ts';
import {
  bytes,
  json,
  type ReceivedCall,
  type SimulatedProvider,
  startProvider,
} from '../../../test/providers/simulated.ts';

let plane: Plane;
let a: SimulatedProvider;

beforeAll(async () => {
  a = await startProvider(openai.says('fine'));
  plane = startPlane({ settings: { ignoredHeaders: new Set(['x-internal']) } });
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
  plane.providers.set('claude', savedProvider('claude', { provider: 'anthropic', customHost: a.url }));
});
afterAll(async () => {
  await plane.stop();
  await a.stop();
});
beforeEach(() => {
  a.calls.length = 0;
  a.script(openai.says('fine'));
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});

async function received(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<ReceivedCall> {
  a.calls.length = 0;
  const response = await plane.call(path, body, { 'x-gw-provider': '@a', ...headers }, init);
  const [call] = a.calls;
  if (!call) throw new Error(`the provider was not asked: ${await response.text()}`);
  return call;
}

const chat = '/v1/chat/completions';
const withConfig = (config: object) => ({ 'x-gw-config': plane.saveConfig({ provider: '@a', ...config }) });

describe('the body', () => {
  test('goes on byte for byte when nothing changes it', async () => {
    const body = '{ "messages" : [],\n\t"model":"m", "big": 12345678901234567890, "esc":"\\u00e9\\/" , "x":1.0}';
    expect((await received(chat, body)).body.toString()).toBe(body);
  });

  test('whatever a client may write goes on byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
        fc.nat(3),
        async (fields, space) => {
          const body = JSON.stringify({ ...fields, model: 'm' }, null, space);
          expect((await received(chat, body)).body.toString()).toBe(body);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('loses the prefix of its model, and nothing else', async () => {
    const body = '{ "n":1.0, "model" : "@a/gpt/4:x" , "messages":[{"model":"@a/no"}]}';
    const call = await received(chat, body, { 'x-gw-provider': '' });
    expect(call.body.toString()).toBe(body.replace('@a/gpt/4:x', 'gpt/4:x'));
  });

  test('is shaped as the vector of the specification says', async () => {
    const tool = (name: string) => ({ function: { name, strict: true } });
    const body = { model: 'm', temperature: 0.2, tools: [tool('a'), tool('b')], logprobs: true };
    const target = {
      provider: '@a',
      default_params: { temperature: 1, max_tokens: 50 },
      override_params: { model: 'x' },
      drop_params: ['logprobs', 'tools[*].function.strict', 'nope.a[3]'],
    };
    const shaped = {
      model: 'x',
      temperature: 0.2,
      max_tokens: 50,
      tools: [{ function: { name: 'a' } }, { function: { name: 'b' } }],
    };
    expect((await received(chat, body, withConfig(target))).json).toEqual(shaped);
    const nested = plane.saveConfig({
      strategy: { mode: 'single' },
      override_params: { top_p: 0.5, model: 'p' },
      targets: [target],
    });
    expect((await received(chat, body, { 'x-gw-config': nested })).json).toEqual({ ...shaped, top_p: 0.5 });
  });

  test('gets the model that is written with the provider', async () => {
    const config = plane.saveConfig({ provider: '@a/own' });
    expect((await received(chat, { messages: [] }, { 'x-gw-config': config })).json).toEqual({
      messages: [],
      model: 'own',
    });
    expect((await received(chat, { model: 'theirs' }, { 'x-gw-config': config })).json).toEqual({ model: 'own' });
  });

  test('that names two models cannot slip the wrong one past the list of allowed ones', async () => {
    const models = {
      allowAll: false,
      bySlug: new Map([['ok', { enabled: true, baseModel: null, customHost: null, customHeaders: {}, prices: null }]]),
    };
    plane.providers.set('strict', savedProvider('strict', { customHost: a.url, models }));
    const call = await received(chat, '{"model":"forbidden","a":1,"model":"ok"}', { 'x-gw-provider': '@strict' });
    expect(call.body.toString()).toBe('{"model":"ok","a":1}');
  });

  test('stays empty when it is empty', async () => {
    const call = await received('/v1/batches/b1/cancel', '', {});
    expect([call.path, call.body.length, call.headers['content-length'] ?? '0']).toEqual([
      '/v1/batches/b1/cancel',
      0,
      '0',
    ]);
  });
});

describe('a form', () => {
  const file = Uint8Array.from({ length: 512 }, (_, index) => index % 256);
  const send = async (fields: [string, string][], headers: Record<string, string>) => {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    form.append('file', new Blob([file]), 'a.wav');
    const call = await received('/v1/audio/transcriptions', undefined, headers, { method: 'POST', body: form });
    const parsed = await new Response(new Uint8Array(call.body), { headers: call.headers }).formData();
    const kept = parsed.get('file');
    if (!(kept instanceof Blob)) throw new Error('the file is gone');
    expect(Buffer.compare(Buffer.from(await kept.arrayBuffer()), Buffer.from(file))).toBe(0);
    return [...parsed].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  };

  test('goes on as it is, repeated fields included', async () => {
    const fields: [string, string][] = [
      ['model', 'm'],
      ['g[]', 'word'],
      ['g[]', 'segment'],
    ];
    expect(await send(fields, {})).toEqual(fields);
  });

  test('loses the prefix of its model and keeps repeated fields', async () => {
    const fields: [string, string][] = [
      ['model', '@a/m'],
      ['g[]', 'word'],
      ['g[]', 'segment'],
    ];
    expect(await send(fields, { 'x-gw-provider': '' })).toEqual([
      ['model', 'm'],
      ['g[]', 'word'],
      ['g[]', 'segment'],
    ]);
  });

  test('is shaped by name', async () => {
    const shaping = {
      default_params: { language: 'cs', model: 'no' },
      override_params: { temperature: 0.5 },
      drop_params: ['secret'],
    };
    const fields: [string, string][] = [
      ['model', 'm'],
      ['temperature', '1'],
      ['secret', 's'],
    ];
    expect((await send(fields, withConfig(shaping))).toSorted()).toEqual([
      ['language', 'cs'],
      ['model', 'm'],
      ['temperature', '0.5'],
    ]);
  });
});

describe('the headers of a unified route', () => {
  test('are the provider’s, not the client’s', async () => {
    const { headers } = await received(
      chat,
      { model: 'm' },
      { 'x-mine': '1', cookie: 'gw_session=s', authorization: 'Bearer mine' },
    );
    expect(headers.authorization).toBe('Bearer sk-a-secret');
    expect(headers['content-type']).toBe('application/json');
    for (const name of ['x-mine', 'cookie', 'x-gw-api-key', 'x-gw-provider']) expect(headers[name]).toBeUndefined();
  });

  test('forwarded ones come last, so a forwarded credential counts; the header’s list beats the config’s', async () => {
    const sent = { authorization: 'Bearer mine', 'x-one': '1', 'x-two': '2' };
    const config = withConfig({ forward_headers: ['x-one', { from: 'x-two', to: 'x-renamed' }] });
    const { headers } = await received(chat, { model: 'm' }, { ...sent, ...config });
    expect([headers['x-one'], headers['x-renamed'], headers['x-two']]).toEqual(['1', '2', undefined as never]);
    expect(headers.authorization).toBe('Bearer sk-a-secret');
    const over = await received(
      chat,
      { model: 'm' },
      { ...sent, ...config, 'x-gw-forward-headers': '["Authorization", "x-two"]' },
    );
    expect([over.headers.authorization, over.headers['x-one'], over.headers['x-two']]).toEqual([
      'Bearer mine',
      undefined as never,
      '2',
    ]);
  });

  test('custom headers of the integration stand over the provider’s, however they are spelled', async () => {
    const customHeaders = { 'X-Corp': 'c', Authorization: 'Corp token' };
    plane.providers.set('corp', savedProvider('corp', { customHost: a.url, customHeaders }));
    const { headers } = await received(chat, { model: 'm' }, { 'x-gw-provider': '@corp' });
    expect([headers['x-corp'], headers.authorization]).toEqual(['c', 'Corp token']);
  });

  test('a bearer credential becomes the provider’s own header', async () => {
    const { headers, path } = await received(
      '/v1/messages',
      { model: 'm' },
      {
        'x-gw-provider': 'anthropic',
        'x-gw-custom-host': a.url,
        authorization: 'Bearer sk-ant-1',
      },
    );
    expect(path).toBe('/v1/messages');
    expect([headers['x-api-key'], headers.authorization, headers['anthropic-version']]).toEqual([
      'sk-ant-1',
      undefined as never,
      '2023-06-01',
    ]);
  });
});

describe('a custom host with a query', () => {
  test.each([
    ['/v1/chat/completions', '/deployments/d/chat/completions?api-version=2&x=1'],
    ['/v1/chat/completions?y=2', '/deployments/d/chat/completions?api-version=2&x=1&y=2'],
    ['/v1/proxy/models?y=2', '/deployments/d/models?api-version=2&x=1&y=2'],
  ])('keeps it behind the path of %s', async (asked, sent) => {
    const { path } = await received(
      asked,
      { model: 'm' },
      {
        'x-gw-provider': 'openai',
        'x-gw-custom-host': `${new URL(a.url).origin}/deployments/d?api-version=2&x=1`,
        authorization: 'Bearer sk-1',
      },
    );
    expect(path).toBe(sent);
  });
});

describe('passthrough', () => {
  test('keeps path, query, body and headers; drops ours and the connection’s', async () => {
    const call = await received('/v1/proxy/catalogs/x?a=1&b=%20', '[1, 2]', {
      'x-mine': '1',
      'x-internal': 'no',
      'x-forwarded-for': '1.2.3.4',
      cookie: 'gw_session=s',
      'x-gw-metadata': '{}',
      connection: 'x-hop',
      'x-hop': 'no',
      te: 'trailers',
    });
    expect([call.method, call.path, call.body.toString()]).toEqual(['POST', '/v1/catalogs/x?a=1&b=%20', '[1, 2]']);
    expect(call.headers['x-mine']).toBe('1');
    for (const name of ['x-internal', 'x-forwarded-for', 'cookie', 'x-gw-metadata', 'x-gw-api-key', 'x-hop', 'te']) {
      expect([name, call.headers[name]]).toEqual([name, undefined as never]);
    }
    expect(JSON.stringify(call.headers)).not.toContain(workspaceKey);
  });

  test('no credential of the client’s goes beside a saved one', async () => {
    const { headers } = await received(
      '/v1/proxy/messages',
      { model: 'm' },
      {
        'x-gw-provider': '@claude',
        authorization: 'Bearer mine',
        'x-api-key': 'mine',
      },
    );
    expect([headers['x-api-key'], headers.authorization]).toEqual(['sk-claude-secret', undefined as never]);
  });

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'])('%s is forwarded', async (method) => {
    const call = await received('/v1/catalogs?x=1', undefined, { 'content-type': 'text/x' }, { method });
    expect([call.method, call.path]).toEqual([method, '/v1/catalogs?x=1']);
    if (method === 'GET' || method === 'HEAD') expect(call.headers['content-type']).toBeUndefined();
  });

  test('any type of body is streamed unchanged, with its length', async () => {
    const body = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
    const call = await received(
      '/v1/proxy/upload',
      undefined,
      { 'content-type': 'image/x-odd' },
      { method: 'POST', body },
    );
    expect(Buffer.compare(call.body, Buffer.from(body))).toBe(0);
    expect([call.headers['content-length'], call.headers['content-type']]).toEqual(['100000', 'image/x-odd']);
  });

  test('the answer comes back as it is, encoding included', async () => {
    const body = gzipSync(JSON.stringify(openai.completion('fine')));
    a.script(bytes(200, body, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'x-own': '1' }));
    await plane.settled();
    const response = await plane.call(
      '/v1/proxy/chat/completions',
      { model: 'gpt-4o-mini' },
      { 'x-gw-provider': '@a' },
      { decompress: false } as RequestInit,
    );
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), body)).toBe(0);
    expect([response.headers.get('content-encoding'), response.headers.get('x-own')]).toEqual(['gzip', '1']);
    const [record] = await plane.settled();
    expect([record?.metrics.total_units, record?.metrics.ai_model, record?.metrics.is_proxy_call]).toEqual([
      30,
      'gpt-4o-mini',
      true,
    ]);
  });

  test('an error of the provider is not touched', async () => {
    a.script(json(418, { odd: true }, { 'x-own': '1' }));
    const response = await plane.call('/v1/proxy/x', { a: 1 }, { 'x-gw-provider': '@a' });
    expect([response.status, await response.text()]).toEqual([418, '{"odd":true}']);
  });

  test('JSON can be routed by its model, retried, and shaped', async () => {
    a.script(openai.unavailable, openai.says('fine'));
    const headers = {
      'x-gw-provider': '',
      'x-gw-config': plane.saveConfig({ retry: { attempts: 1 }, override_params: { top_p: 1 } }),
    };
    await received('/v1/proxy/chat/completions', { model: '@a/m' }, headers);
    expect(a.calls.map((call) => call.json)).toEqual([
      { model: 'm', top_p: 1 },
      { model: 'm', top_p: 1 },
    ]);
  });

  test('the list of allowed models counts here too', async () => {
    plane.providers.set(
      'none',
      savedProvider('none', { customHost: a.url, models: { allowAll: false, bySlug: new Map() } }),
    );
    const response = await plane.call('/v1/proxy/chat/completions', { model: 'gpt-5' }, { 'x-gw-provider': '@none' });
    expect([response.status, a.calls.length]).toEqual([403, 0]);
  });

  test('a path cannot climb out of the provider’s address', async () => {
    expect((await received('/v1/proxy/a/%2e%2e/%2E%2e/files/x', { a: 1 })).path).toBe('/v1/files/x');
    a.calls.length = 0;
    const response = await plane.call('/v1/proxy/%2e%2e/%2e%2e/admin', { a: 1 }, { 'x-gw-provider': '@a' });
    expect([response.status, a.calls.length]).toEqual([404, 0]);
  });

  test('a config marked passthrough sends unified routes unchanged', async () => {
    const call = await received(chat, '{ "model":"m" }', { 'x-gw-config': '{"passthrough":true}', 'x-mine': '1' });
    expect([call.body.toString(), call.headers['x-mine'], call.headers.authorization]).toEqual([
      '{ "model":"m" }',
      '1',
      'Bearer sk-a-secret',
    ]);
  });
});

test('a redirect is handed to the client, not followed', async () => {
  a.script(bytes(302, '', { location: 'http://169.254.169.254/' }));
  const response = await plane.call(chat, { model: 'm' }, { 'x-gw-provider': '@a' }, { redirect: 'manual' });
  expect([response.status, a.calls.length]).toEqual([302, 1]);
});
