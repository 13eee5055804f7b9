/** The address of a call that passes through: what was checked is what arrives, however the client spells it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { request } from 'node:http';
import fc from 'fast-check';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../gateway-deps.ts';
import { json, lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';

let plane: Plane;
let provider: SimulatedProvider;

const rule = { enabled: true, baseModel: null, customHost: null, customHeaders: {}, prices: null };

beforeAll(async () => {
  plane = startPlane();
  provider = await startProvider(json(200, { ok: true }));
  const { url: customHost } = provider;
  const only = { allowAll: false, bySlug: new Map([['small', rule]]) };
  const but = { allowAll: true, bySlug: new Map([['Large', { ...rule, enabled: false }]]) };
  plane.providers.set('open', savedProvider('open', { customHost: `${customHost}/tenant` }));
  plane.providers.set('only', savedProvider('only', { customHost, models: only }));
  plane.providers.set('but', savedProvider('but', { customHost, models: but }));
  plane.providers.set('below', savedProvider('below', { customHost: `${customHost}/models`, models: only }));
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.calls.length = 0;
});

/** Sends exactly this path. */
const ask = (slug: string, path: string, method = 'POST') =>
  new Promise<{ status: number; code: string | null }>((resolve, reject) => {
    const { hostname, port } = new URL(plane.url);
    const headers = { 'x-gw-api-key': workspaceKey, 'x-gw-provider': `@${slug}`, 'content-type': 'application/json' };
    const call = request({ hostname, port, path, method, headers, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString());
      resolve({ status: response.statusCode ?? 0, code: body.error?.code ?? null });
    });
    call.on('error', reject);
    call.end(method === 'GET' ? undefined : '{"a":1}');
  });

const leading = [
  '/v1/proxy/..\\..\\other/v1/files',
  '/v1/proxy/..%5c..%5cother/files',
  '/v1/proxy/../other/files',
  '/v1/proxy/%2e%2e/other/files',
  '/v1/proxy/.%2E/other/files',
  '/v1/proxy/a/..%2f..%2fother',
  '/v1/proxy/..;/other',
  '/v1/proxy/%252e%252e/other',
  '/v1/proxy/files%00',
  '/v1/proxy/files#/x',
  '/v1/proxy/files?a#b',
  '/v1/proxy/%zz',
  '/v1/anything/..\\..\\other',
];
for (const path of leading) {
  test(`${path} is refused before anything is sent`, async () => {
    expect(await ask('open', path)).toEqual({ status: 400, code: 'invalid_path' });
    expect(provider.calls).toEqual([]);
  });
}

const hiding = [
  '/models%2flarge:generateContent',
  '/Models/large:generateContent',
  '/m%6Fdels/large:generateContent',
  '/models;a=b/large:generateContent',
  '/models//large:generateContent',
  '/models/l%61rge:generateContent',
  '/models/small/models/large:generateContent',
  '/listen?m%6fdel=large',
  '/listen?Model=large',
  '/listen?a=1;model=large',
];
for (const path of hiding) {
  test(`${path} reaches no model that is not enabled`, async () => {
    expect(await ask('only', `/v1/proxy${path}`)).toEqual({ status: 403, code: 'model_not_allowed' });
    expect(provider.calls).toEqual([]);
  });
}

const disabled = ['/models/Large:generateContent', '/models/LARGE', '/models/large/x', '/listen?model=lArGe'];
for (const path of disabled) {
  test(`${path} reaches no model that is disabled`, async () => {
    expect(await ask('but', `/v1/proxy${path}`)).toEqual({ status: 403, code: 'model_not_allowed' });
    expect((await ask('but', '/v1/proxy/models/other:generateContent')).status).toBe(200);
    expect(provider.calls.map((call) => call.path)).toEqual(['/v1/models/other:generateContent']);
  });
}

test('an address that ends in a marker of models does not hide the model behind it', async () => {
  expect(await ask('below', '/v1/proxy/large:generateContent')).toEqual({ status: 403, code: 'model_not_allowed' });
  expect((await ask('below', '/v1/proxy/small:generateContent')).status).toBe(200);
});

test('what needs no encoding is sent without, all else as it came', async () => {
  await ask('open', "/v1/proxy/a%7Eb/%41/caf%c3%a9%2Fx/'q'|z?x=%7e&y=a'b");
  expect(lastCall(provider).path).toBe("/v1/tenant/a~b/A/caf%c3%a9%2Fx/'q'|z?x=%7e&y=a%27b");
});

test('a version that both the address and the path name is named once', async () => {
  await ask('only', '/v1/proxy/v1/messages/count?x=1', 'GET');
  expect(lastCall(provider).path).toBe('/v1/messages/count?x=1');
  await ask('only', '/v1/proxy/v2/things', 'GET');
  expect(lastCall(provider).path).toBe('/v1/v2/things');
});

/** As the laxest of servers reads a path: it decodes twice, takes any slash, drops parameters and empty parts, and climbs. */
function laxly(path: string): string {
  let text = path.replace(/[?#].*$/, '');
  for (let round = 0; round < 2; round++) {
    text = text.replace(/%[0-9a-f]{2}/gi, (triplet) => String.fromCharCode(Number.parseInt(triplet.slice(1), 16)));
  }
  const parts: string[] = [];
  for (const part of text.replaceAll('\\', '/').split('/')) {
    const bare = part.replace(/;.*$/, '');
    if (bare === '..') parts.pop();
    else if (bare !== '' && bare !== '.') parts.push(bare);
  }
  return `/${parts.join('/')}`.toLowerCase();
}

const pieces = [
  '..',
  '.',
  '/',
  '\\',
  '%2e',
  '%2F',
  '%5c',
  '%25',
  '2e',
  ';',
  '#',
  '?',
  '//',
  '%00',
  '%',
  'é',
  '@',
  ':80',
];
const words = ['models', 'Models', 'm%6fdels', 'large', 'small', 'lar%67e', ':generateContent', 'files', 'a', 'v1'];

test('whatever is sent stays below its address, reaches no other model, and is what was checked', async () => {
  const paths = fc.array(fc.constantFrom(...pieces, ...words, '/', '/models/', '/models/large'), { maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(paths, fc.constantFrom('open', 'only', 'but'), async (parts, slug) => {
      provider.calls.length = 0;
      plane.records.length = 0;
      const { status } = await ask(
        slug,
        `/v1/proxy/${encodeURI(parts.join('')).replaceAll('%25', '%').replaceAll('%5C', '\\')}`,
      );
      if (status !== 200) return;
      const arrived = lastCall(provider).path;
      const read = laxly(arrived);
      expect(read.startsWith(slug === 'open' ? '/v1/tenant' : '/v1')).toBe(true);
      if (slug !== 'open') expect(read).not.toMatch(/\/models\/large(?::|\/|$)/);
      const [record] = await plane.settled();
      expect(record?.metrics.request_url).toBe(new URL(provider.url).origin + arrived);
    }),
    { numRuns: 300, seed: 20_261_116 },
  );
});
