/** A JSON Schema in the part of the language that structured output knows; what it does not know is told to the model in words. */
import { isObject } from '../json.ts';
import type { JsonObject } from '../provider.ts';

type Schema = Readonly<JsonObject>;

const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);

/** Keywords that stay as they are. */
const plain = new Set(['type', 'enum', 'const', '$ref', 'title', 'required', 'default']);
/** Keywords that say nothing about the answer. */
const silent = new Set(['$schema', '$id', '$comment', 'additionalProperties', 'description']);
const variants: ReadonlyMap<string, string> = new Map(
  Object.entries({ anyOf: 'anyOf', oneOf: 'anyOf', allOf: 'allOf' }),
);
const named = new Set(['properties', '$defs', 'definitions']);

export function cleaned(schema: Schema): JsonObject {
  const clean: JsonObject = {};
  const untold: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (silent.has(keyword)) continue;
    const variant = variants.get(keyword);
    if (plain.has(keyword)) clean[keyword] = value;
    else if (variant && Array.isArray(value)) clean[variant] = value.map(cleanedValue);
    else if (named.has(keyword) && isObject(value)) clean[keyword] = cleanedEach(value);
    else if (keyword === 'items' && isObject(value)) clean.items = cleaned(value);
    else if (isKept(keyword, value)) clean[keyword] = value;
    else untold.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  const description = inWords(schema.description, untold);
  if (description !== null) clean.description = description;
  if (isObjectSchema(schema)) clean.additionalProperties = false;
  return clean;
}

const cleanedValue = (value: unknown): unknown => (isObject(value) ? cleaned(value) : value);

const cleanedEach = (schemas: Schema): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, cleanedValue(schema)]));

const isKept = (keyword: string, value: unknown): boolean =>
  (keyword === 'format' && typeof value === 'string' && formats.has(value)) ||
  (keyword === 'minItems' && (value === 0 || value === 1));

const isObjectSchema = ({ type, properties }: Schema): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || (type === undefined && isObject(properties));

function inWords(description: unknown, untold: readonly string[]): string | null {
  const said = typeof description === 'string' && description !== '' ? [description] : [];
  const told = untold.length > 0 ? [`(${untold.join(', ')})`] : [];
  return said.length + told.length > 0 ? [...said, ...told].join(' ') : null;
}
