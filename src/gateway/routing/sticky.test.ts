import { expect, test } from 'bun:test';
import { createStickyChoices } from './sticky.ts';

test('a choice is remembered for its time, counted from when it was made', () => {
  let now = 0;
  const sticky = createStickyChoices(() => now);
  expect(sticky.recall('ann')).toBeNull();
  sticky.remember('ann', 2, 60);
  now = 59_999;
  expect(sticky.recall('ann')).toBe(2);
  now = 60_000;
  expect(sticky.recall('ann')).toBeNull();
});

test('choices are forgotten, oldest first, before they fill the memory', () => {
  const sticky = createStickyChoices(() => 0);
  for (let who = 0; who <= 100_000; who++) sticky.remember(String(who), 1, 60);
  expect([sticky.recall('0'), sticky.recall('1'), sticky.recall('100000')]).toEqual([null, 1, 1]);
});
