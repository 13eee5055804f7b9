import { expect, test } from 'bun:test';
import { excessOf, excessOfBytes, jsonBounds, jsonOrNothing, readJson } from './bounded-json.ts';

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const tooDeep = 'it is nested too deeply';
const tooMany = 'it holds too many values';

test('lists and objects within each other are counted', () => {
  expect(excessOf(lists(20_000))).toBe(tooDeep);
  expect(excessOf(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)).toBe(tooDeep);
});

test('what stands beside each other is no depth', () => {
  expect(excessOf(`[${Array(20_000).fill('{"a":[]}').join()}]`)).toBeNull();
});

test('fields and brackets are bounded in number, and so are elements', () => {
  const fields = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;
  expect(excessOf(fields(jsonBounds.mostFields - 1))).toBeNull();
  expect(excessOf(fields(jsonBounds.mostFields))).toBe(tooMany);
  expect(excessOf(`[${'{},'.repeat(jsonBounds.mostFields)}1]`)).toBe(tooMany);
  expect(excessOf(`[${'1,'.repeat(jsonBounds.mostElements)}1]`)).toBeNull();
  expect(excessOf(`[${'1,'.repeat(jsonBounds.mostElements + 1)}1]`)).toBe(tooMany);
});

test('brackets in strings are none, also behind quotes that are escaped', () => {
  for (const text of ['[', '{', '\\', '"', '"[', '\\"[', '\\\\"{'].map((piece) => piece.repeat(20_000))) {
    expect(excessOf(JSON.stringify({ text }))).toBeNull();
    expect(excessOf(JSON.stringify({ text }).replace(/}$/, `,"deep":${lists(2_000)}}`))).toBe(tooDeep);
  }
});

test('bytes are judged like the text that they are', () => {
  const strings = ['é', '日本', '"', '\\', '[', '\\"{'].map((piece) => JSON.stringify({ text: piece.repeat(20_000) }));
  const texts = [
    ...strings,
    ...strings.map((text) => text.replace(/}$/, `,"deep":${lists(2_000)}}`)),
    lists(20_000),
    '['.repeat(20_000),
    `"${'x'.repeat(20_000)}`,
    `[${'{},'.repeat(jsonBounds.mostFields)}1]`,
    `[${'1,'.repeat(jsonBounds.mostElements + 1)}1]`,
  ];
  for (const text of texts) expect(excessOfBytes(Buffer.from(text))).toBe(excessOf(text));
});

test('what never closes comes to an end', () => {
  expect(excessOf(`"${'x'.repeat(20_000)}`)).toBeNull();
  expect(excessOf('['.repeat(20_000))).toBe(tooDeep);
});

test('what is within the bounds is read, and anything else is refused', () => {
  expect(readJson('{"a":[1]}')).toEqual({ a: [1] });
  expect(() => readJson(lists(20_000))).toThrow(SyntaxError);
  expect(() => readJson('{')).toThrow(SyntaxError);
  expect([jsonOrNothing('[1]'), jsonOrNothing('['), jsonOrNothing(lists(20_000))]).toEqual([[1], undefined, undefined]);
});

/** They read what the program itself wrote, or pieces of what was read within the bounds before. */
const ownJson = [
  // The reader itself.
  'bounded-json.ts',
  // Names inside a text that was read before.
  'gateway/request/json-rewrite.ts',
  'gateway/request/json-splice.ts',
  // The console's files, packed into the program.
  'http/console-pack.ts',
  // A literal between quotes, found by a pattern.
  'admin/scim/protocol/filter.ts',
  // What the program keeps in its database, its journal, its log store, Redis, and hears from its other nodes.
  'store/json.ts',
  'store/changes.ts',
  'limits/journal.ts',
  'cache/purge.ts',
  'cache/redis-engine.ts',
  'logs/segment.ts',
  'logs/messages.ts',
  'logs/embedded/month.ts',
  'logs/embedded/sums.ts',
  'logs/embedded/feedback.ts',
  'logs/clickhouse/queries.ts',
];

/** What is unsealed was sealed by us. */
const bareParse = /\bJSON\.parse\((?!(?:this\.#)?(?:vault|seal)\.open\()/;

test('nobody reads JSON from outside without the bounds', async () => {
  const bare: string[] = [];
  for await (const path of new Bun.Glob('**/*.ts').scan(import.meta.dir)) {
    if (path.endsWith('.test.ts') || ownJson.includes(path)) continue;
    if (bareParse.test(await Bun.file(`${import.meta.dir}/${path}`).text())) bare.push(path);
  }
  expect(bare).toEqual([]);
});
