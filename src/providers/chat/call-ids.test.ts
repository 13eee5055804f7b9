import { expect, test } from 'bun:test';
import { acceptedId } from './call-ids.ts';

const refused = /[^a-z_]/g;

test('an id that is accepted stays as it is', () => {
  expect(acceptedId('call_a', refused, 6)).toBe('call_a');
});

test('any other becomes one that is accepted, always the same, and another for another', () => {
  const ids = ['call:a', 'call;a', '', 'x'.repeat(70), 'x'.repeat(71)];
  const accepted = ids.map((id) => acceptedId(id, refused, 64));
  expect(accepted).toEqual(ids.map((id) => acceptedId(id, refused, 64)));
  expect(new Set(accepted).size).toBe(ids.length);
  for (const id of accepted) expect(id).toMatch(/^[a-z_]{0,47}_[0-9a-f]{16}$/);
});
