import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { logRecord, message, segmentOf } from '../../test/log-records.ts';
import { framesIn, type SegmentFrame } from './segment.ts';
import { SegmentFile } from './segment-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-segment-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'segment');
const file = new SegmentFile();

/** What a frame holds now: its memory is used again for the next. */
const copied = ({ rows, messages }: SegmentFrame) => ({ ids: rows.map((row) => row[2]), messages: Bun.hash(messages) });

function readFrom(segment: Buffer): ReturnType<typeof copied>[] {
  writeFileSync(path, segment);
  const read: ReturnType<typeof copied>[] = [];
  expect(file.read(path, (frames) => read.push(...Array.from(frames, copied)))).not.toBeNull();
  return read;
}

const recordOf = (size: number) =>
  logRecord({}, { request: message('text/plain', new Uint8Array(size).fill(size % 251)) });

test('frames are the same as in the whole, whatever their size and wherever the file ends', () => {
  // Some are larger than what is read at once.
  const size = fc.oneof(fc.nat(2_000), fc.nat(90_000), fc.nat(700_000));
  fc.assert(
    fc.property(fc.array(fc.array(size, { minLength: 1, maxLength: 3 }), { maxLength: 6 }), fc.nat(), (shape, cut) => {
      const segment = Buffer.concat(shape.map((sizes) => segmentOf(sizes.map(recordOf))));
      expect(readFrom(segment)).toEqual(Array.from(framesIn(segment), copied));
      const part = segment.subarray(0, cut % (segment.length + 1));
      expect(readFrom(part)).toEqual(Array.from(framesIn(part), copied));
    }),
    { numRuns: 60 },
  );
});

test('a damaged frame is passed over and told; what stands around it is read', () => {
  const sound = segmentOf([recordOf(10)]);
  for (const at of [0, 4, 12, 20]) {
    const broken = segmentOf([recordOf(20)]);
    broken[at] = (broken[at] ?? 0) ^ 0xff;
    writeFileSync(path, Buffer.concat([sound, broken, sound, sound]));
    const read = file.read(path, (frames) => Array.from(frames, copied).length);
    expect(read).toEqual({ taken: 3, damaged: true });
  }
});

test('the beginning of a frame at the end is no damage', () => {
  const sound = segmentOf([recordOf(10)]);
  for (const kept of [1, 15, 16, sound.length - 1]) {
    writeFileSync(path, Buffer.concat([sound, sound.subarray(0, kept)]));
    expect(file.read(path, (frames) => [...frames].length)).toEqual({ taken: 1, damaged: false });
  }
});

test('a file that is gone is no fault, and nothing is taken', () => {
  expect(file.read(join(folder, 'none'), () => expect.unreachable())).toBeNull();
});
