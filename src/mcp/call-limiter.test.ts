import { expect, test } from 'bun:test';
import { createCallLimiter } from './call-limiter.ts';

test('a subject has so many calls in a time, and then waits', () => {
  let now = 0;
  const count = createCallLimiter(() => now, 2, 60_000);
  expect([count('a'), count('a'), count('a'), count('b')]).toEqual([0, 0, 60, 0]);
  now = 60_000;
  expect(count('a')).toBe(0);
});

test('addresses of one IPv6 network are one subject', () => {
  const count = createCallLimiter(() => 0, 2, 60_000);
  expect([count('2001:db8::1'), count('2001:db8::2'), count('2001:db8::3')]).toEqual([0, 0, 60]);
  expect([count('2001:db8:0:1::1'), count('::ffff:192.0.2.1'), count('192.0.2.1'), count('192.0.2.1')]).toEqual([
    0, 0, 0, 60,
  ]);
});

test('many subjects push out the oldest, and nobody else', () => {
  const count = createCallLimiter(() => 0, 1, 60_000);
  count('first');
  count('kept');
  for (let index = 0; index < 49_999; index++) count(`subject ${index}`);
  expect([count('kept'), count('first')]).toEqual([60, 0]);
});
