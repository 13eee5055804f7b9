import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type SimulatedRealtime, startRealtime } from '../../../test/providers/realtime.ts';
import { RealtimeClient } from '../../../test/realtime-client.ts';
import { type RealtimeWorld, startRealtimeWorld, workspaceKey } from '../../../test/realtime-world.ts';

const withKey = { 'x-gw-api-key': workspaceKey };

let a: SimulatedRealtime;
let world: RealtimeWorld;

beforeAll(() => {
  a = startRealtime();
  world = startRealtimeWorld({ a: { url: a.url } });
});

afterAll(async () => {
  await world.stop();
  await a.stop();
  expect(world.faults).toEqual([]);
});

/** A client and the provider's session behind it. */
async function open(query = '?model=@a/gpt-realtime', headers: Record<string, string> = {}) {
  const opening = a.session();
  const client = await RealtimeClient.open(world.socketUrl + query, { ...withKey, ...headers });
  return { client, session: await opening };
}

async function close({ client }: { client: RealtimeClient }) {
  client.socket.close();
  await client.closed;
  await world.idle();
}

describe('the relay', () => {
  test("the provider's greeting, sent before the client was accepted, arrives first", async () => {
    const both = await open();
    expect(JSON.parse(String(await both.client.next())).type).toBe('session.created');
    await close(both);
  });

  test('text and binary frames go both ways unchanged and in order', async () => {
    const both = await open();
    const { client, session } = both;
    await client.event('session.created');
    const text = '{ "type" : "x",\n"umlaut": "\\u00e4 ä 🎧" }';
    const bytes = Buffer.from([0, 1, 2, 254, 255]);
    client.socket.send(text);
    client.socket.send(bytes);
    client.socket.send('');
    expect(await session.next()).toBe(text);
    expect(await session.next()).toEqual(bytes);
    expect(await session.next()).toBe('');
    session.socket.send(text);
    session.socket.send(bytes);
    session.socket.send('');
    expect(await client.next()).toBe(text);
    expect(await client.next()).toEqual(bytes);
    expect(await client.next()).toBe('');
    await close(both);
  });

  test('a frame of 20 MB goes through in both directions', async () => {
    const both = await open();
    const { client, session } = both;
    await client.event('session.created');
    const large = Buffer.alloc(20 * 1024 * 1024, 'speech');
    client.socket.send(large);
    expect(Bun.hash(await session.next())).toBe(Bun.hash(large));
    session.socket.send(large);
    expect(Bun.hash(await client.next())).toBe(Bun.hash(large));
    await close(both);
  });

  test('a frame beyond the limit closes the session with 1009', async () => {
    const { client, session } = await open();
    client.socket.send(Buffer.alloc(33 * 1024 * 1024));
    expect((await client.closed).code).toBe(1009);
    expect((await session.closed).code).toBe(1006);
    await world.idle();
  });

  test('a client that does not read stops the provider, and nothing is lost when it reads again', async () => {
    const both = await open();
    const { client, session } = both;
    await client.event('session.created');
    client.socket.pause();
    const frames = 64;
    for (let index = 0; index < frames; index++) session.socket.send(Buffer.alloc(1024 * 1024, index));
    await stays(
      () => session.socket.getBufferedAmount(),
      (waiting) => waiting > 40 * 1024 * 1024,
    );
    client.socket.resume();
    for (let index = 0; index < frames; index++) expect((await client.next())[0]).toBe(index);
    await close(both);
  });

  test('a provider that does not read stops the client, and nothing is lost when it reads again', async () => {
    const both = await open();
    const { client, session } = both;
    session.socket.pause();
    const frames = 64;
    for (let index = 0; index < frames; index++) client.socket.send(Buffer.alloc(1024 * 1024, index));
    await stays(
      () => client.socket.bufferedAmount,
      (waiting) => waiting > 40 * 1024 * 1024,
    );
    session.socket.resume();
    for (let index = 0; index < frames; index++) expect((await session.next())[0]).toBe(index);
    await close(both);
  });
});

/** The same figure, twice in a row with time between, once whatever moves has come to rest. */
async function stays(figure: () => number, holds: (figure: number) => boolean) {
  let before = -1;
  while (before !== figure()) {
    before = figure();
    await Bun.sleep(50);
  }
  expect(holds(figure())).toBe(true);
}

describe('the end', () => {
  test.each([
    [1000, 'bye'],
    [1011, 'The server had an error'],
    [4000, 'session_expired'],
  ])("the provider's close with %d arrives at the client", async (code, reason) => {
    const { client, session } = await open();
    session.socket.close(code, reason);
    expect(await client.closed).toEqual({ code, reason });
    await world.idle();
  });

  test("the provider's close without a code arrives without one", async () => {
    const { client, session } = await open();
    session.socket.close(1005);
    expect(await client.closed).toEqual({ code: 1005, reason: '' });
    await world.idle();
  });

  test('a provider that breaks off leaves the client with an abnormal end, and a failed session in the log', async () => {
    const { client, session } = await open(undefined, { 'x-gw-trace-id': 'cut-off' });
    session.socket.terminate();
    expect((await client.closed).code).toBe(1006);
    await world.idle();
    const [record] = recordsOf('cut-off');
    expect(record?.metrics).toMatchObject({ response_status_code: 502, is_success: false });
    expect(record?.metrics.error_message).toContain('cut the session off');
  });

  test.each([
    [1000, 'done'],
    [1001, 'going away'],
    [4321, 'my own reason'],
  ])("the client's close with %d arrives at the provider", async (code, reason) => {
    const { client, session } = await open();
    client.socket.close(code, reason);
    expect(await session.closed).toEqual({ code, reason });
    await world.idle();
  });

  test("the client's close without a code arrives without one", async () => {
    const { client, session } = await open();
    client.socket.close();
    expect(await session.closed).toEqual({ code: 1005, reason: '' });
    await world.idle();
  });

  test('a client that vanishes closes the provider within 100 ms', async () => {
    const { client, session } = await open();
    const left = performance.now();
    client.socket.terminate();
    expect((await session.closed).code).toBe(1006);
    expect(performance.now() - left).toBeLessThan(100);
    await world.idle();
  });
});

const recordsOf = (traceId: string) => world.records.filter(({ metrics }) => metrics.trace_id === traceId);
