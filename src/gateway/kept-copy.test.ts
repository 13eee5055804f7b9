import { expect, test } from 'bun:test';
import { KeptCopy } from './kept-copy.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat([...pieces]).toString();

test('many small pieces are kept in few, in their order', () => {
  const copy = new KeptCopy();
  const words = Array.from({ length: 100 }, (_, index) => `word${index} `);
  for (const word of words) copy.push(bytes(word));
  expect(textOf(copy.pieces)).toBe(words.join(''));
  expect([copy.size, copy.whole, copy.pieces.length]).toEqual([words.join('').length, true, 10]);
});

test('any beginning of it can be had', () => {
  const copy = new KeptCopy();
  const whole = Array.from({ length: 40 }, (_, index) => `${index},`).join('');
  for (const piece of whole.match(/.{1,3}/g) ?? []) copy.push(bytes(piece));
  for (let size = 0; size <= whole.length + 1; size++) expect(textOf(copy.upTo(size))).toBe(whole.slice(0, size));
});

test('what goes on from kept pieces counts them', () => {
  const copy = new KeptCopy([bytes('one '), bytes('two ')]);
  copy.push(bytes('three'));
  expect([textOf(copy.pieces), copy.size]).toEqual(['one two three', 13]);
});
