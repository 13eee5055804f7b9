import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject } from '../../providers/provider.ts';
import { rewritten } from './json-rewrite.ts';

const change = (text: string, changed: (body: JsonObject) => JsonObject): string => {
  const before: JsonObject = JSON.parse(text.replace(/^\ufeff/, ''));
  return rewritten(Buffer.from(text), before, changed(before)).toString();
};

test('numbers that a double cannot hold stay as they were written', () => {
  const text =
    '{"seed":12345678901234567890,"far":1e400, "deep":{"max":9223372036854775807,"list":[9007199254740993]}}';
  expect(change(text, (body) => ({ ...body, added: 1 }))).toBe(
    '{"seed":12345678901234567890,"far":1e400,"deep":{"max":9223372036854775807,"list":[9007199254740993]},"added":1}',
  );
});

test('also beside what changed in the same object or list', () => {
  const text = '{"tools":[{"a":1,"max":12345678901234567890},{"b":2,"max":12345678901234567891}],"x":1}';
  expect(
    change(text, (body) => {
      const [first, second] = body.tools as [JsonObject, JsonObject];
      const { a: _, ...rest } = first;
      return { ...body, tools: [rest, second] };
    }),
  ).toBe('{"tools":[{"max":12345678901234567890},{"b":2,"max":12345678901234567891}],"x":1}');
});

test('also behind an element that was taken out of a list', () => {
  const text = '{"list":[1,{"n":12345678901234567890},12345678901234567891]}';
  expect(change(text, (body) => ({ list: (body.list as unknown[]).slice(1) }))).toBe(
    '{"list":[{"n":12345678901234567890},12345678901234567891]}',
  );
});

test('of a field that stands there twice the last one counts', () => {
  const text = '{"n":1,"n":12345678901234567890,"\\u006e":12345678901234567891}';
  expect(change(text, (body) => ({ ...body, x: null }))).toBe('{"n":12345678901234567891,"x":null}');
});

test('quotes, brackets and braces inside of texts are no marks', () => {
  const text = '{"a \\" }":"]} \\\\","n":12345678901234567890}';
  expect(change(text, (body) => ({ ...body, x: undefined, y: [undefined] }))).toBe(
    '{"a \\" }":"]} \\\\","n":12345678901234567890,"y":[null]}',
  );
});

test('a mark of the byte order in front is left out', () => {
  expect(change('\ufeff{"n":12345678901234567890}', (body) => ({ ...body, x: 1 }))).toBe(
    '{"n":12345678901234567890,"x":1}',
  );
});

test('whatever was changed, the result means the same as if it were written anew', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), fc.dictionary(fc.string(), value), fc.nat(), (sent, over, at) => {
      const fragile = { ...sent, n: 1e300 };
      const names = Object.keys(fragile);
      const text = JSON.stringify(fragile, null, at % 3);
      const before: JsonObject = JSON.parse(text);
      const changed: JsonObject = { ...before, ...over };
      delete changed[names[at % names.length] ?? ''];
      for (const [name, field] of Object.entries(changed)) {
        if (Array.isArray(field)) changed[name] = field.filter((_, index) => index % 2 === at % 2);
      }
      const result = rewritten(Buffer.from(text), before, changed).toString();
      expect(JSON.parse(result)).toEqual(JSON.parse(JSON.stringify(changed)));
    }),
    { seed: 20_261_115, numRuns: 500 },
  );
});
