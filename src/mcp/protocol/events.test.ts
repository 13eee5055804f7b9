/** Events as they come: in whatever pieces, for work that grows with their bytes and not with their pieces. */
import { afterEach, expect, spyOn, test } from 'bun:test';
import { EventReader, EventTooLarge } from './events.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const pieces = function* (bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
};

let spies: { mockRestore(): void }[] = [];
afterEach(() => {
  for (const spy of spies) spy.mockRestore();
  spies = [];
});

/** Counts the bytes that are copied and decoded while events are read. */
function countedWork(): () => number {
  const concat = spyOn(Buffer, 'concat');
  const decode = spyOn(TextDecoder.prototype, 'decode');
  spies = [concat, decode];
  const lengthOf = (list: readonly Uint8Array[]) => list.reduce((sum, one) => sum + one.length, 0);
  return () =>
    concat.mock.calls.reduce((sum, [list]) => sum + lengthOf(list), 0) +
    decode.mock.calls.reduce((sum, [given]) => sum + ((given as Uint8Array | undefined)?.length ?? 0), 0);
}

test.each([
  ['one event in pieces of a byte', `data: ${'x'.repeat(200_000)}\n\n`, 1, 1],
  ['one event of many lines', `${'data: x\n'.repeat(50_000)}\n`, 7, 1],
  ['many events in pieces of a byte', 'data: x\n\n'.repeat(20_000), 1, 20_000],
])('%s costs as much as its bytes', (_, text, size, count) => {
  const bytes = bytesOf(text);
  const work = countedWork();
  const reader = new EventReader(1024 * 1024);
  let read = 0;
  for (const piece of pieces(bytes, size)) read += reader.push(piece).length;
  expect(read).toBe(count);
  expect(work()).toBeLessThanOrEqual(4 * bytes.length);
});

test('an event that grows beyond the limit is told while it grows', () => {
  const reader = new EventReader(1_000);
  const feed = () => {
    for (const piece of pieces(bytesOf('x'.repeat(2_000)), 1)) reader.push(piece);
  };
  expect(feed).toThrow(EventTooLarge);
});
