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

  test.each(['model[]', 'model[0]', ' Model ', 'MODEL[ ]'])(
    'a model is not reached under the name "%s"',
    async (name) => {
      const both = form(['model', 'small'], [name, 'large']);
      for (const path of ['/v1/proxy/audio/transcriptions', '/v1/audio/transcriptions']) {
        expect([400, 403]).toContain((await ask(path, both, asForm))[0] as number);
      }
      const body = JSON.stringify({ model: 'small', messages: [], [name]: 'large' });
      for (const path of ['/v1/proxy/chat/completions', '/v1/chat/completions']) {
        expect([400, 403]).toContain((await ask(path, body, asJson))[0] as number);
      }
      const query = new URLSearchParams([[name, 'large']]);
      const small = '{"model":"small","messages":[]}';
      expect(await ask(`/v1/proxy/chat/completions?${query}`, small, asJson)).toEqual(refused);
      expect(provider.calls).toEqual([]);
    },
  );

  test('a form passes while its model is allowed, and breaks off otherwise', async () => {
    expect(await ask('/v1/proxy/audio/transcriptions', form(['model', 'small'], ['x', 'y']), asForm)).toEqual(passed);
    expect(arrived()).toBe(form(['model', 'small'], ['x', 'y']));
    expect(await ask('/v1/proxy/audio/transcriptions', form(['x', 'y'], ['model', 'large']), asForm)).toEqual(refused);
    expect(provider.calls).toHaveLength(1);
  });
});

/** The form that the provider got, under the boundary that the client chose. */
function arrived(): string {
  const { headers, body } = lastCall(provider);
  const mark = /^multipart\/form-data; boundary=(gw\w+)$/.exec(headers['content-type'] ?? '')?.[1] ?? '?';
  return body.toString().replaceAll(mark, 'cut');
}

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
    expect(arrived()).toBe(form(['model', 'small'], ['a', 'b']));
  });

  const hidden: [what: string, body: string, headers: Fields][] = [
    ['between bare line feeds', form(['model', 'large']).replaceAll('\r\n', '\n'), asForm],
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

describe('a form that two parsers read in two ways', () => {
  const paths = ['/v1/audio/transcriptions', '/v1/proxy/audio/transcriptions'];
  const named = (type: string) => ({ 'content-type': `multipart/form-data; ${type}` });
  const part = (mark: string, head: string, value: string) => `--${mark}\r\n${head}\r\n\r\n${value}\r\n`;
  const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;
  const small = part('a', field('model'), 'small');
  const large = part('b', field('model'), 'large');

  test.each([
    ['two boundaries', 'boundary=a; boundary=b'],
    ['an encoded boundary', "boundary=a; boundary*=utf-8''b"],
    ['a boundary in pieces', 'boundary*0=a; boundary*1=b'],
    ['parameters that cannot be read', 'boundary="a; boundary=b'],
  ])('is refused for %s', async (_, type) => {
    for (const path of paths) {
      expect(await ask(path, `${small}--a--\r\n${large}--b--\r\n`, named(type))).toEqual([400, 'invalid_content_type']);
    }
    expect(provider.calls).toEqual([]);
  });

  test.each([
    ['a disposition twice', `${field('x')}\r\n${field('model')}`],
    ['a name twice', `${field('x')}; name="model"`],
    ['an encoded name', "Content-Disposition: form-data; name*=utf-8''model"],
    ['a folded header', `Content-Disposition: form-data;\r\n name="model"`],
    ['a name with an escape', field('mod\\el')],
  ])('is refused for %s', async (_, head) => {
    for (const path of paths) {
      expect(await ask(path, `${small}${part('a', head, 'large')}--a--\r\n`, named('boundary=a'))).toEqual([
        400,
        'invalid_body',
      ]);
    }
    expect(provider.calls).toEqual([]);
  });

  test('arrives as it was read: nothing in it is a boundary any more', async () => {
    const hidden = `x\n--a\n${field('model')}\n\nlarge\n--a--`;
    const type = 'Content-Type: text/plain; name="model"';
    const body = `${large}${small}${part('a', `${type}\r\n${field('prompt')}`, hidden)}--a--\r\n${large}`;
    for (const path of paths) {
      expect(await ask(path, body, named('boundary=a'))).toEqual(passed);
      const sent = lastCall(provider);
      const form = await new Response(new Uint8Array(sent.body), { headers: sent.headers }).formData();
      expect([...form].map(([name, value]) => [name, String(value)])).toEqual([
        ['model', 'small'],
        ['prompt', hidden],
      ]);
      expect(sent.body.toString()).not.toContain('\r\n--a');
    }
  });

  test('is refused where it has too many parts', async () => {
    const body = `${part('a', field('x'), '').repeat(1_001)}--a--\r\n`;
    for (const path of paths) expect(await ask(path, body, named('boundary=a'))).toEqual([400, 'invalid_body']);
  });
});
