/** A provider of which only some models may be used: no call reaches another one, whichever way it names it or hides its name. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../gateway-deps.ts';
import { json, lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { rawCall } from '../raw-client.ts';

let plane: Plane;
let provider: SimulatedProvider;

const rule = { enabled: true, baseModel: null, customHost: null, customHeaders: {}, prices: null };
const allowed = ['small', 'org/small', '@cf/meta/small', 'small-v1:0'];

beforeEach(async () => {
  plane = startPlane();
  provider = await startProvider(json(200, { ok: true }));
  const models = { allowAll: false, bySlug: new Map(allowed.map((model) => [model, rule])) };
  plane.providers.set('a', savedProvider('a', { provider: 'openai', customHost: provider.url, models }));
});
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});

type Fields = Record<string, string>;

const ask = async (path: string, body: string | Buffer, headers: Fields = {}, method = 'POST') => {
  const reply = await rawCall(plane.url + path, {
    method,
    headers: { 'x-gw-api-key': workspaceKey, 'x-gw-provider': '@a', ...headers },
    body: Buffer.from(body),
  });
  const code = reply.status === 200 ? null : JSON.parse(reply.body.toString()).error.code;
  return [reply.status, code];
};
const refused = [403, 'model_not_allowed'];
const passed = [200, null];
const asJson = { 'content-type': 'application/json' };
const large = '{"model":"large","messages":[]}';

describe('on a path that passes through', () => {
  const disguises: [what: string, body: string | Buffer, headers: Fields][] = [
    ['as text', large, { 'content-type': 'text/plain' }],
    ['without a type', large, {}],
    ['in another JSON', large, { 'content-type': 'application/vnd.api+json' }],
    ['packed', gzipSync(large), { ...asJson, 'content-encoding': 'gzip' }],
    ['too deep to be read', `{"model":"large","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, asJson],
    ['beside bytes that are no text', Buffer.from('{"model":"large","x":"\xff"}', 'latin1'), asJson],
    ['in a list', `[${large}]`, asJson],
    ['in a form of the web', 'model=large', { 'content-type': 'application/x-www-form-urlencoded' }],
  ];
  for (const [what, body, headers] of disguises) {
    test(`a model is not reached by a body ${what}`, async () => {
      expect(await ask('/v1/proxy/chat/completions', body, headers)).toEqual(refused);
      expect(provider.calls).toEqual([]);
    });
  }

  const paths = [
    ['/models/large:generateContent', '/models/small:generateContent'],
    ['/publishers/x/models/large:predict', '/publishers/x/models/small:predict'],
    ['/model/large/invoke', '/model/small-v1%3A0/invoke'],
    ['/deployments/large/chat/completions?api-version=1', '/deployments/small/chat/completions?api-version=1'],
    ['/models/org/large', '/models/org/small'],
    ['/run/@cf/meta/large', '/run/@cf/meta/small'],
    ['/listen?model=large', '/listen?model=small'],
    ['/listen?model=small&model=large', '/listen'],
  ];
  for (const [other = '', ours = ''] of paths) {
    test(`a model is not reached by ${other}, and ${ours} still is`, async () => {
      expect(await ask(`/v1/proxy${other}`, '{"a":1}', asJson)).toEqual(refused);
      expect(await ask(`/v1/proxy${ours}`, '{"a":1}', asJson)).toEqual(passed);
      expect(provider.calls.map(({ path }) => path)).toEqual([`/v1${ours}`]);
    });
  }

  test('what is told of a model may still be asked for', async () => {
    expect(await ask('/v1/proxy/models/large', '', {}, 'GET')).toEqual(passed);
  });

  test('sound, pictures and files of any kind still pass', async () => {
    for (const type of ['audio/wav', 'image/png', 'video/mp4', 'application/octet-stream', 'application/pdf']) {
      expect(await ask('/v1/proxy/listen', 'bytes', { 'content-type': type })).toEqual(passed);
    }
  });

  test('a form passes while its model is allowed, and breaks off otherwise', async () => {
    expect(await ask('/v1/proxy/audio/transcriptions', form(['model', 'small'], ['x', 'y']), asForm)).toEqual(passed);
    expect(lastCall(provider).body.toString()).toBe(form(['model', 'small'], ['x', 'y']));
    expect(await ask('/v1/proxy/audio/transcriptions', form(['x', 'y'], ['model', 'large']), asForm)).toEqual(refused);
    expect(provider.calls).toHaveLength(1);
  });
});

const asForm = { 'content-type': 'multipart/form-data; boundary=cut' };
const form = (...fields: [name: string, value: string][]) =>
  `${fields.map(([name, value]) => `--cut\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--cut--\r\n`;

test('a model is not reached by another spelling of its field', async () => {
  for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
    const body = '{"model":"small","MODEL":"large","messages":[]}';
    expect(await ask(path, body, asJson)).toEqual([400, 'invalid_body']);
  }
  expect(provider.calls).toEqual([]);
});

describe('in a form', () => {
  const path = '/v1/audio/transcriptions';

  test('the model must be allowed', async () => {
    expect(await ask(path, form(['model', 'small']), asForm)).toEqual(passed);
    expect(await ask(path, form(['model', 'large']), asForm)).toEqual(refused);
  });

  test('of two models only the one that was checked goes on', async () => {
    expect(await ask(path, form(['model', 'large'], ['a', 'b'], ['model', 'small']), asForm)).toEqual(passed);
    expect(lastCall(provider).body.toString()).toBe(form(['model', 'small'], ['a', 'b']));
  });

  const hidden: [what: string, body: string, headers: Fields][] = [
    ['between bare line feeds', form(['model', 'large']).replaceAll('\r\n', '\n'), asForm],
    ['under an encoded name', form(['model', 'large']).replace('name="model"', "name*=utf-8''model"), asForm],
    ['as a file', form(['model', 'large']).replace('name="model"', 'name="model"; filename="x"'), asForm],
    ['without a boundary', form(['model', 'large']), { 'content-type': 'multipart/form-data' }],
  ];
  for (const [what, body, headers] of hidden) {
    test(`a model is not reached when it stands ${what}`, async () => {
      expect(await ask(path, body, headers)).toEqual(refused);
      expect(provider.calls).toEqual([]);
    });
  }

  test('the boundary is the one that is called so', async () => {
    const odd = { 'content-type': 'multipart/form-data; xboundary=other; boundary=cut' };
    expect(await ask(path, form(['model', 'small']), odd)).toEqual(passed);
    expect(await ask(path, form(['model', 'large']), odd)).toEqual(refused);
  });
});
