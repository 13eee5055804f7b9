import { expect, test } from 'bun:test';
import { hasRepeatedFields } from './json-fields.ts';

const isRepeated = (text: string): boolean => hasRepeatedFields(text, JSON.parse(text));

test.each([
  '{}',
  '{"model":"a","body":{"model":"a"}}',
  '[{"a":1},{"a":1}]',
  '{"text":"a \\"model\\": b","other":"x\\\\"}',
  '{"a" : ["b", "c"], "d"\n:\t":"}',
  '{"__proto__":1}',
])('%s has each field once', (text) => {
  expect(isRepeated(text)).toBe(false);
});

test.each([
  '{"model":"a","model":"b"}',
  '{"body":{"model":"a","x":{},"\\u006dodel":"b"}}',
  '[{"a":{"b":1,"b":1}}]',
  '{"__proto__":1,"__proto__":2}',
])('%s has one twice', (text) => {
  expect(isRepeated(text)).toBe(true);
});
