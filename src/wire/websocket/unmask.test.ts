import { expect, test } from 'bun:test';
import { turned, unmask } from './unmask.ts';

const mask = [0x12, 0xf3, 0x04, 0xe5];
const asNumber = 0x12 | (0xf3 << 8) | (0x04 << 16) | (0xe5 << 24);
const plain = Uint8Array.from({ length: 1_200 }, (_, index) => (index * 37) & 0xff);

test('every stretch of the memory gets its mask taken off, and nothing around it', () => {
  for (let offset = 0; offset < 4; offset++) {
    for (let from = 0; from < 9; from++) {
      for (const size of [0, 1, 2, 3, 4, 5, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 1_000]) {
        const memory = new Uint8Array(plain);
        const bytes = memory.subarray(offset);
        unmask(bytes, from, from + size, asNumber);
        const expected = plain.map((byte, index) => {
          const at = index - offset - from;
          return at >= 0 && at < size ? byte ^ (mask[at % 4] ?? 0) : byte;
        });
        expect(memory.every((byte, index) => byte === expected[index])).toBe(true);
      }
    }
  }
});

test('a mask goes on where the piece before ended', () => {
  for (let cut = 0; cut <= 300; cut++) {
    const whole = new Uint8Array(plain);
    const pieces = new Uint8Array(plain);
    unmask(whole, 0, 300, asNumber);
    unmask(pieces, 0, cut, asNumber);
    unmask(pieces, cut, 300, turned(asNumber, cut));
    expect(Buffer.compare(whole, pieces)).toBe(0);
  }
});
