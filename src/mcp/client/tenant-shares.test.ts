import { expect, test } from 'bun:test';
import { TenantShares } from './tenant-shares.ts';

test('an organisation takes a part of the places, and leaves others theirs', () => {
  const shares = new TenantShares(8);
  expect([1, 2, 3].map(() => shares.take('a'))).toEqual([true, true, false]);
  expect(shares.take('b')).toBe(true);
  shares.give('a');
  expect(shares.take('a')).toBe(true);
});

test('there are only so many in all, and nobody gives back what he does not have', () => {
  const shares = new TenantShares(2, 2);
  expect([shares.take('a'), shares.take('b'), shares.take('c')]).toEqual([true, true, false]);
  shares.give('c');
  expect(shares.take('c')).toBe(false);
  shares.give('a');
  expect(shares.take('c')).toBe(true);
});
