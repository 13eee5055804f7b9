import { expect, test } from 'bun:test';
import { tokensOf } from './token-estimate.ts';

const model = 'gpt-4o';

test('texts are counted wherever they stand', () => {
  expect(tokensOf('word', model)).toBe(1);
  expect(tokensOf([{ role: 'user', content: [{ type: 'text', text: 'Tell me.' }], n: 5, x: null }], model)).toBeCloseTo(
    1 + 1 + 3.2,
    5,
  );
  expect(tokensOf(undefined, model)).toBe(0);
});

test('long texts are texts, in whichever script', () => {
  expect(tokensOf('word '.repeat(1_000), model)).toBeCloseTo(1_000, 5);
  expect(tokensOf('語'.repeat(5_000), model)).toBeGreaterThan(3_000);
});

test('a picture of megabytes is no million of tokens', () => {
  const picture = Buffer.alloc(3_000_000, 7).toString('base64');
  expect(tokensOf(picture, model)).toBe(1_000);
  expect(tokensOf({ url: `data:image/png;base64,${picture}` }, model)).toBe(1_000);
});

test('nesting without end is walked without falling', () => {
  expect(tokensOf(JSON.parse(`${'['.repeat(20_000)}"deep"${']'.repeat(20_000)}`), model)).toBe(1);
});
