/** JSON that is spoiled at any depth: a sample, and values that suit none of its fields, as a seed chooses. */
import fc from 'fast-check';

/** Written into a body as it is: a number that no double holds. */
const beyondNumbers = '\u0000beyond\u0000';

const nested = (depth: number): unknown => {
  let inner: unknown = 'deep';
  for (let level = 0; level < depth; level++) inner = level % 2 === 0 ? [inner] : { inner };
  return inner;
};

/** An object that cannot be turned into text. */
const unspeakable = { toString: 1, valueOf: null };

/** Its prototype's name is a field of its own, as only a parser makes it. */
const prototypeField: unknown = JSON.parse('{"__proto__": {"role": "user", "type": "text"}, "constructor": {}}');

const strangers: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  'no-such-value',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  true,
  false,
  0,
  -1,
  0.5,
  2 ** 53,
  -1e308,
  beyondNumbers,
  [],
  [[]],
  [null],
  ['constructor'],
  [1, 2, 3],
  {},
  { type: 'constructor' },
  { type: 'unheard-of', text: 'x' },
  unspeakable,
  { type: unspeakable, role: unspeakable, name: unspeakable },
  prototypeField,
  nested(60),
  nested(4_000),
  'a\u0000b',
  'a\ud800b',
  '\udc00',
  'line\r\nx-injected: yes',
  '\u202eevil\u202c',
  'é😀'.repeat(30),
  'x'.repeat(100_000),
  '../../admin',
  '..',
  'a/b?c=d#e',
  '%2e%2e%2f%00%zz',
  'data:',
  'data:image/png;base64',
  'data:image/png;base64,!!!not base64!!!',
  'data:text/plain,%E0%A4%A',
  `data:${';'.repeat(500)},x`,
  'http://',
  'http://[',
  'ftp://example.com/x.png',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '{"a":',
  '{"a": 1e999}',
  '"text"',
  '[]',
];

type Path = readonly (string | number)[];

function pathsIn(value: unknown, path: Path = []): Path[] {
  const inside =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, entry]) =>
          pathsIn(entry, [...path, Array.isArray(value) ? Number(name) : name]),
        )
      : [];
  return path.length === 0 ? inside : [path, ...inside];
}

function changed(value: unknown, [first, ...rest]: Path, change: (old: unknown) => unknown): unknown {
  if (first === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((entry, index) => (index === first ? changed(entry, rest, change) : entry));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, name === first ? changed(entry, rest, change) : entry]),
  );
}

/** What becomes of one place: another value, itself where it does not belong, or itself several times. */
const deeds: fc.Arbitrary<(old: unknown) => unknown> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...strangers).map((value) => () => value) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }).map((value) => () => value) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      (old: unknown): unknown => [old],
      (old: unknown): unknown => ({ value: old }),
      (old: unknown): unknown => (Array.isArray(old) ? [...old, ...old] : [old, old]),
      (old: unknown): unknown => JSON.stringify(old),
    ),
  },
);

/** The sample with one or two of its places spoiled, as text. */
export function spoiled(sample: unknown): fc.Arbitrary<string> {
  const places = pathsIn(sample);
  return (
    fc
      // One fault at a time reaches deeper than several do.
      .array(fc.tuple(fc.constantFrom(...places), deeds), { minLength: 1, maxLength: 2 })
      .map((changes) => asText(changes.reduce((body, [path, change]) => changed(body, path, change), sample)))
  );
}

export const asText = (value: unknown): string =>
  (JSON.stringify(value) ?? '{}').replaceAll(JSON.stringify(beyondNumbers), '1e999');
