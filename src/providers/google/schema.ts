/** JSON Schema for Gemini, always on a copy: what its schema fields refuse is taken out or said in another way. */
import { RequestFault } from '../faults.ts';
import { isObject, listOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { decoded } from '../stored-files.ts';

type Schema = Readonly<JsonObject>;

/** For the fields that take JSON Schema: only what they are known to refuse is changed. */
export function jsonSchema(schema: Schema): JsonObject {
  // Nothing but other words of the schema language may stand beside a reference.
  if (typeof schema.$ref === 'string') {
    return mapped(
      Object.fromEntries(Object.entries(schema).filter(([name]) => name.startsWith('$') && name !== '$schema')),
      jsonSchema,
    );
  }
  const { $schema, const: only, ...rest } = schema;
  return mapped({ ...rest, ...(only !== undefined && { enum: [only] }) }, jsonSchema);
}

/** For models that know only a subset of OpenAPI's schemas: references are written out. */
export function openApiSchema(schema: Schema): JsonObject {
  return cleaned(schema, { root: schema, written: 0 }, []);
}

/** Whether something of it would be lost in OpenAPI's subset: what refers to itself, free keys, fixed places, values that are no text. */
export function needsJsonSchema(schema: Schema): boolean {
  return isBeyond(schema, { root: schema, written: 0 }, []);
}

const beyondWords = ['patternProperties', 'prefixItems', 'not', 'if', 'dependentSchemas', 'uniqueItems', 'multipleOf'];

function isBeyond(schema: Schema, writing: Writing, open: readonly string[]): boolean {
  countWritten(writing, open);
  const reference = textOf(schema.$ref);
  if (reference !== null) {
    const target = referred(writing.root, reference);
    return open.includes(reference) || (target !== null && isBeyond(target, writing, [...open, reference]));
  }
  const values = listOf(schema.const === undefined ? schema.enum : [schema.const]);
  return (
    beyondWords.some((word) => word in schema) ||
    isObject(schema.additionalProperties) ||
    values.some((value) => value !== null && typeof value !== 'string') ||
    innerSchemas(schema).some((inner) => isBeyond(inner, writing, open))
  );
}

/** The schemas that a value of this one is made of. */
const innerSchemas = ({ properties, items, anyOf, oneOf, allOf }: Schema): JsonObject[] => [
  ...(isObject(properties) ? Object.values(properties).filter(isObject) : []),
  ...(isObject(items) ? [items] : []),
  ...[anyOf, oneOf, allOf].flatMap((list) => objectsOf(list)),
];

interface Writing {
  root: Schema;
  /** How many schemas have been written so far. */
  written: number;
}

/** A few references to each other can stand for more than fits anywhere. */
const mostWritten = 20_000;
const longestChain = 100;

function countWritten(writing: Writing, open: readonly string[]): void {
  writing.written++;
  if (writing.written <= mostWritten && open.length <= longestChain) return;
  throw new RequestFault('schema', 'a schema is too large once its references are written out: use fewer of them');
}

const keptWords = [
  'title',
  'description',
  'nullable',
  'minItems',
  'maxItems',
  'propertyOrdering',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
] as const;

const formats = new Set(['enum', 'date-time', 'int32', 'int64', 'float', 'double']);

/** `open` are the references that are being written out: one of them again would never end. */
function cleaned(schema: Schema, writing: Writing, open: readonly string[]): JsonObject {
  countWritten(writing, open);
  const reference = textOf(schema.$ref);
  if (reference !== null) {
    const target = open.includes(reference) ? null : referred(writing.root, reference);
    return target ? cleaned({ ...target, ...described(schema) }, writing, [...open, reference]) : { type: 'object' };
  }
  const parts = objectsOf(schema.allOf);
  if (parts.length > 0) {
    const { allOf: _, ...rest } = schema;
    return joined([rest, ...parts].map((part) => cleaned(part, writing, open)));
  }
  return plain(schema, (inner) => cleaned(inner, writing, open));
}

function plain(schema: Schema, inner: (value: Schema) => JsonObject): JsonObject {
  const { types, nullable } = typesOf(schema);
  const [type] = types;
  const offered = [...objectsOf(schema.anyOf), ...objectsOf(schema.oneOf)];
  if (offered.length === 0 && types.length > 1) offered.push(...types.map((one) => ({ type: one })));
  const choices = offered.filter((choice) => choice.type !== 'null');
  const offersNull = offered.length > choices.length;
  const [single] = choices;
  if (single && choices.length === 1) return { ...inner(single), ...described(schema), ...(offersNull && nothing) };
  const kept = Object.fromEntries(keptWords.flatMap((word) => (word in schema ? [[word, schema[word]]] : [])));
  const format = textOf(schema.format);
  const values = listOf(schema.const === undefined ? schema.enum : [schema.const]).filter((one) => one !== null);
  return {
    ...kept,
    ...(type !== undefined && types.length === 1 && { type }),
    ...((nullable || offersNull) && nothing),
    ...(format !== null && formats.has(format) && { format }),
    // Only strings can be listed.
    ...(values.length > 0 && values.every((value) => typeof value === 'string') && { enum: values }),
    ...(choices.length > 1 && { anyOf: choices.map(inner) }),
    ...(isObject(schema.items) && { items: inner(schema.items) }),
    ...propertiesOf(schema, inner),
  };
}

/** What holds all at once, in one schema. */
function joined(parts: readonly JsonObject[]): JsonObject {
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  const required = [...new Set(parts.flatMap((part) => listOf(part.required)))];
  return {
    ...Object.assign({}, ...parts),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

const nothing = { nullable: true };
const described = ({ description }: Schema): JsonObject => (description === undefined ? {} : { description });

/** An object without properties is refused: then it is left open. */
function propertiesOf(schema: Schema, inner: (value: Schema) => JsonObject): JsonObject {
  if (!isObject(schema.properties)) return {};
  const properties = Object.entries(schema.properties).filter((entry): entry is [string, JsonObject] =>
    isObject(entry[1]),
  );
  if (properties.length === 0) return {};
  const known = new Set<unknown>(properties.map(([name]) => name));
  const required = listOf(schema.required).filter((name) => known.has(name));
  return {
    properties: Object.fromEntries(properties.map(([name, value]) => [name, inner(value)])),
    ...(required.length > 0 && { required }),
  };
}

/** A list of types is a choice; null among them is said in another way. */
function typesOf({ type }: Schema): { types: readonly string[]; nullable: boolean } {
  const types = (Array.isArray(type) ? type : [type]).filter((one): one is string => typeof one === 'string');
  if (!Array.isArray(type)) return { types, nullable: false };
  return { types: types.filter((one) => one !== 'null'), nullable: types.includes('null') };
}

function referred(root: Schema, reference: string): JsonObject | null {
  let place: unknown = root;
  for (const step of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    place = isObject(place) ? place[decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return isObject(place) ? place : null;
}

const schemasByName = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
const listedSchemas = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const singleSchemas = new Set(['items', 'additionalProperties', 'not']);

/** The schema with every schema inside it passed through `change`. */
function mapped(schema: Schema, change: (inner: Schema) => JsonObject): JsonObject {
  const each = (value: unknown): unknown => (isObject(value) ? change(value) : value);
  return Object.fromEntries(
    Object.entries(schema).map(([word, value]) => {
      if (schemasByName.has(word) && isObject(value)) {
        return [word, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner)]))];
      }
      if (listedSchemas.has(word)) return [word, listOf(value).map(each)];
      return [word, singleSchemas.has(word) ? each(value) : value];
    }),
  );
}
