import { expect, test } from 'bun:test';
import { throttled } from './log.ts';

test('the same warning is given once a minute, each with its own minute', () => {
  const given: string[] = [];
  let now = 0;
  const warn = throttled(
    (message, fields) => given.push(`${message} ${fields?.at}`),
    () => now,
  );
  for (const at of [0, 1, 59_999, 60_000, 119_999, 120_000]) {
    now = at;
    warn('a', { at });
    if (at === 59_999) warn('b', { at });
  }
  expect(given).toEqual(['a 0', 'b 59999', 'a 60000', 'a 120000']);
});
