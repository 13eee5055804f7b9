import { describe, expect, test } from 'bun:test';
import { Abort, signalOf } from './abort.ts';

describe('what is given up', () => {
  test('tells everybody who listens, once and in order, with the reason', () => {
    const abort = new Abort();
    const told: string[] = [];
    for (const name of ['a', 'b', 'c']) abort.addEventListener('abort', () => told.push(`${name} ${abort.reason}`));
    expect(abort.signal.aborted).toBe(false);
    abort.abort('late');
    abort.abort('later');
    expect(told).toEqual(['a late', 'b late', 'c late']);
    expect([abort.signal.aborted, abort.signal.reason]).toEqual([true, 'late']);
  });

  test.each([0, 1, 2])('does not tell the one who stopped listening: %d', (which) => {
    const abort = new Abort();
    const told: number[] = [];
    const listeners = [0, 1, 2].map((number) => () => void told.push(number));
    for (const listener of listeners) abort.addEventListener('abort', listener);
    abort.removeEventListener('abort', listeners[which] ?? expect.unreachable());
    abort.removeEventListener('abort', () => undefined);
    abort.abort();
    expect(told).toEqual([0, 1, 2].filter((number) => number !== which));
  });

  test('without a reason has one', () => {
    const abort = new Abort();
    abort.abort();
    expect(abort.reason).toMatchObject({ name: 'AbortError' });
  });
});

describe('as a signal of the web', () => {
  test('it follows, with the same reason', () => {
    const abort = new Abort();
    const signal = signalOf(abort);
    expect(signal.aborted).toBe(false);
    const reason = new Error('late');
    abort.abort(reason);
    expect([signal.aborted, signal.reason]).toEqual([true, reason]);
    expect(signalOf(abort).reason).toBe(reason);
  });

  test('one of the web is itself', () => {
    const { signal } = new AbortController();
    expect(signalOf(signal)).toBe(signal);
  });
});
