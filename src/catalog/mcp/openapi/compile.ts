/** An OpenAPI document as tools: each operation becomes one, with a schema for all that it takes. */
import { readJson } from '../../../bounded-json.ts';
import type { CapabilityDefinition } from '../types.ts';
import { nameOf } from './names.ts';
import { asList, asObject, type Json, Schemas } from './schemas.ts';

export interface ApiParameter {
  /** As the API names it. */
  name: string;
  /** As the tool names it: two parameters of one name are told apart by where they stand. */
  argument: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  /** Lists and objects are written as one value each, or all in one. */
  explode: boolean;
  /** Objects are written as `name[field]=value`. */
  deep: boolean;
}

export interface ApiOperation {
  definition: CapabilityDefinition;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  parameters: readonly ApiParameter[];
  /** The media type of the argument `body`; null where there is none. */
  bodyType: string | null;
  bodyRequired: boolean;
}

export interface CompiledApi {
  title: string;
  version: string;
  description: string | null;
  /** By the name of the tool. */
  operations: ReadonlyMap<string, ApiOperation>;
  /** Operations that cannot be tools, and why. */
  leftOut: readonly string[];
}

export type CompiledDocument = { ok: true; api: CompiledApi } | { ok: false; fault: string };

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
const mostOperations = 500;
const longestText = 4_096;

export function compileOpenApi(text: string, only?: readonly string[]): CompiledDocument {
  const document = parsedDocument(text);
  if (!document) return { ok: false, fault: 'is no JSON and no YAML object' };
  if (typeof document.openapi !== 'string' || !/^3\./.test(document.openapi)) {
    return { ok: false, fault: 'must be a document of OpenAPI 3' };
  }
  const operations = new Map<string, ApiOperation>();
  const leftOut: string[] = [];
  const wanted = only && new Set(only);
  const schemas = new Schemas(document);
  for (const [path, item] of Object.entries(asObject(document.paths))) {
    for (const method of methods) {
      const written = asObject(schemas.resolved(item))[method];
      if (written === undefined) continue;
      const label = `${method.toUpperCase()} ${path}`.slice(0, 200);
      const operation = asObject(written);
      const name = nameOf(operation.operationId, method, path, (one) => operations.has(one));
      if (wanted && !wanted.has(name) && !wanted.has(String(operation.operationId))) continue;
      const compiled = compiledOperation(schemas, name, method, path, asObject(schemas.resolved(item)), operation);
      if (typeof compiled === 'string') leftOut.push(`${label}: ${compiled}`);
      else operations.set(name, compiled);
      if (operations.size > mostOperations) {
        return { ok: false, fault: `has more than ${mostOperations} operations; name those that are wanted` };
      }
    }
  }
  if (operations.size === 0) {
    return { ok: false, fault: `has no operation that can be a tool${leftOut[0] ? ` (${leftOut[0]})` : ''}` };
  }
  const info = asObject(document.info);
  return {
    ok: true,
    api: {
      title: textIn(info.title, 255) ?? 'API',
      version: textIn(info.version, 64) ?? '0',
      description: textIn(info.description, longestText),
      operations,
      leftOut,
    },
  };
}

function compiledOperation(
  schemas: Schemas,
  name: string,
  method: (typeof methods)[number],
  path: string,
  item: Json,
  operation: Json,
): ApiOperation | string {
  const parameters = parametersOf(schemas, item, operation);
  if (typeof parameters === 'string') return parameters;
  const missing = [...path.matchAll(/\{([^{}]+)\}/g)].find(
    ([, named]) => !parameters.some((one) => one.parameter.in === 'path' && one.parameter.name === named),
  );
  if (missing) return `declares no path parameter ${missing[1]}`;
  const body = bodyOf(schemas, operation);
  if (typeof body === 'string') return body;
  const properties: Record<string, unknown> = Object.fromEntries(
    parameters.map(({ parameter, schema }) => [parameter.argument, schema]),
  );
  const required = parameters.filter(({ parameter }) => parameter.required).map(({ parameter }) => parameter.argument);
  if (body) properties.body = body.schema;
  if (body?.required) required.push('body');
  const title = textIn(operation.summary, 255);
  const description = [operation.summary, operation.description].filter((one) => typeof one === 'string').join('\n\n');
  return {
    definition: {
      name,
      ...(title !== null && { title }),
      description: (description || `${method.toUpperCase()} ${path}`).slice(0, longestText),
      inputSchema: { type: 'object', properties, ...(required.length > 0 && { required }) },
      annotations: {
        readOnlyHint: method === 'get',
        idempotentHint: method === 'get' || method === 'put' || method === 'delete',
        destructiveHint: method === 'delete',
      },
    },
    method: method.toUpperCase() as ApiOperation['method'],
    path,
    parameters: parameters.map(({ parameter }) => parameter),
    bodyType: body?.type ?? null,
    bodyRequired: body?.required ?? false,
  };
}

/** These are ours to set, whatever a document says. */
const ownHeaders =
  /^(accept|content-type|content-length|authorization|proxy-.*|cookie|host|connection|transfer-encoding|te|upgrade|expect|x-gw-.*|x-forwarded-.*|mcp-.*)$/i;
const headerForm = /^[\w!#$%&'*+.^`|~-]{1,256}$/;

interface Parameter {
  parameter: ApiParameter;
  schema: Json;
}

function parametersOf(schemas: Schemas, item: Json, operation: Json): Parameter[] | string {
  const byPlace = new Map<string, Json>();
  for (const written of [...asList(item.parameters), ...asList(operation.parameters)]) {
    const one = asObject(schemas.resolved(written));
    byPlace.set(`${String(one.in)} ${String(one.name)}`, one);
  }
  const found: Parameter[] = [];
  for (const one of byPlace.values()) {
    const { in: place, name } = one;
    if (typeof name !== 'string' || name === '') return 'has a parameter without a name';
    if (place === 'cookie' || (place === 'header' && (ownHeaders.test(name) || !headerForm.test(name)))) continue;
    if (place !== 'path' && place !== 'query' && place !== 'header') return `has a parameter in ${String(place)}`;
    const argument =
      found.some(({ parameter }) => parameter.argument === name) || name === 'body' ? `${name}_${place}` : name;
    const media = Object.values(asObject(one.content))[0];
    const schema = schemas.inlined(one.schema ?? asObject(media).schema ?? {});
    if (schema === null) return `has a parameter ${name} whose schema cannot be resolved here`;
    const description = textIn(one.description, longestText);
    found.push({
      parameter: {
        name,
        argument,
        in: place,
        required: place === 'path' || one.required === true,
        explode: typeof one.explode === 'boolean' ? one.explode : place === 'query',
        deep: one.style === 'deepObject',
      },
      schema: description === null ? schema : { ...schema, description },
    });
  }
  return found;
}

function bodyOf(schemas: Schemas, operation: Json): { schema: Json; type: string; required: boolean } | null | string {
  if (operation.requestBody === undefined) return null;
  const body = asObject(schemas.resolved(operation.requestBody));
  const contents = Object.entries(asObject(body.content));
  const json = contents.find(([type]) => /^application\/(json|[\w.+-]+\+json)\b/i.test(type));
  const required = body.required === true;
  if (!json) return required ? `takes a body of ${contents[0]?.[0] ?? 'no type'}, and only JSON is written` : null;
  const schema = schemas.inlined(asObject(json[1]).schema ?? {});
  return schema === null ? 'has a body whose schema cannot be resolved here' : { schema, type: json[0], required };
}

function parsedDocument(text: string): Json | null {
  const trimmed = text.trimStart();
  try {
    const value = trimmed.startsWith('{') ? readJson(text) : Bun.YAML.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

const textIn = (value: unknown, longest: number): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, longest) : null;
