import { describe, expect, test } from 'bun:test';
import {
  excessOf,
  excessOfBytes,
  JsonMeter,
  jsonBounds,
  jsonOrNothing,
  readJson,
  repeatsField,
} from './bounded-json.ts';

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

const { workOf, mostWork } = jsonBounds;
/** So many of them alone are too much work. */
const most = (work: number): number => Math.ceil(mostWork / work);

const fields = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;

/** Each is beyond what may be read. */
const excessive: [string, string][] = [
  ['fields', fields(most(workOf.field))],
  ['brackets', `[${'{},'.repeat(most(workOf.field))}1]`],
  ['digits', `[${'1'.repeat(most(workOf.bareByte))}]`],
  ['blanks', `[${' '.repeat(most(workOf.bareByte))}]`],
  ['strings', `[${'"",'.repeat(most(workOf.string))}1]`],
  ['quotes that enclose nothing', '"'.repeat(2 * most(workOf.string))],
  ['escapes', `["${'\\n'.repeat(most(workOf.escape))}"]`],
  ['escaped quotes', `["${'\\"'.repeat(most(workOf.escape))}"]`],
];

test.each(excessive)('too many %s are known as such, in text, in bytes and in pieces of bytes', (_, text) => {
  const bytes = Buffer.from(text);
  expect([excessOf(text), excessOfBytes(bytes)]).toEqual([tooMany, tooMany]);
  const meter = new JsonMeter();
  for (let at = 0; at < bytes.length; at += 65_537) meter.push(bytes.subarray(at, at + 65_537));
  expect([meter.excess, meter.seen]).toEqual([tooMany, bytes.length]);
});

test('what real calls hold is within the bounds', () => {
  const source = '  if (a[0] === "b") {\n    return { "c": 1 };\n  }\n'.repeat(20_000);
  const vectors = Array.from({ length: 250 }, () => Array.from({ length: 768 }, (_, index) => index / 768));
  const image = `data:image/png;base64,${'A'.repeat(20_000_000)}`;
  for (const value of [source, vectors, image, fields(80_000)]) {
    expect(excessOf(JSON.stringify(value, null, 1))).toBeNull();
  }
});

test('pieces are judged like the whole, wherever it is cut', () => {
  const text = `{"a\\"[":["\\\\",{"b":"\\u0041\\\\\\"]"}],"deep":${lists(jsonBounds.deepest)}}`;
  const bytes = Buffer.from(text);
  for (let cut = 0; cut <= 40; cut++) {
    const meter = new JsonMeter();
    meter.push(bytes.subarray(0, cut));
    expect(meter.push(bytes.subarray(cut))).toBe(tooDeep);
    const shallow = new JsonMeter();
    shallow.push(bytes.subarray(0, cut));
    expect(shallow.push(Buffer.from(text.replace('[[', '').slice(cut)))).toBeNull();
  }
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
  // What the program keeps in its database, its journal, its log stores, Redis, and hears from its other nodes.
  'store/json.ts',
  'store/changes.ts',
  'limits/journal.ts',
  'cache/purge.ts',
  'cache/redis-engine.ts',
  'logs/segment.ts',
  'logs/objects/document.ts',
  'logs/messages.ts',
  'logs/feedback-buffer.ts',
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

describe('a field that stands twice', () => {
  test.each([
    ['{"a":1,"a":2}', true],
    ['{"a":1,"\\u0061":2}', true],
    ['[{"b":{"x":[{"a":1,"a":2}]}}]', true],
    ['{"__proto__":1,"__proto__":2}', true],
    ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}', false],
    ['{"a":":\\":\\\\","b":"{\\"a\\":1,\\"a\\":2}"}', false],
    ['{"__proto__":1}', false],
    ['[]', false],
    ['7', false],
    ['":"', false],
  ])('%s: %p', (text, repeats) => {
    expect(repeatsField(text, readJson(text))).toBe(repeats);
  });
});
