import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import { completion } from '../../../test/providers/openai.ts';
import { bytes, json, type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import { inlined } from '../../providers/chat/media.ts';
import { mediaIn, webMedia } from '../../providers/chat/turns.ts';
import { openAiFamily } from '../../providers/openai/family.ts';
import type { Provider } from '../../providers/provider.ts';

/** Takes bytes only. */
const bytesOnly: Provider = {
  id: 'bytes-only',
  name: 'Bytes only',
  address: null,
  needsCredential: false,
  headers: () => ({}),
  endpoints: {
    chatComplete: {
      chat: {
        ...openAiFamily,
        media: webMedia,
        request: (conversation, facts) => ({ images: mediaIn(conversation).map((part) => inlined(part, facts)) }),
      },
    },
  },
};

let plane: Plane;
let provider: SimulatedProvider;
let web: SimulatedProvider;

beforeAll(async () => {
  provider = await startProvider(json(200, completion('A cat.')));
  web = await startProvider(bytes(200, 'cat', { 'content-type': 'image/png; charset=binary' }));
  plane = startPlane();
  plane.deps.providers = new Map([...plane.deps.providers, ['bytes-only', bytesOnly]]);
  plane.providers.set('b', savedProvider('b', { provider: 'bytes-only', customHost: provider.url }));
});
afterAll(async () => {
  await plane.stop();
  await provider.stop();
  await web.stop();
});
beforeEach(() => {
  provider.calls.length = 0;
  web.calls.length = 0;
  web.script(bytes(200, 'cat', { 'content-type': 'image/png; charset=binary' }));
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});

const show = (...urls: string[]) =>
  plane.call(
    '/v1/chat/completions',
    {
      model: 'm',
      messages: [{ role: 'user', content: urls.map((url) => ({ type: 'image_url', image_url: { url } })) }],
    },
    { 'x-gw-provider': '@b' },
  );

const cat = { mime: 'image/png', base64: Buffer.from('cat').toString('base64') };

describe('an image at an address', () => {
  test('is fetched once, without any header of the client’s, and sent as bytes', async () => {
    const response = await show(`${web.url}/cat`, `${web.url}/cat`);
    expect(response.status).toBe(200);
    expect(provider.calls[0]?.json).toEqual({ images: [cat, cat] });
    expect(web.calls).toHaveLength(1);
    expect(JSON.stringify(web.calls[0]?.headers)).not.toMatch(/gw-|authorization/);
  });

  test('is followed where it has moved to', async () => {
    web.script(bytes(302, '', { location: '/moved' }), bytes(200, 'cat', { 'content-type': 'image/png' }));
    await show(`${web.url}/cat`);
    expect(web.calls.map(({ path }) => path)).toEqual(['/v1/cat', '/moved']);
    expect(provider.calls[0]?.json).toEqual({ images: [cat] });
  });

  test('that cannot be had is refused, and the provider is not asked', async () => {
    const refused = async (url: string) => {
      const response = await show(url);
      return [response.status, await response.text()];
    };
    web.script(json(404, {}));
    expect(await refused(`${web.url}/cat`)).toEqual([400, expect.stringContaining('answered 404')]);
    web.script(bytes(302, '', { location: '/again' }));
    expect(await refused(`${web.url}/cat`)).toEqual([400, expect.stringContaining('redirects too often')]);
    expect(await refused('http://169.254.169.254/latest')).toEqual([
      400,
      expect.stringContaining('invalid_custom_host'),
    ]);
    expect(await refused('http://10.0.0.1/x.png')).toEqual([400, expect.stringContaining('invalid_custom_host')]);
    expect(provider.calls).toHaveLength(0);
  });

  test('may not lead to where a custom host could not, by a redirect either', async () => {
    web.script(bytes(302, '', { location: 'http://169.254.169.254/latest/meta-data' }));
    const response = await show(`${web.url}/cat`);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('invalid_custom_host')]);
  });

  test('is one of at most twenty', async () => {
    const response = await show(...Array.from({ length: 21 }, (_, index) => `${web.url}/${index}`));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('at most 20')]);
    expect(web.calls).toHaveLength(0);
  });
});
