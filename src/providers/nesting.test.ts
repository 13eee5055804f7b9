import { expect, test } from 'bun:test';
import { nestsTooDeep } from './nesting.ts';

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test('lists and objects within each other are counted', () => {
  expect(nestsTooDeep(lists(20_000))).toBe(true);
  expect(nestsTooDeep(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)).toBe(true);
});

test('what stands beside each other is not, however much it is', () => {
  expect(nestsTooDeep(`[${Array(20_000).fill('{"a":[]}').join()}]`)).toBe(false);
});

test('brackets in strings are none, also behind quotes that are escaped', () => {
  for (const text of ['[', '{', '\\', '"', '"[', '\\"[', '\\\\"{'].map((piece) => piece.repeat(20_000))) {
    expect(nestsTooDeep(JSON.stringify({ text }))).toBe(false);
    expect(nestsTooDeep(JSON.stringify({ text }).replace(/}$/, `,"deep":${lists(2_000)}}`))).toBe(true);
  }
});

test('what never closes comes to an end', () => {
  expect(nestsTooDeep(`"${'x'.repeat(20_000)}`)).toBe(false);
  expect(nestsTooDeep('['.repeat(20_000))).toBe(true);
});
