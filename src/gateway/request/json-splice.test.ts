import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isRepeated, spliceString } from './json-splice.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const spliced = (text: string, value = 'new') => {
  const after = spliceString(bytes(text), 'model', value);
  return after && new TextDecoder().decode(after);
};

describe('splicing', () => {
  test.each([
    ['{"model":"old"}', '{"model":"new"}'],
    ['{ "model"\t:\r\n "old" , "b":1}', '{ "model"\t:\r\n "new" , "b":1}'],
    ['{"a":{"model":"x"},"model":"old","c":[{"model":"y"}]}', '{"a":{"model":"x"},"model":"new","c":[{"model":"y"}]}'],
    ['{"a":"model","model":"old"}', '{"a":"model","model":"new"}'],
    ['{"a":"\\"model\\":\\"x\\"","model":"old"}', '{"a":"\\"model\\":\\"x\\"","model":"new"}'],
    ['{"a":"}]{[","model":"old"}', '{"a":"}]{[","model":"new"}'],
    ['{"model":"o\\"ld\\\\","b":1}', '{"model":"new","b":1}'],
    ['{"mod\\u0065l":"old"}', '{"mod\\u0065l":"new"}'],
    ['{"n":1e400,"big":12345678901234567890,"model":"old"}', '{"n":1e400,"big":12345678901234567890,"model":"new"}'],
  ])('%s', (before, after) => {
    expect(spliced(before)).toBe(after);
  });

  test.each([
    ['it is not there', '{"a":1}'],
    ['it is no string', '{"model":1}'],
    ['it stands only deeper', '{"a":{"model":"x"}}'],
    ['it is there twice', '{"model":"a","model":"b"}'],
    ['it is there twice, once with an escape', '{"model":"a","mod\\u0065l":"b"}'],
  ])('nothing is spliced when %s', (_, text) => {
    expect(spliced(text)).toBeNull();
  });

  test('a value with quotes and letters of several bytes is written as JSON', () => {
    expect(spliced('{"model":"old","z":"ž"}', 'a"b\\ž🐎')).toBe('{"model":"a\\"b\\\\ž🐎","z":"ž"}');
  });

  test('whatever the body, all but the one value stays byte for byte', () => {
    const key = fc.string({ maxLength: 12 }).filter((name) => name !== 'model' && name !== '__proto__');
    const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });
    fc.assert(
      fc.property(
        object,
        object,
        fc.string(),
        fc.string(),
        fc.constantFrom('', ' ', '\n\t '),
        (a, b, old, value, space) => {
          const inner = (part: object) => JSON.stringify(part, null, space.length).slice(1, -1).trimEnd();
          const body = (model: string) =>
            `{${[inner(a), `${space}"model"${space}:${space}${JSON.stringify(model)}`, inner(b)].filter((part) => part.trim() !== '').join(',')}}`;
          expect(spliced(body(old), value)).toBe(body(value));
        },
      ),
    );
  });
});

describe('repeated names', () => {
  test.each([
    ['{"model":"a","model":"b"}', true],
    ['{"model":"a","x":1,"mod\\u0065l":"b"}', true],
    ['{"model":"a","model":1}', true],
    ['{"model":"a"}', false],
    ['{"model":"a","x":{"model":"b"}}', false],
    ['{"model":"model","x":"\\u0041"}', false],
  ])('%s: %p', (text, repeated) => {
    expect(isRepeated(bytes(text), 'model')).toBe(repeated);
  });
});
