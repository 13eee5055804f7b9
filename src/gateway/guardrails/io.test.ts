/** What checks remember: for the workspace that asked, and for no other. */
import { expect, test } from 'bun:test';
import { newLab } from '../../../test/gateway-deps.ts';
import { checkIo } from './io.ts';

test('what a check remembers for one workspace answers for no other', () => {
  const { deps } = newLab();
  checkIo(deps, 'one').cache.put('token', 'active', 60_000);
  expect(checkIo(deps, 'one').cache.get('token')).toBe('active');
  expect(checkIo(deps, 'two').cache.get('token')).toBeUndefined();
});

test('a check that belongs to no workspace remembers nothing', () => {
  const { deps } = newLab();
  checkIo(deps, null).cache.put('token', 'active', 60_000);
  expect(checkIo(deps, null).cache.get('token')).toBeUndefined();
});
