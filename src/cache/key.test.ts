/** Any difference in a part of the key is a miss, any difference outside it a hit. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { cacheKey, canonicalJson, type KeyParts } from './key.ts';

const word = fc.string({ maxLength: 8 });
const fields = fc.dictionary(word, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
const texts = fc.dictionary(word, word, { maxKeys: 3 });
const parts: fc.Arbitrary<KeyParts> = fc.record({
  organisationId: word,
  workspaceId: word,
  kind: word,
  provider: word,
  savedProvider: word,
  host: word,
  fields,
  model: word,
  body: fields,
  strict: fc.boolean(),
  guardrails: fc.jsonValue({ maxDepth: 2 }),
  namespace: fc.option(word),
  metadata: texts,
  headers: texts,
});
const always = [
  'organisationId',
  'workspaceId',
  'kind',
  'provider',
  'savedProvider',
  'host',
  'fields',
  'model',
  'strict',
  'guardrails',
] as const;

test('a difference in one part changes the key', () => {
  fc.assert(
    fc.property(parts, parts, fc.constantFrom(...always), (one, other, name) => {
      const changed = { ...one, [name]: other[name] };
      const same = canonicalJson(one[name]) === canonicalJson(other[name]);
      expect(cacheKey(changed) === cacheKey(one)).toBe(same);
    }),
    { numRuns: 500 },
  );
});

test('a difference in the body changes the key, except in how the answer travels', () => {
  fc.assert(
    fc.property(parts, word, fc.jsonValue(), (one, name, value) => {
      const changed = { ...one, body: { ...one.body, [name]: value } };
      const travels = name === 'stream' || name === 'stream_options' || name === 'model';
      const same = travels || canonicalJson(changed.body) === canonicalJson(one.body);
      expect(cacheKey(changed) === cacheKey(one)).toBe(same);
      expect(cacheKey({ ...one, body: { ...one.body, stream: true, stream_options: value } })).toBe(cacheKey(one));
    }),
    { numRuns: 500 },
  );
});

test('metadata and headers count only outside a namespace', () => {
  fc.assert(
    fc.property(parts, texts, texts, (one, metadata, headers) => {
      const other = { ...one, metadata, headers };
      const same =
        one.namespace !== null || canonicalJson([metadata, headers]) === canonicalJson([one.metadata, one.headers]);
      expect(cacheKey(other) === cacheKey(one)).toBe(same);
    }),
    { numRuns: 500 },
  );
});

test('the order of fields is no difference', () => {
  fc.assert(
    fc.property(parts, (one) => {
      const turned = { ...one, body: Object.fromEntries(Object.entries(one.body).reverse()) };
      expect(cacheKey(turned)).toBe(cacheKey(one));
    }),
  );
});

test('a field called __proto__ is a field like any other', () => {
  const [one] = fc.sample(parts, 1);
  if (!one) throw new Error('There is no sample');
  const keyOf = (body: string) => cacheKey({ ...one, body: JSON.parse(body) });
  expect(keyOf('{"__proto__":{"a":1}}')).not.toBe(keyOf('{"__proto__":{"a":2}}'));
  expect(keyOf('{"messages":[{"__proto__":1}]}')).not.toBe(keyOf('{"messages":[{"__proto__":2}]}'));
});
