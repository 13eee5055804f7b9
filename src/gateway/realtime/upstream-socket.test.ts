/** Frames that come by the thousand in one read: told in slices, in order, and no more of them than can be held. */
import { afterEach, expect, test } from 'bun:test';
import type { SocketMessage } from '../../wire/websocket/relay.ts';
import { framesATurn, UpstreamSocket } from './upstream-socket.ts';

/** A provider that accepts, and then writes all of this at once. */
function providerOf(written: Uint8Array) {
  return Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, head) {
        const key = /sec-websocket-key: (\S+)/i.exec(head.toString())?.[1];
        if (!key) return;
        const accept = Bun.CryptoHasher.hash('sha1', `${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64');
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
        );
        socket.write(written);
      },
    },
  });
}

const frame = (text: string): Uint8Array => Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]);
const numbered = (count: number): Uint8Array =>
  Buffer.concat(Array.from({ length: count }, (_, index) => frame(String(index))));
const closeFrame = Buffer.from([0x88, 2, 0x0f, 0xa0]);

let provider: ReturnType<typeof providerOf> | null = null;
afterEach(() => provider?.stop(true));

async function open(written: Uint8Array): Promise<UpstreamSocket> {
  provider = providerOf(written);
  const address = { url: `ws://127.0.0.1:${provider.port}/`, headers: {}, protocols: [], serverName: null };
  return UpstreamSocket.open(address, new AbortController().signal);
}

/** How many frames were told in each turn of the event loop, until the connection closed. */
async function told(socket: UpstreamSocket, onFrame: (index: number) => void = () => undefined) {
  const frames: SocketMessage[] = [];
  const turns: number[] = [];
  let isFlooded = false;
  let isOver = false;
  let inTurn = 0;
  const watch = () => {
    turns.push(inTurn);
    inTurn = 0;
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  const code = await new Promise<number>((resolve) =>
    socket.listen({
      message(text) {
        inTurn++;
        frames.push(text);
        onFrame(frames.length);
      },
      alive: () => undefined,
      flooded() {
        isFlooded = true;
      },
      closed: resolve,
    }),
  );
  isOver = true;
  return { frames, most: Math.max(...turns, inTurn), isFlooded, code };
}

test('frames are told in order, few in a turn, and the end behind the last of them', async () => {
  const { frames, most, isFlooded, code } = await told(await open(Buffer.concat([numbered(3_000), closeFrame])));
  expect(frames).toEqual(Array.from({ length: 3_000 }, (_, index) => String(index)));
  expect(most).toBeLessThanOrEqual(2 * framesATurn);
  expect([isFlooded, code]).toEqual([false, 4000]);
});

test('a pause holds back what was read already', async () => {
  const socket = await open(Buffer.concat([numbered(1_000), closeFrame]));
  let count = 0;
  let whilePaused = -1;
  const { frames } = await told(socket, (index) => {
    count = index;
    if (index !== 10) return;
    socket.pause();
    // Many turns later it is still the tenth.
    let turns = 0;
    const wait = () => {
      if (++turns < 1_000) return void setImmediate(wait);
      whilePaused = count;
      socket.resume();
    };
    wait();
  });
  expect([whilePaused, frames.length]).toEqual([10, 1_000]);
});

test('a provider that cannot be held back is told as such, and nothing more is heard of it', async () => {
  const { frames, isFlooded } = await told(await open(numbered(100_000)));
  expect(isFlooded).toBe(true);
  expect(frames.length).toBeLessThan(10_000);
});
