/** How what is known of a list is carried along and kept small. */
import { describe, expect, test } from 'bun:test';
import { carriedAlong, compare, neighbours, spread, withMark } from './known-list.ts';
import type { Mark } from './walk.ts';

const at = (place: string, id = 'x') => ({ place, id });
const mark = (place: string, rank: number): Mark => ({ point: at(place), rank });
const end = (rank: number): Mark => ({ point: null, rank });

describe('a mark', () => {
  test('moves by what the list gained and lost before it, and the end by all of it', () => {
    const marks = [mark('c', 10), mark('f', 20), end(30)];
    const changes = [
      { ...at('a'), sign: 1 as const },
      { ...at('d'), sign: -1 as const },
      { ...at('d', 'y'), sign: -1 as const },
      { ...at('z'), sign: 1 as const },
    ];
    const ranks = (direction: 'asc' | 'desc') => carriedAlong(marks, changes, direction).map(({ rank }) => rank);
    expect(ranks('asc')).toEqual([11, 19, 30]);
    expect(ranks('desc')).toEqual([9, 21, 30]);
  });

  test('does not move by a change at its own point: that row stands behind it', () => {
    expect(carriedAlong([mark('c', 10)], [{ ...at('c'), sign: 1 }], 'asc')).toEqual([mark('c', 10)]);
  });

  test('takes the place of another with as many rows before it, but never that of the end', () => {
    expect(withMark([mark('a', 5), mark('b', 9), end(9)], mark('c', 9))).toEqual([mark('a', 5), end(9), mark('c', 9)]);
    expect(withMark([mark('c', 9), end(12)], end(9))).toEqual([mark('c', 9), end(9)]);
  });
});

test('points are compared as bytes, as the engines do, and then by id', () => {
  expect(compare(at('\u{ff5e}'), at('\u{1f600}'), 'asc')).toBeLessThan(0);
  expect(compare(at('a', '1'), at('a', '2'), 'asc')).toBeLessThan(0);
  expect(compare(at('a', '1'), at('a', '2'), 'desc')).toBeGreaterThan(0);
  expect(compare(at('a', '1'), at('a', '1'), 'desc')).toBe(0);
});

test('a point stands between the nearest marks on its two sides', () => {
  const marks = [end(40), mark('b', 10), mark('f', 20), mark('k', 30)];
  expect(neighbours(marks, at('g'), 'asc')).toEqual([mark('f', 20), undefined, mark('k', 30)]);
  expect(neighbours(marks, at('f'), 'asc')).toEqual([mark('b', 10), mark('f', 20), mark('k', 30)]);
  expect(neighbours(marks, at('z'), 'asc')).toEqual([mark('k', 30), undefined, end(40)]);
  expect(neighbours(marks, null, 'asc')).toEqual([mark('k', 30), end(40), undefined]);
});

test('of many marks those that stand close together make room, the end and the newest stay', () => {
  const close = Array.from({ length: 40 }, (_, index) => mark(`p${index}`, 1_000 + index));
  const kept = spread([mark('far', 50_000), ...close, end(100_000), mark('new', 1_040)]);
  expect(kept).toHaveLength(20);
  for (const rank of [50_000, 100_000, 1_040]) expect(kept.map((one) => one.rank)).toContain(rank);
});
