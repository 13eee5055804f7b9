import { expect, test } from 'bun:test';
import { isAway } from './unavailable.ts';

const coded = (code: string) => Object.assign(new Error('no'), { code });

test.each([
  '57P01',
  '57P03',
  '08006',
  '53300',
  '40001',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'SQLITE_BUSY',
  'SQLITE_IOERR_FSYNC',
])('%s says that the store is away', (code) => expect(isAway(coded(code))).toBe(true));

test.each(['23505', '42P01', '57014', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_ERROR', 'ENOENT'])(
  '%s is a fault of ours',
  (code) => expect(isAway(coded(code))).toBe(false),
);

test('what the driver says in words counts, what others say does not', () => {
  expect(isAway(new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(isAway(new Error('timeout exceeded when trying to connect'))).toBe(true);
  expect(isAway(new Error('Not a sealed value'))).toBe(false);
  expect(isAway('ECONNREFUSED')).toBe(false);
});
