import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type SimulatedRealtime, startRealtime } from '../../../test/providers/realtime.ts';
import type { RealtimeTranslator } from '../../providers/provider.ts';
import type { SocketMessage } from '../../wire/websocket/relay.ts';
import { TranslatedSocket } from './translated-socket.ts';
import { UpstreamSocket } from './upstream-socket.ts';

let provider: SimulatedRealtime;
beforeAll(() => {
  provider = startRealtime();
});
afterAll(() => provider.stop());

/** Says in capitals to the provider what the client says, and cannot stand one word. */
const shouting: RealtimeTranslator = {
  held: 7,
  opened: () => ({ toClient: ['welcome'], toProvider: ['HELLO'] }),
  fromClient(text) {
    if (text === 'unbearable') throw new Error('A fault of ours');
    return { toClient: ['heard'], toProvider: [text === null ? 'BYTES' : text.toUpperCase()] };
  },
  fromProvider: (text) => ({ toClient: [text.toLowerCase()], toProvider: [] }),
  closed: ({ code, by }) => [`${by} ${code}`],
};

async function open() {
  const opening = provider.session();
  const address = { url: provider.url.replace('http', 'ws'), headers: {}, protocols: [], serverName: null };
  const faults: unknown[] = [];
  const told: SocketMessage[] = [];
  const upstream = await UpstreamSocket.open(address, new AbortController().signal);
  const socket = new TranslatedSocket(upstream, shouting, (fault) => void faults.push(fault));
  const closed = new Promise<number>((resolve) => {
    const unheard = () => undefined;
    socket.listen({ message: (frame) => void told.push(frame), alive: unheard, flooded: unheard, closed: resolve });
  });
  return { socket, session: await opening, told, faults, closed };
}

test('every frame is said in the words of the other side', async () => {
  const { socket, session, told, closed } = await open();
  socket.send('Hi');
  socket.send(Buffer.from([1]));
  expect([await session.next(), await session.next(), await session.next()]).toEqual(['HELLO', 'HI', 'BYTES']);
  session.socket.send(Buffer.from('FINE'));
  session.socket.close(4000, 'done');
  expect(await closed).toBe(4000);
  expect(told[0]).toBe('welcome');
  expect(told.slice(-2)).toEqual(['fine', 'provider 4000']);
});

test('an end that the client began is told as such', async () => {
  const { socket, session, told, closed } = await open();
  socket.close(1000, 'enough');
  expect(await session.closed).toEqual({ code: 1000, reason: 'enough' });
  await closed;
  expect(told.at(-1)).toBe('client 1000');
});

test('what waits for the provider counts as not sent yet', async () => {
  const { socket, session } = await open();
  expect(socket.waiting).toBeGreaterThanOrEqual(7);
  socket.terminate();
  await session.closed;
});

test('a fault of ours is reported and cuts the session off', async () => {
  const { socket, faults, closed } = await open();
  socket.send('unbearable');
  expect(await closed).toBe(1006);
  expect(faults).toEqual([new Error('A fault of ours')]);
});
