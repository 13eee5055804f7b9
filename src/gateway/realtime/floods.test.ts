/** Floods of frames and of events: the session pays for them, and nobody else. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { responseDone, type SimulatedRealtime, startRealtime } from '../../../test/providers/realtime.ts';
import { RealtimeClient } from '../../../test/realtime-client.ts';
import { type RealtimeWorld, startRealtimeWorld, workspaceKey } from '../../../test/realtime-world.ts';
import type { ClientSocket } from '../../wire/websocket/relay.ts';
import { Deadlines } from '../upstream/deadlines.ts';
import { FrameBudgets } from './frame-budget.ts';
import { Session } from './session.ts';
import type { ProviderSocket, UpstreamListener } from './upstream-socket.ts';

let provider: SimulatedRealtime;
let world: RealtimeWorld;

beforeAll(() => {
  provider = startRealtime();
  world = startRealtimeWorld({ a: { url: provider.url } });
});

afterAll(async () => {
  await world.stop();
  await provider.stop();
  expect(world.faults).toEqual([]);
});

async function open(traceId: string) {
  const opening = provider.session();
  const client = await RealtimeClient.open(`${world.socketUrl}?model=@a/gpt-realtime`, {
    'x-gw-api-key': workspaceKey,
    'x-gw-trace-id': traceId,
  });
  return { client, session: await opening };
}

test('a provider that ends more responses than a model could is cut off, and the log takes only some of them', async () => {
  const { client, session } = await open('flood');
  const done = JSON.stringify(responseDone());
  for (let count = 0; count < 3_000; count++) session.socket.send(done);
  expect((await client.closed).code).toBe(4429);
  await world.idle();
  const records = world.records.filter(({ metrics }) => metrics.trace_id === 'flood');
  expect(records.length).toBeGreaterThan(90);
  expect(records.length).toBeLessThan(200);
});

/** A session between two sides that only note what happens to them. */
function bareSession() {
  const noted: string[] = [];
  let listener: UpstreamListener | null = null;
  const upstream: ProviderSocket = {
    listen: (given) => {
      listener = given;
    },
    protocol: '',
    waiting: 0,
    paused: false,
    send: () => undefined,
    ping: () => undefined,
    pause: () => void noted.push('provider paused'),
    resume: () => void noted.push('provider resumed'),
    close: () => void noted.push('provider closed'),
    terminate: () => void noted.push('provider terminated'),
  };
  const client: ClientSocket = {
    send: () => 1,
    close: (code) => void noted.push(`client closed with ${code}`),
    terminate: () => undefined,
    pause: () => void noted.push('client paused'),
    resume: () => void noted.push('client resumed'),
    getBufferedAmount: () => 0,
  };
  const deadlines = new Deadlines();
  const budget = new FrameBudgets(() => 0).open('o');
  const session = new Session(upstream, deadlines, {
    pingMs: 60_000,
    standing: async () => null,
    observe: () => 0,
    charge: (units) => budget.charge(units),
    gathers: () => true,
    ended: () => undefined,
    over: () => undefined,
  });
  session.opened(client);
  const hear = () => {
    listener?.alive();
    listener?.message('');
  };
  return { session, noted, hear, stop: () => deadlines.stop() };
}

test('a client that floods is not read for a while, whatever its frames are', () => {
  for (const frame of ['message', 'overhead'] as const) {
    const { session, noted, stop } = bareSession();
    for (let count = 0; count < 2_000; count++) frame === 'message' ? session.message('') : session.overhead();
    expect(noted).toEqual([]);
    session.message('');
    session.message('');
    expect(noted).toEqual(['client paused']);
    stop();
  }
});

test('a provider that floods is not read for a while, and left where that does not stop it', () => {
  const { noted, hear, stop } = bareSession();
  for (let count = 0; count < 2_001; count++) hear();
  expect(noted).toEqual(['provider paused']);
  for (let count = 0; count < 2_048; count++) hear();
  expect(noted).toEqual(['provider paused', 'client closed with 4429', 'provider terminated']);
  stop();
});
