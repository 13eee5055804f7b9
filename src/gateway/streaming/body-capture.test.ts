import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BodyCapture } from './body-capture.ts';

function copyOf(pieces: readonly Uint8Array[]): BodyCapture {
  const copy = new BodyCapture();
  for (const piece of pieces) copy.push(piece);
  return copy;
}

const texts = (pieces: readonly string[]): Uint8Array[] => pieces.map((piece) => Buffer.from(piece));

test('events that are alike come back whole, in their order', () => {
  const events = Array.from({ length: 300 }, (_, index) => `data: {"id":"chatcmpl-1","content":"word${index}"}\n\n`);
  const copy = copyOf(texts(events));
  expect(Buffer.from(copy.bytes).toString()).toBe(events.join(''));
  expect(copy.size).toBe(events.join('').length);
});

test('whatever the pieces share, what was pushed comes back', () => {
  // Few letters, so that pieces begin and end alike, repeat each other, and overlap with themselves.
  const piece = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      expect(Buffer.from(copyOf(texts(pieces)).bytes).toString()).toBe(pieces.join(''));
    }),
    { numRuns: 2_000 },
  );
});

test('pieces that share more than a number holds come back whole', () => {
  const long = Buffer.alloc(200_000, 'x');
  const pieces = [long, Buffer.concat([long, Buffer.from('y')]), long.subarray(1), Buffer.from('z'), long];
  expect(Buffer.compare(copyOf(pieces).bytes, Buffer.concat(pieces))).toBe(0);
});

test('what a piece holds later is not what was kept', () => {
  const piece = Buffer.from('before');
  const copy = copyOf([piece]);
  piece.write('behind');
  expect(Buffer.from(copy.bytes).toString()).toBe('before');
});

test('beyond the bound nothing is kept, but all is counted', () => {
  const megabyte = new Uint8Array(1024 * 1024).fill(7);
  const copy = copyOf(Array.from({ length: 6 }, () => megabyte));
  expect([copy.size, copy.bytes.length]).toEqual([6 * 1024 * 1024, 4 * 1024 * 1024]);
});
