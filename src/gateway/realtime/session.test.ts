import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startRealtime } from '../../../test/providers/realtime.ts';
import { RealtimeClient } from '../../../test/realtime-client.ts';
import { startRealtimeWorld, workspaceKey } from '../../../test/realtime-world.ts';
import { type Listener, listen } from '../../http/server.ts';
import { webRequest } from '../../http/web.ts';
import { Deadlines } from '../upstream/deadlines.ts';
import { type Ending, Session } from './session.ts';
import { UpstreamSocket } from './upstream-socket.ts';

const withKey = { 'x-gw-api-key': workspaceKey };
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('a silent provider', () => {
  const deadlines = new Deadlines();
  let listener: Listener;
  let endings: Ending[] = [];

  /** Relays to the address that the query names, with a ping every second: a busy machine must still answer in time. */
  beforeAll(() => {
    const relayed = async (request: Request) => {
      const url = new URL(request.url).searchParams.get('to') ?? '';
      const address = { url, headers: {}, protocols: [], serverName: null };
      const upstream = await UpstreamSocket.open(address, new AbortController().signal);
      return new Session(upstream, deadlines, {
        pingMs: 1_000,
        standing: async () => null,
        observe: () => 0,
        charge: () => ({ waitMs: 0, overdrawn: false }),
        gathers: () => true,
        ended: (ending) => void endings.push(ending),
        over: () => undefined,
      });
    };
    listener = listen(
      { host: '127.0.0.1', port: 0 },
      {
        handlers: [async (request) => (request.upgrade(await relayed(webRequest(request)), {}) ? 'upgraded' : null)],
        idle: async () => undefined,
        log,
      },
    );
  });

  afterAll(async () => {
    await listener.stop(0);
    deadlines.stop();
  });

  const open = (url: string) =>
    RealtimeClient.open(`${listener.url.replace('http', 'ws')}/?to=${encodeURIComponent(url)}`);

  test('is pinged, and stays as long as it answers', async () => {
    const provider = startRealtime();
    const opening = provider.session();
    const client = await open(provider.url.replace('http', 'ws'));
    const session = await opening;
    while (session.pings < 3) await Bun.sleep(10);
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
    client.socket.close();
    await session.closed;
    await provider.stop();
  });

  test('that answers no ping is given up, and the client sees an abnormal end', async () => {
    endings = [];
    const provider = await startDeafProvider();
    const client = await open(provider.url);
    expect((await client.closed).code).toBe(1006);
    expect(endings).toMatchObject([{ by: 'provider', code: 1006 }]);
    provider.stop();
  });

  /** Accepts a session, and is never heard of again. */
  async function startDeafProvider() {
    const server = createServer();
    server.on('upgrade', (request, socket) => {
      const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      socket.on('error', () => undefined);
      socket.resume();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { url: `ws://127.0.0.1:${port}/`, stop: () => server.close() };
  }
});

describe('a key in the middle of a session', () => {
  test.each([
    ['revoked', 4401],
    ['exhausted', 4412],
  ] as const)('that is %s ends it with %d at both ends', async (fate, code) => {
    const provider = startRealtime();
    const world = startRealtimeWorld({ a: { url: provider.url } });
    const opening = provider.session();
    const client = await RealtimeClient.open(`${world.socketUrl}?model=@a/gpt-realtime`, withKey);
    const session = await opening;
    world.key[fate] = true;
    const speaking = setInterval(() => client.socket.send('speech'), 20);
    expect((await client.closed).code).toBe(code);
    clearInterval(speaking);
    expect((await session.closed).code).toBe(code);
    await world.idle();
    await world.stop();
    await provider.stop();
  });
});

describe('a shutdown', () => {
  test('waits for a session that ends by itself', async () => {
    const provider = startRealtime();
    const world = startRealtimeWorld({ a: { url: provider.url } });
    const opening = provider.session();
    const client = await RealtimeClient.open(`${world.socketUrl}?model=@a/gpt-realtime`, withKey);
    await opening;
    const stopping = world.stop(10_000);
    client.say({ type: 'response.create' });
    await client.event('response.done');
    client.socket.close(1000, 'done');
    expect(await client.closed).toEqual({ code: 1000, reason: 'done' });
    await stopping;
    expect(world.records.map(({ metrics }) => metrics.response_status_code)).toEqual([200, 101]);
    await provider.stop();
  });

  test('ends a session that outlives its grace with 1001 at both ends, and has it in the log', async () => {
    const provider = startRealtime();
    const world = startRealtimeWorld({ a: { url: provider.url } });
    const opening = provider.session();
    const client = await RealtimeClient.open(`${world.socketUrl}?model=@a/gpt-realtime`, withKey);
    const session = await opening;
    await world.stop(50);
    expect(world.records).toHaveLength(1);
    const body = world.records[0]?.bodies.response?.body ?? new Uint8Array();
    expect(JSON.parse(Buffer.from(body).toString()).closed).toMatchObject({ by: 'gateway', code: 1001 });
    expect((await client.closed).code).toBe(1001);
    expect((await session.closed).code).toBe(1001);
    await provider.stop();
  });
});
