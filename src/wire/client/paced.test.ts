import { expect, test } from 'bun:test';
import type { ByteReader, ReadBytes } from './answer.ts';
import { PacedBody } from './paced.ts';

/** A body whose pieces are all there. */
function bodyOf(...pieces: string[]): ByteReader {
  const waiting = pieces.map((piece) => Buffer.from(piece));
  return {
    async read(): Promise<ReadBytes> {
      const value = waiting.shift();
      return value ? { done: false, value } : { done: true };
    },
    cancel: async () => undefined,
  };
}

const helping = 64 * 1024;

test('a body comes as it is, in helpings, and others have a turn behind each', async () => {
  const text = Array.from({ length: 40_000 }, (_, index) => `${index},`).join('');
  const body = new PacedBody(bodyOf(text));
  let turns = 0;
  let over = false;
  const others = () => {
    turns++;
    if (!over) setImmediate(others);
  };
  setImmediate(others);
  const pieces: Buffer[] = [];
  for (let read = await body.read(); !read.done; read = await body.read()) pieces.push(Buffer.from(read.value));
  over = true;
  expect(Buffer.concat(pieces).toString()).toBe(text);
  expect(pieces.every(({ length }) => length <= helping)).toBe(true);
  expect(pieces).toHaveLength(Math.ceil(text.length / helping));
  expect(turns).toBeGreaterThanOrEqual(pieces.length - 1);
});

test('small pieces come without a wait, until together they are a helping', async () => {
  const body = new PacedBody(bodyOf('x'.repeat(1_000), 'y'));
  let turns = 0;
  setImmediate(() => turns++);
  expect([(await body.read()).value?.length, (await body.read()).value?.length]).toEqual([1_000, 1]);
  expect([(await body.read()).done, turns]).toEqual([true, 0]);
});
