import { describe, expect, test } from 'bun:test';
import { clientFrame, closePayload, kinds, serverFrames } from '../../../test/servers/client-frames.ts';
import type { HttpClient } from '../../../test/servers/http-client.ts';
import { aMoment, get, httpWorld, later, lines, said } from '../../../test/servers/http-world.ts';
import { until } from '../../../test/servers/wire-calls.ts';
import type { ClientSocket, Relay, SocketMessage } from '../websocket/relay.ts';
import type { Incoming } from './incoming.ts';

const { serve } = httpWorld();

const handshake = [
  'host: a',
  'upgrade: websocket',
  'connection: Upgrade',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
];
const asking = lines('GET /a HTTP/1.1', ...handshake);

/** Sends every message back, and writes down what it is told. */
class Echo implements Relay {
  client: ClientSocket | null = null;
  closings: [code: number, reason: string][] = [];
  dismissals = 0;
  drains = 0;

  opened(client: ClientSocket): void {
    this.client = client;
  }

  message(frame: SocketMessage): void {
    if (String(frame) === 'throw') throw new Error('thrown by the relay');
    this.client?.send(frame);
  }

  drained(): void {
    this.drains++;
  }

  closed(code: number, reason: string): void {
    this.closings.push([code, reason]);
  }

  dismissed(code: number, reason: string): void {
    this.dismissals++;
    this.client?.close(code, reason);
  }
}

const upgrading = (relay: Relay, before: Promise<unknown> = Promise.resolve()) =>
  serve(async (request: Incoming) => {
    await before;
    return request.upgrade(relay, {}) ? 'upgraded' : said('not upgraded');
  });

const frames = (client: HttpClient) =>
  serverFrames(Buffer.from(client.rest, 'latin1')).map(({ kind, payload }) => [kind, String(payload)]);

const hears = async (client: HttpClient, size: number) => {
  await until(() => client.rest.length >= size);
  return frames(client);
};

describe('a request that becomes a WebSocket', () => {
  test('is told so, and its frames are heard', async () => {
    const client = await upgrading(new Echo()).client();
    client.say(asking);
    expect(await client.reply()).toMatchObject({
      status: 101,
      headers: { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' },
    });
    client.say(clientFrame(kinds.text, 'hello'));
    expect(await hears(client, 7)).toEqual([[kinds.text, 'hello']]);
  });

  test('hears what was sent before it was accepted, however much it was', async () => {
    const accepted = Promise.withResolvers<void>();
    const client = await upgrading(new Echo(), accepted.promise).client();
    const text = 'x'.repeat(200_000);
    client.say(asking, clientFrame(kinds.text, text), clientFrame(kinds.text, 'behind'));
    for (let turn = 0; turn < 10; turn++) await aMoment();
    accepted.resolve();
    expect(await client.reply()).toMatchObject({ status: 101 });
    client.say(clientFrame(kinds.text, 'later'));
    expect(await hears(client, text.length + 10 + 8 + 7)).toEqual([
      [kinds.text, text],
      [kinds.text, 'behind'],
      [kinds.text, 'later'],
    ]);
  });

  test('stays open for as long as the client is there, and is no request any more', async () => {
    const relay = new Echo();
    const server = upgrading(relay);
    const client = await server.client();
    client.say(asking);
    await client.reply();
    server.listener.tick(later(1_000));
    client.say(clientFrame(kinds.text, get('/smuggled')));
    await until(() => client.rest.includes('smuggled'));
    expect(server.asked).toEqual(['GET /a']);
    client.reset();
    await until(() => relay.closings.length > 0);
    expect(relay.closings).toEqual([[1006, '']]);
  });

  test('ends in order, and cuts off a client that does not leave', async () => {
    const relay = new Echo();
    const server = upgrading(relay);
    const client = await server.client();
    client.say(asking);
    await client.reply();
    client.say(clientFrame(kinds.close, closePayload(1000, 'bye')));
    expect(await client.ended).toBe('in order');
    expect(relay.closings).toEqual([[1000, 'bye']]);
    let closed = false;
    void server.listener.closed().then(() => {
      closed = true;
    });
    server.listener.tick(later(4_000));
    await aMoment();
    expect(closed).toBe(false);
    server.listener.tick(later(5_000));
    await server.listener.closed();
  });

  test('is closed when its relay throws', async () => {
    const server = upgrading(new Echo());
    const client = await server.client();
    client.say(asking);
    await client.reply();
    client.say(clientFrame(kinds.text, 'throw'));
    expect(await hears(client, 4)).toEqual([[kinds.close, String(closePayload(1011))]]);
    client.say(clientFrame(kinds.close, closePayload(1011)));
    expect(await client.ended).toBe('in order');
    expect(server.failed).toEqual([new Error('thrown by the relay')]);
  });

  test('is told when the listener ends, and closed at last', async () => {
    const relay = new Echo();
    const server = upgrading(relay);
    const client = await server.client();
    client.say(asking);
    await client.reply();
    server.listener.end();
    await aMoment();
    expect([relay.dismissals, relay.closings]).toEqual([0, []]);
    server.listener.dismissSockets();
    expect(await hears(client, 4)).toMatchObject([[kinds.close, expect.stringContaining('shutting down')]]);
    client.say(clientFrame(kinds.close, closePayload(1001)));
    expect(await client.ended).toBe('in order');
    client.leave();
    await server.listener.closed();
  });
});

describe('a request stays one', () => {
  test.each([
    ['without a handshake', get('/a')],
    ['with a body', `${lines('GET /a HTTP/1.1', ...handshake, 'content-length: 5')}he`],
    ['in HTTP/1.0', lines('GET /a HTTP/1.0', ...handshake)],
    ['with another method', lines('POST /a HTTP/1.1', ...handshake)],
  ])('%s', async (_, asked) => {
    const relay = new Echo();
    const client = await upgrading(relay).client();
    client.say(asked);
    expect(await client.reply()).toMatchObject({ status: 200, body: 'not upgraded' });
    expect(relay.client).toBeNull();
  });

  test('when its client is gone', async () => {
    const accepted = Promise.withResolvers<void>();
    const relay = new Echo();
    const server = upgrading(relay, accepted.promise);
    const client = await server.client();
    client.say(asking);
    await until(() => server.asked.length > 0);
    client.leave();
    await server.listener.closed();
    accepted.resolve();
    await aMoment();
    expect([relay.client, relay.closings]).toEqual([null, []]);
  });
});
