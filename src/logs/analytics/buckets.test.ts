import { describe, expect, test } from 'bun:test';
import { edgesOf, localText, localTime } from './buckets.ts';

const points = (from: string, to: string): string[] => {
  const start = localTime(from);
  return edgesOf(start, Date.parse(to))
    .slice(0, -1)
    .map((edge) => localText(edge, start.offset));
};

describe('the spans of a graph', () => {
  test.each([
    ['an hour', '2026-05-01T10:00:00Z', '2026-05-01T11:00:00Z', 60],
    ['six hours', '2026-05-01T06:00:00Z', '2026-05-01T12:00:00Z', 72],
    ['a day', '2026-05-01T00:00:00Z', '2026-05-02T00:00:00Z', 48],
    ['a week', '2026-05-01T00:00:00Z', '2026-05-08T00:00:00Z', 28],
    ['31 days', '2026-05-01T00:00:00Z', '2026-06-01T00:00:00Z', 31],
    ['180 days', '2026-01-05T00:00:00Z', '2026-07-04T00:00:00Z', 26],
    ['a year', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z', 12],
  ])('of %s', (_, from, to, count) => {
    expect(points(from, to)).toHaveLength(count);
  });

  test('begin on the clock of whoever asks', () => {
    expect(points('2026-05-01T13:17:00+05:30', '2026-05-12T00:00:00+05:30').slice(0, 2)).toEqual([
      '2026-05-01T00:00:00+05:30',
      '2026-05-02T00:00:00+05:30',
    ]);
    expect(points('2026-05-01T00:00:00-03:00', '2026-09-01T00:00:00-03:00').slice(0, 2)).toEqual([
      '2026-04-27T00:00:00-03:00',
      '2026-05-04T00:00:00-03:00',
    ]);
    expect(points('2026-01-15T00:00:00+01:00', '2026-12-01T00:00:00+01:00').at(-1)).toBe('2026-11-01T00:00:00+01:00');
  });

  test('cover the end where it lies inside one', () => {
    const edges = edgesOf(localTime('2026-05-01T00:00:00Z'), Date.parse('2026-05-01T00:30:30Z'));
    expect(new Date(edges.at(-1) ?? 0).toISOString()).toBe('2026-05-01T00:31:00.000Z');
  });
});
