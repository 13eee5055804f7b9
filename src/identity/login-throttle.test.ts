/** What guessing costs, by the clock, and whom it does not concern. */
import { beforeEach, expect, test } from 'bun:test';
import { TestClock } from '../../test/harness.ts';
import { createLoginThrottle, type LoginAttempt, type LoginThrottle } from './login-throttle.ts';

let clock: TestClock;
let throttle: LoginThrottle;

beforeEach(() => {
  clock = new TestClock();
  clock.moveTo('2026-03-01T12:00:00Z');
  throttle = createLoginThrottle(clock);
});

const ada = { email: 'ada@example.com', clientIp: '203.0.113.1' };
const from = (clientIp: string, email: string = ada.email) => ({ email, clientIp });
/** The seconds until the attempt is made, the real clock's few milliseconds aside; refused ones are negative. */
const delay = (attempt: LoginAttempt = ada): number => {
  const admission = throttle.admit(attempt);
  return 'afterMs' in admission ? Math.round(admission.afterMs / 1000) : -admission.againInSeconds;
};
const fail = (times: number, attempt: LoginAttempt = ada) => {
  for (let i = 0; i < times; i++) expect(delay(attempt)).toBe(0);
};

test('five attempts are free, then the address waits for its turns from that source', () => {
  fail(5);
  expect(delay()).toBe(2);
  expect(delay(from(ada.clientIp, 'grace@example.com'))).toBe(0);
});

test('somebody else’s wrong passwords from elsewhere do not concern the right person', () => {
  for (let i = 0; i < 40; i++) delay(from('198.51.100.1'));
  expect(delay()).toBe(0);
});

test('a known device has turns of its own, whatever its network and the whole world have tried', () => {
  for (let i = 0; i < 60; i++) delay(from(ada.clientIp));
  for (let i = 0; i < 300; i++) delay(from(`198.51.100.${i % 250}`));
  const device = { ...ada, device: 'laptop' };
  expect(delay(device)).toBe(0);
  throttle.succeeded(device);
  // It is no licence to guess.
  fail(5, device);
  expect(delay(device)).toBe(2);
});

test('guesses from everywhere slow an address down, and leave a turn for everybody', () => {
  for (let i = 0; i < 50; i++) expect(delay(from(`198.51.100.${i}`))).toBe(0);
  expect(delay(from('198.51.100.60'))).toBe(1);
  const wait = delay();
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(5);
});

test('turns lie twice as far apart with every further failure, up to fifteen seconds', () => {
  fail(5);
  const waits: number[] = [];
  for (let i = 0; i < 6; i++) {
    const wait = delay();
    waits.push(wait);
    clock.advance({ seconds: wait });
  }
  expect(waits).toEqual([2, 4, 8, 15, 15, 15]);
});

test('of a burst only as many wait as have a turn soon; the others are told when to come again, and cost nothing', () => {
  fail(5);
  const burst = Array.from({ length: 12 }, () => delay());
  expect(burst.filter((wait) => wait > 0)).toEqual([2, 6, 14]);
  expect(burst.slice(3).every((wait) => wait === -9)).toBe(true);
  clock.advance({ seconds: 60 });
  expect(delay()).toBe(0);
});

test('a success clears the source', () => {
  fail(5);
  throttle.succeeded(ada);
  fail(5);
});

test('a client’s own successes do not wash away its guesses at others', () => {
  for (let i = 0; i < 29; i++) {
    fail(1, from(ada.clientIp, `guess-${i}@example.com`));
    expect(delay()).toBe(0);
    throttle.succeeded(ada);
  }
  fail(1, from(ada.clientIp, 'one-more@example.com'));
  expect(delay()).toBe(2);
  expect(delay(from('203.0.113.2'))).toBe(0);
});

test('a client that only succeeds never waits', () => {
  for (let i = 0; i < 200; i++) {
    expect(delay()).toBe(0);
    throttle.succeeded(ada);
  }
});

test('an IPv6 client counts with its whole network', () => {
  for (let i = 0; i < 30; i++) fail(1, from(`2001:db8:1:2::${i.toString(16)}`, `guess-${i}@example.com`));
  expect(delay(from('2001:db8:1:2:ffff::1'))).toBe(2);
  expect(delay(from('2001:db8:1:3::1'))).toBe(0);
});

test('an hour without a failure is a fresh start', () => {
  fail(4);
  clock.advance({ minutes: 61 });
  fail(4);
  expect(delay()).toBe(0);
});

test('a clock that is set back makes nobody wait longer than they had to', () => {
  fail(5);
  clock.advance({ days: -400 });
  expect(delay()).toBe(2);
});
