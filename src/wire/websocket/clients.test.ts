import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { createConnection } from 'node:net';
import { clientFrame, closePayload, kinds, serverFrames } from '../../../test/servers/client-frames.ts';
import { type Client, newWs, type Open, openBun, openWs, withWs } from '../../../test/servers/socket-clients.ts';
import { type Served, type SocketServer, startSocketServer } from '../../../test/servers/socket-server.ts';
import { until } from '../../../test/servers/wire-calls.ts';

let server: SocketServer;

beforeAll(() => {
  server = startSocketServer();
});

afterEach(async () => {
  await until(() => server.open === 0);
});

afterAll(() => server.stop());

describe.each<[string, Open]>(
  withWs
    ? [
        ['Bun', openBun],
        ['ws', openWs],
      ]
    : [['Bun', openBun]],
)('with %s', (_, open) => {
  async function both(): Promise<{ client: Client; served: Served }> {
    const accepting = server.next();
    const client = await open(server.url);
    return { client, served: await accepting };
  }

  async function leave({ client, served }: { client: Client; served: Served }): Promise<void> {
    client.close(1_000);
    expect((await client.closed).code).toBe(1_000);
    expect(await served.closed).toEqual({ code: 1_000, reason: '' });
    await served.ended;
  }

  test('text and bytes of every size come back as they were', async () => {
    const pair = await both();
    const sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000];
    for (const size of sizes) {
      const bytes = Buffer.alloc(size, 'speech');
      pair.client.send(bytes);
      pair.client.send('ž'.repeat(size / 2));
      const returned = await pair.client.next();
      expect(returned instanceof Buffer && returned.equals(bytes)).toBe(true);
      expect((await pair.client.next()) === 'ž'.repeat(size / 2)).toBe(true);
    }
    await leave(pair);
  });

  test('a message of 32 MiB comes back', async () => {
    const pair = await both();
    const large = Buffer.alloc(32 * 1024 * 1024, 'speech');
    pair.client.send(large);
    expect(Bun.hash(await pair.client.next())).toBe(Bun.hash(large));
    await leave(pair);
  });

  test('thousands of messages in a row come back in order', async () => {
    const pair = await both();
    const count = 5_000;
    for (let index = 0; index < count; index++) pair.client.send(`message ${index}`);
    for (let index = 0; index < count; index++) expect(await pair.client.next()).toBe(`message ${index}`);
    await leave(pair);
  });

  test('a ping is answered', async () => {
    const pair = await both();
    await pair.client.ping();
    await leave(pair);
  });

  test('our ping is answered, and so the client stays', async () => {
    const pair = await both();
    pair.served.socket.tick(performance.now() + 31_000);
    await until(() => pair.served.deliveries > 0);
    pair.served.socket.tick(performance.now() + 60_000);
    await leave(pair);
  });

  test.each([
    [1_000, 'done'],
    [4_321, 'my own reason ž'],
  ])("the client's close frame with %d is told, and answered with the same", async (code, reason) => {
    const { client, served } = await both();
    client.close(code, reason);
    expect(await served.closed).toEqual({ code, reason });
    expect((await client.closed).code).toBe(code);
    await served.ended;
  });

  test("the client's close frame without a code is told as one", async () => {
    const { client, served } = await both();
    client.close();
    expect(await served.closed).toEqual({ code: 1_005, reason: '' });
    await served.ended;
  });

  test.each([
    [1_000, 'done'],
    [4_401, 'key gone ž'],
    [1_011, ''],
  ])('our close frame with %d arrives behind what was sent, and is answered', async (code, reason) => {
    const { client, served } = await both();
    served.socket.send(Buffer.alloc(3_000_000));
    served.socket.close(code, reason);
    expect((await client.next()).length).toBe(3_000_000);
    expect(await client.closed).toEqual({ code, reason });
    expect((await served.closed).code).toBe(code);
    await served.ended;
  });

  test('our close frame without a code arrives without one', async () => {
    const { client, served } = await both();
    served.socket.close(1_005);
    expect((await client.closed).code).toBe(1_005);
    await served.ended;
  });

  test('a client that is cut off ends abnormally', async () => {
    const { client, served } = await both();
    served.socket.terminate();
    expect((await client.closed).code).toBe(1_006);
    expect(await served.closed).toEqual({ code: 1_006, reason: '' });
    await served.ended;
  });

  test('a client that vanishes is told as gone', async () => {
    const { client, served } = await both();
    client.terminate();
    expect(await served.closed).toEqual({ code: 1_006, reason: '' });
    await served.ended;
  });

  test('a message of more than 32 MiB is refused with 1009, and the client hears it', async () => {
    const { client, served } = await both();
    client.send(Buffer.alloc(33 * 1024 * 1024));
    expect((await client.closed).code).toBe(1_009);
    expect((await served.closed).code).toBe(1_006);
    await served.ended;
    expect(served.arrived).toEqual([]);
  });

  test('a client that does not read makes what is sent wait, and gets all of it when it reads', async () => {
    const pair = await both();
    const { client, served } = pair;
    client.pause();
    const count = 40;
    for (let index = 0; index < count; index++) served.socket.send(Buffer.alloc(1024 * 1024, index));
    expect(served.socket.getBufferedAmount()).toBeGreaterThan(0);
    expect(served.drains).toBe(0);
    client.resume();
    for (let index = 0; index < count; index++) {
      const frame = await client.next();
      expect([frame.length, frame[0]]).toEqual([1024 * 1024, index]);
    }
    expect(served.drains).toBe(1);
    expect(served.socket.getBufferedAmount()).toBe(0);
    await leave(pair);
  });

  test('a client that is held back waits, and loses nothing', async () => {
    const pair = await both();
    const { client, served } = pair;
    served.echoes = false;
    served.socket.pause();
    const count = 40;
    for (let index = 0; index < count; index++) client.send(Buffer.alloc(1024 * 1024, index));
    await until(() => client.waiting() > 0);
    expect(served.arrived.length).toBeLessThan(count);
    served.socket.resume();
    await until(() => served.arrived.length === count);
    expect(served.arrived.map((frame) => frame[0])).toEqual(Array.from({ length: count }, (__, index) => index));
    await leave(pair);
  });

  test('the protocol that was chosen is agreed upon', async () => {
    const choosing = startSocketServer('realtime');
    const accepting = choosing.next();
    const client = await open(choosing.url, ['other', 'realtime']);
    expect(client.protocol).toBe('realtime');
    client.close();
    await (await accepting).ended;
    choosing.stop();
  });
});

test.if(withWs)('fragments of ws arrive as one message', async () => {
  const accepting = server.next();
  const socket = await newWs(server.url, []);
  await new Promise<void>((resolve) => socket.on('open', resolve));
  const served = await accepting;
  const returned = new Promise<string>((resolve) => socket.on('message', (bytes) => resolve(bytes.toString())));
  const bytes = Buffer.from('žluťoučký');
  for (const byte of bytes) socket.send(Buffer.of(byte), { fin: false, binary: false });
  socket.ping('between');
  socket.send('', { fin: true });
  expect(await returned).toBe('žluťoučký');
  socket.close();
  await served.ended;
});

test('what comes together with the handshake is read, and the last word arrives before the connection closes', async () => {
  const received: Buffer[] = [];
  const handshake = [
    'GET / HTTP/1.1',
    'host: here',
    'upgrade: websocket',
    'connection: upgrade',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n');
  const frames = [clientFrame(kinds.text, 'early'), clientFrame(kinds.close, closePayload(1_000))];
  await new Promise<void>((resolve) => {
    const socket = createConnection(Number(new URL(server.url).port), '127.0.0.1', () => {
      socket.write(Buffer.concat([Buffer.from(handshake), ...frames]));
    });
    socket.on('data', (bytes) => void received.push(Buffer.from(bytes)));
    socket.on('close', () => resolve());
  });
  const all = Buffer.concat(received);
  const told = serverFrames(all.subarray(all.indexOf('\r\n\r\n') + 4));
  expect(told.map(({ kind, payload }) => [kind, payload.toString('latin1')])).toEqual([
    [kinds.text, 'early'],
    [kinds.close, closePayload(1_000).toString('latin1')],
  ]);
  await server.next();
});
