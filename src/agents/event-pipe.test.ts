/** A stream of an agent that falls silent: comments keep it open, and after five minutes it is given up with an error event. */
import { expect, test } from 'bun:test';
import { Abort } from '../wire/abort.ts';
import type { ReadBytes } from '../wire/client/answer.ts';
import { eventPipe, type PipeEnd } from './event-pipe.ts';
import { Heartbeat } from './keep-alive.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A stream whose pieces, deadlines and beats come when the test says so. */
function newStream() {
  const pieces: ((piece: ReadBytes) => void)[] = [];
  const deadlines: { ms: number; expire(): void; isCleared: boolean }[] = [];
  const beats: { ms: number; run(): void; isStopped: boolean }[] = [];
  const abort = new Abort();
  const ends: PipeEnd[] = [];
  let sent = '';
  const over = Promise.withResolvers<string>();
  const body = {
    read: () =>
      new Promise<ReadBytes>((resolve, reject) => {
        pieces.push(resolve);
        abort.addEventListener('abort', () => reject(abort.reason));
      }),
    cancel: async () => undefined,
  };
  const source = eventPipe({
    body,
    abort,
    deadlines: {
      set(ms, waiting) {
        const deadline = {
          ms,
          isCleared: false,
          expire: () => (typeof waiting === 'function' ? waiting() : waiting.expired()),
        };
        deadlines.push(deadline);
        const clear = () => {
          deadline.isCleared = true;
        };
        return { clear, extend: clear, rest: clear };
      },
    },
    heartbeat: new Heartbeat((ms, run) => {
      const beat = { ms, run, isStopped: false };
      beats.push(beat);
      return () => {
        beat.isStopped = true;
      };
    }),
    passing: (bytes) => ({ bytes }),
    lastEvent: (error) => `data: ${JSON.stringify(error.rpc)}\n\n`,
    ended: (end) => void ends.push(end),
  });
  source.deliver({
    write(bytes) {
      sent += new TextDecoder().decode(bytes);
      return undefined;
    },
    end: () => over.resolve(sent),
    cut: over.reject,
  });
  return { pieces, deadlines, beats, ends, over: over.promise, sent: () => sent, source };
}

test('silence of 300 seconds ends in a timeout that the client is told, and the log', async () => {
  const { deadlines, ends, over } = newStream();
  expect(deadlines.map(({ ms }) => ms)).toEqual([300_000]);
  deadlines[0]?.expire();
  const told = await over;
  expect(told).toContain('"code":"upstream_timeout"');
  expect(told).toContain('silent for 300000 ms');
  expect(ends.map(({ fault }) => fault?.kind)).toEqual(['upstream_timeout']);
});

test('every piece begins the count anew, and a stream that ends has none left', async () => {
  const { deadlines, pieces, ends, over } = newStream();
  pieces.shift()?.({ done: false, value: bytesOf('data: one\n\n') });
  while (deadlines.length < 2) await Promise.resolve();
  expect(deadlines.map(({ isCleared }) => isCleared)).toEqual([true, false]);
  pieces.shift()?.({ done: true });
  expect(await over).toBe('data: one\n\n');
  expect(deadlines.every(({ isCleared }) => isCleared)).toBe(true);
  expect(ends).toMatchObject([{ fault: null }]);
});

test('a silent stream gets a comment every 15 seconds, and none once it is over', async () => {
  const { beats, pieces, over, sent } = newStream();
  expect(beats.map(({ ms }) => ms)).toEqual([15_000]);
  beats[0]?.run();
  beats[0]?.run();
  expect(sent()).toBe(': keep-alive\n\n: keep-alive\n\n');
  pieces.shift()?.({ done: true });
  await over;
  expect(beats[0]?.isStopped).toBe(true);
});
