import { expect, test } from 'bun:test';
import { charactersIn } from './characters.ts';

test('texts are counted wherever they stand', () => {
  expect(charactersIn('word')).toBe(4);
  expect(charactersIn([{ role: 'user', content: [{ type: 'text', text: 'Tell me.' }], n: 5, x: null }])).toBe(
    4 + 4 + 8,
  );
  expect(charactersIn(undefined)).toBe(0);
});

test('long texts are texts, in whichever script', () => {
  expect(charactersIn('word '.repeat(1_000))).toBe(5_000);
  expect(charactersIn('語'.repeat(5_000))).toBe(5_000);
});

test('a picture of megabytes is no million of tokens', () => {
  const picture = Buffer.alloc(3_000_000, 7).toString('base64');
  expect(charactersIn(picture)).toBe(4_000);
  expect(charactersIn({ url: `data:image/png;base64,${picture}` })).toBe(4_000);
});

test('nesting without end is walked without falling', () => {
  expect(charactersIn(JSON.parse(`${'['.repeat(20_000)}"deep"${']'.repeat(20_000)}`))).toBe(4);
});
