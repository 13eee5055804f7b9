/** What samples of semantic hits say of the threshold. */
import { expect, test } from 'bun:test';
import { verificationOf, verifyMetadata } from './cache-verification.ts';

const samples = (agrees: boolean, from: number, count: number) =>
  Array.from({ length: count }, (_, at) => verifyMetadata(agrees, from + at / 1_000));

test('the proposed threshold is the lowest at which enough of the samples were right', () => {
  const result = verificationOf(samples(true, 0.96, 40), [...samples(false, 0.9, 10), ...samples(true, 0.95, 0)]);
  expect(result).toEqual({ samples: 50, precision: 0.8, proposed_threshold: 0.908 });
  expect(verificationOf(samples(true, 0.96, 38), samples(false, 0.99, 2)).proposed_threshold).toBe(0.96);
});

test('without enough samples nothing is proposed, and without any nothing is known', () => {
  expect(verificationOf([], [])).toEqual({ samples: 0, precision: null, proposed_threshold: null });
  expect(verificationOf(samples(true, 0.9, 19), [])).toEqual({ samples: 19, precision: 1, proposed_threshold: null });
  expect(verificationOf([], samples(false, 0.9, 30)).proposed_threshold).toBeNull();
});
