/** Headers of a provider that would act on the client, or speak in our name: they stay here. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../gateway-deps.ts';
import { bytes, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { rawCall } from '../raw-client.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane();
  provider = await startProvider();
  plane.providers.set('a', savedProvider('a', { customHost: provider.url }));
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});

const ask = (path: string) =>
  rawCall(plane.url + path, {
    headers: { 'x-gw-api-key': workspaceKey, 'x-gw-provider': '@a', 'content-type': 'application/json' },
    body: Buffer.from('{"model":"m","messages":[]}'),
  });

for (const path of ['/v1/chat/completions', '/v1/proxy/anything']) {
  test(`neither marks of ours nor orders to a browser come through ${path}`, async () => {
    const headers = {
      'content-type': 'application/json',
      'x-gw-trace-id': 'forged',
      'x-gw-admin': 'forged',
      'clear-site-data': '"*"',
      refresh: '0; url=https://evil.example',
      location: 'https://evil.example',
      'x-own': 'kept',
    };
    provider.script(bytes(200, '{"choices":[]}', headers));
    const { status, headers: told } = await ask(path);
    expect([status, told['x-own']]).toEqual([200, 'kept']);
    for (const name of ['x-gw-admin', 'clear-site-data', 'refresh', 'location']) expect(told[name]).toBeUndefined();
    expect(told['x-gw-trace-id']).not.toBe('forged');
  });
}

for (const path of ['/v1/chat/completions', '/v1/proxy/anything']) {
  test(`a control character in a provider's header is a 502 on ${path}, and the connection goes on`, async () => {
    for (const odd of ['a\x01b', 'a\x7fb', '\x1b[31m']) {
      provider.script((_, response) => {
        const body = '{"choices":[]}';
        response.socket?.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-odd: ${odd}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
      });
      const { status, body } = await ask(path);
      expect([status, JSON.parse(body.toString()).error.code]).toEqual([502, 'invalid_provider_response']);
    }
  });
}
