/** JSON in pieces, read without needless escapes. */
import { expect, test } from 'bun:test';
import { JsonText } from './json-text.ts';

const read = (pieces: readonly string[]): string => {
  const text = new JsonText();
  return pieces.map((piece, index) => text.push(piece, index === pieces.length - 1)).join('');
};

const cases: [string, string, string][] = [
  ['a letter', '{"a":"\\u0073k-1"}', '{"a":"sk-1"}'],
  ['a character of two halves', '"\\ud83d\\ude00"', '"\u{1f600}"'],
  ['a quote', '"a\\u0022b"', '"a\\u0022b"'],
  ['a line end', '"a\\u000ab\\nc"', '"a\\u000ab\\nc"'],
  ['a backslash before the letter u', '"\\\\u0073"', '"\\\\u0073"'],
  ['a backslash that is spelled', '"\\u005cu0073"', '"\\u005cu0073"'],
  ['nothing', '{"a":1}', '{"a":1}'],
];

test.each(cases)('%s is the same wherever it is cut', (_, json, plain) => {
  expect(read([json])).toBe(plain);
  expect(read([...json])).toBe(plain);
  expect(JSON.parse(read([...json]))).toEqual(JSON.parse(json));
  for (let at = 1; at < json.length; at++) expect(read([json.slice(0, at), json.slice(at)])).toBe(plain);
});

test('an escape that never ends comes out as it came', () => {
  expect(read(['"\\u00', ''])).toBe('"\\u00');
});
