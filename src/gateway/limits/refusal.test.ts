/** What a refused call hears of when to come back. */
import { describe, expect, test } from 'bun:test';
import { rateLimit, usageLimit } from '../../limits/engine-suite.ts';
import type { Limit } from '../../limits/limit.ts';
import { limitRefusal } from './refusal.ts';

const tokens = (limit: Limit): Limit => ({ ...limit, type: 'tokens' });
const retryAfter = (limit: Limit, settled: number, reserved: number, asked: number): string | undefined =>
  limitRefusal(limit, { epoch: 0, endsAt: 60_000, settled, reserved }, asked, 0).headers['retry-after'];

describe('a refused call comes back', () => {
  test('soon, where what running calls hold would be room enough', () => {
    expect(retryAfter(tokens(usageLimit('o', 100)), 40, 50, 20)).toBe('1');
  });

  test.each([
    ['what is settled leaves too little', 90, 10, 20],
    ['nothing is held', 90, 0, 20],
    ['all is settled', 100, 10, 0],
  ])('when the window ends, where %s', (_, settled, reserved, asked) => {
    expect(retryAfter(tokens(usageLimit('o', 100)), settled, reserved, asked)).toBe('60');
  });

  test('when the window ends, where requests are counted: those that run count too', () => {
    expect(retryAfter({ ...rateLimit('o', 10), type: 'requests' }, 5, 5, 1)).toBe('60');
  });
});
