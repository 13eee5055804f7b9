import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { silentLog } from '../log.ts';
import { type CorsRules, createCors } from './cors.ts';
import { type Listener, listen } from './server.ts';
import { onWeb } from './web.ts';

const rules: CorsRules = {
  origins: ['https://app.example'],
  methods: ['GET', 'POST'],
  headers: [],
  exposedHeaders: ['x-gw-trace-id'],
};

/** Every request that is no preflight needs a key here, as on the data plane. */
const start = (cors: CorsRules) =>
  listen(
    { host: '127.0.0.1', port: 0 },
    {
      handlers: [
        onWeb((request) => new Response('served', { status: request.headers.has('x-gw-api-key') ? 200 : 401 })),
      ],
      idle: async () => undefined,
      cors: createCors(cors),
      log: silentLog,
    },
  );

let listed: Listener;
let open: Listener;
let off: Listener;
beforeAll(() => {
  listed = start(rules);
  open = start({ ...rules, origins: ['*'], headers: ['x-gw-api-key', 'content-type'] });
  off = start({ ...rules, origins: [] });
});
afterAll(async () => {
  await Promise.all([listed, open, off].map((listener) => listener.stop(0)));
});

const preflight = (listener: Listener, origin: string) =>
  fetch(`${listener.url}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-gw-api-key',
    },
  });

const call = (listener: Listener, origin: string) =>
  fetch(`${listener.url}/v1/chat/completions`, { method: 'POST', headers: { origin, 'x-gw-api-key': 'key' } });

const allowed = (response: Response) => response.headers.get('access-control-allow-origin');

describe('a preflight', () => {
  test('of an allowed origin is answered without a key', async () => {
    const response = await preflight(listed, 'https://app.example');
    expect([response.status, allowed(response)]).toEqual([204, 'https://app.example']);
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST');
    expect(response.headers.get('access-control-allow-headers')).toBe('content-type,x-gw-api-key');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(response.headers.get('vary')).toBe('origin');
  });

  test('of any other origin is answered without leave', async () => {
    const response = await preflight(listed, 'https://evil.example');
    expect([response.status, allowed(response)]).toEqual([204, null]);
  });

  test('names the headers that the operator listed', async () => {
    const response = await preflight(open, 'https://anyone.example');
    expect(allowed(response)).toBe('*');
    expect(response.headers.get('access-control-allow-headers')).toBe('x-gw-api-key, content-type');
  });

  test('gives nobody leave where no origin is allowed', async () => {
    const response = await preflight(off, 'https://app.example');
    expect([response.status, allowed(response)]).toEqual([204, null]);
  });
});

describe('an answer', () => {
  test('can be read by a page of an allowed origin, with the headers that are exposed', async () => {
    const response = await call(listed, 'https://app.example');
    expect([response.status, allowed(response)]).toEqual([200, 'https://app.example']);
    expect(response.headers.get('access-control-expose-headers')).toBe('x-gw-trace-id');
  });

  test('cannot be read by others', async () => {
    expect(allowed(await call(listed, 'https://evil.example'))).toBeNull();
    expect(allowed(await call(off, 'https://app.example'))).toBeNull();
  });
});

test('OPTIONS that asks for no leave goes on to who serves the path', async () => {
  const response = await fetch(`${listed.url}/v1/proxy/x`, { method: 'OPTIONS', headers: { 'x-gw-api-key': 'key' } });
  expect([response.status, await response.text()]).toEqual([200, 'served']);
});
