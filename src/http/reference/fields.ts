/** Flattens a schema into the rows of a table: one a field, each with its type, its bounds and what it is for. */
import { type JsonSchema, type OpenApiDocument, resolveSchema } from '../openapi-document.ts';

export interface FieldRow {
  /** The names of the objects and lists around the field: `usage_limits.`, `data[].` */
  prefix: string;
  name: string;
  type: string;
  required: boolean;
  /** Bounds and allowed values, each in a few words. */
  rules: string[];
  description: string;
}

const deepest = 6;

export function fieldRows(document: OpenApiDocument, schema: JsonSchema): FieldRow[] {
  return rowsBelow(document, schema, '', 0);
}

function rowsBelow(document: OpenApiDocument, schema: JsonSchema, prefix: string, depth: number): FieldRow[] {
  if (depth > deepest) return [];
  const { schema: shape, suffix } = container(document, schema);
  const inner = suffix ? `${prefix.replace(/\.$/, '')}${suffix}.` : prefix;
  return Object.entries(shape.properties ?? {}).flatMap(([name, field]) => [
    {
      prefix: inner,
      name,
      type: typeName(document, field),
      required: shape.required?.includes(name) ?? false,
      rules: rulesOf(document, field),
      description: descriptionOf(document, field),
    },
    ...rowsBelow(document, field, `${inner}${name}.`, depth + 1),
  ]);
}

/** The object whose fields stand below this schema: itself, the item of a list, or the one object among alternatives. */
function container(document: OpenApiDocument, schema: JsonSchema): { schema: JsonSchema; suffix: string } {
  const shape = present(document, schema);
  if (shape.items) {
    const item = container(document, shape.items);
    return { schema: item.schema, suffix: `[]${item.suffix}` };
  }
  const alternatives = (shape.anyOf ?? shape.oneOf ?? []).map((option) => container(document, option));
  const first = alternatives.find((option) => option.schema.properties);
  return first ?? { schema: shape, suffix: '' };
}

const isNull = (schema: JsonSchema): boolean => schema.type === 'null';

/** The schema of the values that are not null. */
function present(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const shape = resolveSchema(document, schema);
  const options = shape.anyOf?.filter((option) => !isNull(option));
  const [only] = options ?? [];
  return only && options?.length === 1 ? present(document, only) : shape;
}

function descriptionOf(document: OpenApiDocument, schema: JsonSchema): string {
  return schema.description ?? present(document, schema).description ?? '';
}

export function typeName(document: OpenApiDocument, schema: JsonSchema): string {
  const shape = resolveSchema(document, schema);
  const options = shape.anyOf ?? shape.oneOf;
  if (options) return [...new Set(options.map((option) => typeName(document, option)))].join(' or ');
  if (Array.isArray(shape.type)) return shape.type.join(' or ');
  if (shape.items) return `list of ${typeName(document, shape.items)}`;
  if (typeof shape.additionalProperties === 'object') return `map of ${typeName(document, shape.additionalProperties)}`;
  if (shape.not) return 'not accepted';
  if (shape.format) return shape.format;
  return shape.type ?? (shape.enum || shape.const !== undefined ? 'string' : 'any');
}

export function rulesOf(document: OpenApiDocument, schema: JsonSchema): string[] {
  const shape = present(document, schema);
  const values = shape.enum ?? shape.items?.enum;
  return [
    ...(shape.const === undefined ? [] : [`always \`${String(shape.const)}\``]),
    ...(values ? [`one of ${values.map((value) => `\`${String(value)}\``).join(' ')}`] : []),
    ...range(shape.minimum, shape.maximum, ''),
    ...(shape.enum || shape.format ? [] : range(shape.minLength, shape.maxLength, ' characters')),
    ...range(shape.minItems, shape.maxItems, ' items'),
    ...range(undefined, shape.maxProperties, ' fields'),
    ...(schema.default === undefined ? [] : [`default \`${JSON.stringify(schema.default)}\``]),
  ];
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least !== undefined && most !== undefined) return [`${number(least)} to ${number(most)}${unit}`];
  if (most !== undefined) return [`at most ${number(most)}${unit}`];
  return least === undefined ? [] : [`at least ${number(least)}${unit}`];
}

const number = (value: number): string => (value >= 1e9 ? value.toExponential() : value.toLocaleString('en-GB'));
