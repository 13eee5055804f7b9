/** Gives the schemas of an OpenAPI document names: each record, body and reply stands among the components once, and is referred to everywhere else. */
import { atOnce, type InTurns } from '../in-turns.ts';
import {
  type JsonSchema,
  type MediaContent,
  type OpenApiDocument,
  type OpenApiOperation,
  operationsOf,
  schemaReference,
} from './openapi-document.ts';

/** Smaller objects are told faster than looked up, unless they are the body or the reply of an operation. */
const fewestFields = 3;

export const withNamedSchemas = (written: OpenApiDocument): OpenApiDocument => atOnce(namedInTurns(written));

/** Operation by operation. */
export function* namedInTurns(written: OpenApiDocument): InTurns<OpenApiDocument> {
  const document = yield* everySchema(written, tidied);
  const names = yield* SchemaNames.of(document);
  const named = yield* everySchema(document, (schema, title, part) => {
    if (part === 'component') return schema;
    return part === 'parameter' ? names.within(schema, title) : names.whole(schema, title + pascal(part));
  });
  return { ...named, components: { ...document.components, schemas: names.components() } };
}

type SchemaPart = 'parameter' | 'request' | 'response' | 'component';

/** The document with each of its outermost schemas changed. `title` names the operation. */
function* everySchema(
  document: OpenApiDocument,
  change: (schema: JsonSchema, title: string, part: SchemaPart) => JsonSchema,
): InTurns<OpenApiDocument> {
  const paths: OpenApiDocument['paths'] = {};
  for (const { path, method, operation } of operationsOf(document)) {
    const title = pascal(operation.operationId);
    const inMedia = (content: MediaContent, part: SchemaPart): MediaContent =>
      mapValues(content, (media) => ({ ...media, schema: change(media.schema, title, part) }));
    const { requestBody, parameters, responses } = operation;
    const changed: OpenApiOperation = {
      ...operation,
      parameters: parameters.map((one) => ({
        ...one,
        schema: change(one.schema, title + pascal(one.name), 'parameter'),
      })),
      ...(requestBody && { requestBody: { ...requestBody, content: inMedia(requestBody.content, 'request') } }),
      responses: mapValues(responses, (entry) =>
        'content' in entry ? { ...entry, content: inMedia(entry.content, 'response') } : entry,
      ),
    };
    paths[path] = { ...paths[path], [method]: changed };
    yield;
  }
  const schemas = mapValues(document.components.schemas, (schema, name) => change(schema, name, 'component'));
  return { ...document, paths, components: { ...document.components, schemas } };
}

const mapValues = <T>(items: Readonly<Record<string, T>>, change: (item: T, key: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(items).map(([key, item]) => [key, change(item, key)]));

class SchemaNames {
  readonly #components = new Map<string, JsonSchema>();
  /** Names by what they stand for. */
  readonly #named = new Map<string, string>();
  /** How often each object is written in the document. */
  readonly #counts = new Map<string, number>();

  static *of({ paths, components }: OpenApiDocument): InTurns<SchemaNames> {
    const names = new SchemaNames();
    for (const item of [...Object.values(paths), ...Object.values(components.schemas)]) {
      names.#count(item);
      yield;
    }
    for (const name of Object.keys(components.schemas)) names.#components.set(name, {});
    for (const [name, schema] of Object.entries(components.schemas)) {
      names.#components.set(name, names.#inside(schema, name));
      yield;
    }
    return names;
  }

  components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The body or the reply of an operation. */
  whole(schema: JsonSchema, title: string): JsonSchema {
    if (!schema.properties) return this.#inside(schema, title);
    return this.#reference(schema, recordName(schema) ?? title, title);
  }

  within(schema: JsonSchema, title: string): JsonSchema {
    return this.#placed(schema, title, '');
  }

  /** A schema at its place in another one: a reference where it has a name. */
  #placed(schema: JsonSchema, title: string, name: string): JsonSchema {
    const fields = Object.keys(schema.properties ?? {}).length;
    const record = recordName(schema);
    const isShared = fields >= fewestFields && (this.#counts.get(canonical(schema)) ?? 0) > 1;
    if (!record && !isShared) return this.#inside(schema, title, name);
    return this.#reference(schema, record ?? pascal(name), `${title}${pascal(name)}`);
  }

  #reference(schema: JsonSchema, short: string, long: string): JsonSchema {
    const { description, ...rest } = schema;
    const written = canonical(schema);
    const known = this.#named.get(written);
    const name = known ?? this.#free([short, long]);
    if (known === undefined) {
      this.#named.set(written, name);
      this.#components.set(name, {});
      this.#components.set(name, this.#inside(rest, name));
    }
    return { ...schemaReference(name), ...(description !== undefined && { description }) };
  }

  #free(wanted: readonly [string, string]): string {
    const free = wanted.find((name) => !this.#components.has(name));
    if (free !== undefined) return free;
    let number = 2;
    while (this.#components.has(`${wanted[1]}${number}`)) number++;
    return `${wanted[1]}${number}`;
  }

  /** The schema itself, with references inside. */
  #inside(schema: JsonSchema, title: string, name = ''): JsonSchema {
    const { properties, items, prefixItems, additionalProperties, anyOf, oneOf, allOf } = schema;
    const list = (schemas: readonly JsonSchema[]) => schemas.map((one) => this.#placed(one, title, name || 'item'));
    return {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([field, one]) => [field, this.#placed(one, title, field)]),
        ),
      }),
      ...(items && { items: this.#placed(items, title, singular(name || 'item')) }),
      ...(prefixItems && { prefixItems: list(prefixItems) }),
      ...(typeof additionalProperties === 'object' && {
        additionalProperties: this.#placed(additionalProperties, title, singular(name || 'value')),
      }),
      ...(anyOf && { anyOf: list(anyOf) }),
      ...(oneOf && { oneOf: list(oneOf) }),
      ...(allOf && { allOf: list(allOf) }),
    };
  }

  #count(node: unknown): void {
    if (typeof node !== 'object' || node === null) return;
    if ('properties' in node && 'type' in node) {
      const written = canonical(node as JsonSchema);
      this.#counts.set(written, (this.#counts.get(written) ?? 0) + 1);
    }
    for (const value of Object.values(node)) this.#count(value);
  }
}

/** What it says, whatever it is described as. */
const canonical = ({ description: _, ...schema }: JsonSchema): string => JSON.stringify(schema, withoutDescriptions);

/** A field may be called so too. */
const withoutDescriptions = (key: string, value: unknown): unknown =>
  key === 'description' && typeof value === 'string' ? undefined : value;

/** Records say what they are. */
function recordName({ properties }: JsonSchema): string | null {
  const kind = properties?.object?.const;
  return typeof kind === 'string' && kind !== 'list' ? pascal(kind) : null;
}

const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');

/** Alternatives that are all constants are one list of values. */
export function tidied(schema: JsonSchema): JsonSchema {
  const { anyOf, properties, items, prefixItems, additionalProperties, oneOf, allOf, ...plain } = schema;
  return {
    ...plain,
    ...(anyOf && alternatives(anyOf.map(tidied))),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([field, one]) => [field, tidied(one)])),
    }),
    ...(items && { items: tidied(items) }),
    ...(prefixItems && { prefixItems: prefixItems.map(tidied) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? tidied(additionalProperties) : additionalProperties,
    }),
    ...(oneOf && { oneOf: oneOf.map(tidied) }),
    ...(allOf && { allOf: allOf.map(tidied) }),
  };
}

function alternatives(options: readonly JsonSchema[]): JsonSchema {
  const merged: JsonSchema[] = [];
  for (const option of options) {
    const values = valuesOf(option);
    const before = merged.find((other) => other.type === option.type && valuesOf(other) && !other.description);
    if (values && before && !option.description) {
      before.enum = [...new Set([...(valuesOf(before) ?? []), ...values])];
      delete before.const;
    } else merged.push({ ...option });
  }
  const [only] = merged;
  return merged.length === 1 && only ? only : { anyOf: merged };
}

/** The values that a schema of nothing but values takes. */
function valuesOf({ type, const: only, enum: several }: JsonSchema): unknown[] | null {
  if (typeof type !== 'string') return null;
  return several ?? (only === undefined ? null : [only]);
}
