import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  bucketOf,
  type Latencies,
  latenciesFrom,
  mergeLatencies,
  middleOf,
  noLatencies,
  percentiles,
} from './latency.ts';

const counted = (values: readonly number[]): Latencies => {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(bucketOf(value), (counts.get(bucketOf(value)) ?? 0) + 1);
  return latenciesFrom(counts);
};

test('a bucket stands for values that are at most 0.1 % away from its own', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (ms) => {
      expect(Math.abs(middleOf(bucketOf(ms)) - ms)).toBeLessThanOrEqual(ms < 1_024 ? 0 : ms / 1_000);
    }),
  );
});

test('buckets rise with their values', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 - 2 }), (ms) => {
      const step = bucketOf(ms + 1) - bucketOf(ms);
      expect(step === 0 || step === 1).toBe(true);
    }),
  );
});

test('percentiles are those of the nearest rank', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1_023 }), { minLength: 1 }), (values) => {
      const sorted = values.toSorted((a, b) => a - b);
      const expected = [50, 95, 99].map(
        (level) => sorted[Math.max(1, Math.ceil((level / 100) * values.length)) - 1] ?? 0,
      );
      expect(percentiles(counted(values), [50, 95, 99])).toEqual(expected);
    }),
  );
});

test('parts that were counted apart merge into the whole', () => {
  const parts = [[5, 5_000], [5, 90, 70_000], []];
  expect(mergeLatencies(parts.map(counted))).toEqual(counted(parts.flat()));
});

test('nothing, negative and endless times count as the least and the largest', () => {
  expect(percentiles(noLatencies, [50, 99])).toEqual([0, 0]);
  expect([bucketOf(-5), bucketOf(0.4), bucketOf(Number.POSITIVE_INFINITY)]).toEqual([0, 0, bucketOf(2 ** 31 - 1)]);
});
