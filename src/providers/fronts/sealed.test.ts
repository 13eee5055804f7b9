import { expect, test } from 'bun:test';
import { type Sealed, seal, unseal } from './sealed.ts';

const contents: Sealed[] = [
  { holds: 'signature', signature: 'Eq+/=é' },
  { holds: 'thought', content: 'blob' },
  { holds: 'call', id: 'c1', signature: 's' },
];

test.each(contents)('%j comes back as it was, through letters that any id may hold', (content) => {
  expect(seal(content)).toMatch(/^[\w.-]+$/);
  expect(unseal(seal(content))).toEqual(content);
});

test.each(['', 'gAAAAABo', 'gw1.', 'gw1.!!!', `gw1.${Buffer.from('{"holds":"call"}').toString('base64url')}`])(
  'what was not sealed here is not opened: %j',
  (text) => {
    expect(unseal(text)).toBeNull();
  },
);
