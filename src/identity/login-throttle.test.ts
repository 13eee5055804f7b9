/** What guessing costs, by the clock. */
import { beforeEach, expect, test } from 'bun:test';
import { TestClock } from '../../test/harness.ts';
import { createLoginThrottle, type LoginThrottle } from './login-throttle.ts';

let clock: TestClock;
let throttle: LoginThrottle;

beforeEach(() => {
  clock = new TestClock();
  clock.moveTo('2026-03-01T12:00:00Z');
  throttle = createLoginThrottle(clock);
});

const ada = { email: 'ada@example.com', clientIp: '203.0.113.1' };
const from = (clientIp: string, email: string = ada.email) => ({ email, clientIp });
const fail = (times: number, attempt = ada) => {
  for (let i = 0; i < times; i++) expect(throttle.admit(attempt)).toBe(0);
};

test('five attempts are free, then the address waits', () => {
  fail(5);
  expect(throttle.admit(ada)).toBe(2);
  expect(throttle.admit(from('203.0.113.2'))).toBe(2);
  expect(throttle.admit(from(ada.clientIp, 'grace@example.com'))).toBe(0);
});

test('the wait doubles with every further failure, up to fifteen minutes', () => {
  fail(5);
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    const wait = throttle.admit(ada);
    waits.push(wait);
    clock.advance({ seconds: wait + 1 });
    fail(1);
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
});

test('an attempt made too early costs nothing more', () => {
  fail(5);
  for (let i = 0; i < 20; i++) expect(throttle.admit(ada)).toBe(2);
  clock.advance({ seconds: 3 });
  expect(throttle.admit(ada)).toBe(0);
});

test('a success clears the address', () => {
  fail(4);
  expect(throttle.admit(ada)).toBe(0);
  throttle.succeeded(ada);
  fail(5);
});

test('a client’s own successes do not wash away its guesses at others', () => {
  for (let i = 0; i < 29; i++) {
    fail(1, from(ada.clientIp, `guess-${i}@example.com`));
    expect(throttle.admit(ada)).toBe(0);
    throttle.succeeded(ada);
  }
  fail(1, from(ada.clientIp, 'one-more@example.com'));
  expect(throttle.admit(ada)).toBe(2);
  expect(throttle.admit(from('203.0.113.2'))).toBe(0);
});

test('a client that only succeeds never waits', () => {
  for (let i = 0; i < 200; i++) {
    expect(throttle.admit(ada)).toBe(0);
    throttle.succeeded(ada);
  }
});

test('an IPv6 client counts with its whole network', () => {
  for (let i = 0; i < 30; i++) fail(1, from(`2001:db8:1:2::${i.toString(16)}`, `guess-${i}@example.com`));
  expect(throttle.admit(from('2001:db8:1:2:ffff::1'))).toBe(2);
  expect(throttle.admit(from('2001:db8:1:3::1'))).toBe(0);
});

test('an hour without a failure is a fresh start', () => {
  fail(4);
  clock.advance({ minutes: 61 });
  fail(4);
  expect(throttle.admit(ada)).toBe(0);
});

test('a clock that is set back makes nobody wait longer than they had to', () => {
  fail(5);
  clock.advance({ days: -400 });
  expect(throttle.admit(ada)).toBe(2);
  clock.advance({ seconds: 3 });
  expect(throttle.admit(ada)).toBe(0);
});
