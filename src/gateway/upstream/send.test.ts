import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import * as openai from '../../../test/providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import { selfSigned } from '../../../test/servers/self-signed.ts';
import type { Lookup } from './fair-lookups.ts';
import { createHostGuard } from './host-guard.ts';

let plane: Plane;
let upstream: SimulatedProvider;
let port: string;
const looked: string[] = [];

beforeAll(async () => {
  upstream = await startProvider(openai.says('fine'));
  port = new URL(upstream.url).port;
  plane = startPlane();
});
afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.calls.length = 0;
  looked.length = 0;
});

/** A guard that looks names up like this, and lets loopback pass where the test needs a server to answer. */
function guard(lookup: Lookup, loopbackAllowed: boolean): void {
  const noting: Lookup = (name) => {
    looked.push(name);
    return lookup(name);
  };
  const real = createHostGuard({ named: [], own: [] }, noting);
  plane.deps.hostGuard = loopbackAllowed
    ? {
        mark: '',
        check: async (url) => {
          const { hostname, host } = new URL(url);
          const [address = ''] = await noting(hostname);
          return { address, name: hostname, host };
        },
      }
    : real;
}

const ask = (host: string, headers: Record<string, string> = {}) => {
  plane.providers.set('a', savedProvider('a', { customHost: `${host}/v1` }));
  return plane.call('/v1/chat/completions', { model: 'm', messages: [] }, { 'x-gw-provider': '@a', ...headers });
};

test('a made-up name that leads to this machine is refused, and nobody is dialled', async () => {
  guard(async () => ['127.0.0.1'], false);
  const response = await ask(`http://model.example:${port}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_custom_host' } });
  expect([looked, upstream.calls.length]).toEqual([['model.example'], 0]);
});

test('the checked address is dialled, not the name; the Host header keeps name and port', async () => {
  guard(async () => ['127.0.0.1'], true);
  const response = await ask(`http://no-such-name.example:${port}`);
  expect(response.status).toBe(200);
  expect(upstream.calls[0]?.headers.host).toBe(`no-such-name.example:${port}`);
  expect(upstream.calls[0]?.path).toBe('/v1/chat/completions');
});

describe('TLS', () => {
  test('the handshake asks for the name, not for the address', async () => {
    const hello = Promise.withResolvers<string>();
    const server = createServer((socket) => {
      socket.once('data', (bytes) => {
        hello.resolve(bytes.toString('latin1'));
        socket.destroy();
      });
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    guard(async () => ['127.0.0.1'], true);
    const response = await ask(`https://model.example:${(server.address() as AddressInfo).port}`);
    expect(response.status).toBe(502);
    const sent = await hello.promise;
    expect(sent).toContain('model.example');
    expect(sent).not.toContain('127.0.0.1');
    server.close();
  });

  test('a certificate that nobody vouches for is refused', async () => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: selfSigned(),
      fetch: () => new Response('secret'),
    });
    guard(async () => ['127.0.0.1'], true);
    const response = await ask(`https://model.example:${server.port}`);
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain('secret');
    await server.stop(true);
  });
});

describe('names that cannot be found', () => {
  test('a failed lookup is an upstream that cannot be reached', async () => {
    guard(() => Promise.reject(Object.assign(new Error('internal detail'), { code: 'ENOTFOUND' })), false);
    const response = await ask('https://model.example');
    const body = await response.text();
    expect(response.status).toBe(502);
    expect(body).toContain('upstream_unreachable');
    expect(body).not.toContain('internal detail');
  });

  test('a lookup that never ends is ended by the request’s own timeout', async () => {
    guard(() => new Promise(() => undefined), false);
    expect((await ask('https://model.example', { 'x-gw-request-timeout': '100' })).status).toBe(408);
  });
});

test('nobody listens: 502 in our words', async () => {
  guard(async () => ['127.0.0.1'], true);
  const response = await ask('http://model.example:1');
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ status: 'failure', error: { code: 'upstream_unreachable' } });
});

test('an answer that is no HTTP is told as one that cannot be read', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('SSH-2.0-server\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  guard(async () => ['127.0.0.1'], true);
  const response = await ask(`http://model.example:${(server.address() as AddressInfo).port}`);
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_provider_response' } });
  server.close();
});
