/** Bodies that are wrong in one place: a sample that fits the schema, and every way of spoiling one of its fields. */
import fc from 'fast-check';
import { type JsonSchema, type OpenApiDocument, resolveSchema } from '../src/http/openapi-document.ts';
import { exampleOf } from '../src/http/reference/examples.ts';

export interface Mutant {
  /** What was done to which field, for the report of a failure. */
  deed: string;
  path: readonly string[];
  body: unknown;
}

interface Place {
  path: readonly string[];
  schema: JsonSchema;
}

const removed = Symbol('removed');

/** Replacements that suit no field, or hardly one, whatever its schema says. */
const strangers: readonly [string, unknown][] = [
  ['left out', removed],
  ['null', null],
  ['an empty string', ''],
  ['only spaces', '   '],
  ['a string', 'no-such-value'],
  ['a true', true],
  ['a negative number', -1],
  ['a fraction', 0.5],
  ['a huge number', 1e308],
  ['a huge negative number', -1e308],
  ['an unsafe integer', 2 ** 53],
  ['an empty list', []],
  ['a list of lists', [[[]]]],
  ['an empty object', {}],
  ['an object of objects', { a: { b: { c: null } } }],
  ['a NUL', 'a\u0000b'],
  ['half a surrogate pair', 'a\ud800b'],
  ['control characters', '\u0001\u0008\u001b[31m\u007f\u0085'],
  ['text that runs backwards', '\u202eevil\u202c'],
  ['combining marks', `e${'\u0301'.repeat(60)}`],
  ['an emoji family', '👩‍👩‍👧‍👦'],
  ['the name of a prototype', '__proto__'],
  ['SQL', "'; drop table users; --"],
  ['a wildcard', '%_\\'],
  ['a template', '{{7*7}}<%= 7*7 %>'],
  ['a very long string', 'x'.repeat(20_000)],
  ['a long list', Array.from({ length: 5_000 }, () => 'x')],
  ['a date that does not exist', '2026-02-30T25:61:61Z'],
  ['a date far away', '9999-12-31T23:59:59-23:59'],
];

/** Fields of a body that fits the schema, with the ids in `known` where it asks for ids of that name. */
export function sampleOf(
  document: OpenApiDocument,
  schema: JsonSchema,
  known: Record<string, string>,
  onlyRequired: boolean,
): Record<string, unknown> {
  const sample = exampleOf(document, schema, onlyRequired);
  if (typeof sample !== 'object' || sample === null) throw new Error('A body is an object');
  return Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, known[name] ?? value]));
}

/** Takes what a body must have and one field of what it may have, and spoils it at one place, as the seed chooses. */
export function mutants(
  document: OpenApiDocument,
  schema: JsonSchema,
  known: Record<string, string>,
): fc.Arbitrary<Mutant> {
  const full = sampleOf(document, schema, known, false);
  const least = sampleOf(document, schema, known, true);
  const places = placesOf(document, schema, full, []).filter((place) => place.path.length > 0);
  const whole = fc.jsonValue().map((body): Mutant => ({ deed: 'any JSON as the body', path: [], body }));
  if (places.length === 0) return whole;
  const spoiled = fc.constantFrom(...places).chain(({ path, schema: field }) => {
    const [first = ''] = path;
    const sample = { ...least, [first]: full[first] };
    return fc
      .oneof(
        { weight: 3, arbitrary: fc.constantFrom(...strangers, ...neighbours(field, at(sample, path))) },
        { weight: 1, arbitrary: fc.jsonValue().map((value) => pair('any JSON', value)) },
      )
      .map(([what, value]) => ({ deed: `${path.join('.')}: ${what}`, path, body: replaced(sample, path, value) }));
  });
  return fc.oneof({ weight: 9, arbitrary: spoiled }, { weight: 1, arbitrary: whole });
}

/** What lies just outside the bounds of the field, or beside its shape. */
function neighbours(schema: JsonSchema, value: unknown): [string, unknown][] {
  return [
    ['itself in a list', [value]],
    ['itself in an object', { value }],
    ...(schema.maxLength === undefined ? [] : [pair('one character too long', 'x'.repeat(schema.maxLength + 1))]),
    ...(schema.minLength ? [pair('one character too short', 'x'.repeat(schema.minLength - 1))] : []),
    ...(schema.maximum === undefined ? [] : [pair('above the maximum', schema.maximum + 1)]),
    ...(schema.minimum === undefined ? [] : [pair('below the minimum', schema.minimum - 1)]),
    ...(schema.maxItems === undefined || !Array.isArray(value)
      ? []
      : [
          pair(
            'one item too many',
            Array.from({ length: schema.maxItems + 1 }, () => value[0] ?? 'x'),
          ),
        ]),
  ];
}

const pair = (what: string, value: unknown): [string, unknown] => [what, value];

/** Every field of the sample with its schema, at any depth. */
function placesOf(document: OpenApiDocument, source: JsonSchema, sample: unknown, path: readonly string[]): Place[] {
  const resolved = resolveSchema(document, source);
  const schema = resolveSchema(document, resolved.anyOf?.[0] ?? resolved);
  const inside =
    typeof sample === 'object' && sample !== null
      ? Object.entries(sample).flatMap(([name, value]) => {
          const below = Array.isArray(sample) ? schema.items : schema.properties?.[name];
          return below ? placesOf(document, below, value, [...path, name]) : [];
        })
      : [];
  return [{ path, schema }, ...inside];
}

const at = (sample: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((node, key) => (typeof node === 'object' && node ? Reflect.get(node, key) : undefined), sample);

function replaced(sample: unknown, path: readonly string[], value: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  if (Array.isArray(sample)) {
    return sample
      .map((item, index) => (String(index) === first ? replaced(item, rest, value) : item))
      .filter((item) => item !== removed);
  }
  if (typeof sample !== 'object' || sample === null) return sample;
  return Object.fromEntries(
    Object.entries(sample)
      .map(([name, field]) => [name, name === first ? replaced(field, rest, value) : field] as const)
      .filter(([, field]) => field !== removed),
  );
}
