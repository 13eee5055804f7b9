/** Facts that hold for every endpoint, whoever declared it. */
import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import type { Endpoint } from '../src/admin/kernel/endpoint.ts';
import { operationIdOf } from '../src/admin/kernel/openapi/openapi.ts';
import { resources } from '../src/admin/resources.ts';
import type { JsonSchema } from '../src/http/openapi-document.ts';

const endpoints = resources.flatMap((resource) => resource.endpoints);
const named = (endpoint: Endpoint): string => `${endpoint.method} ${endpoint.path}`;

/** The endpoints that break a rule, each with what is wrong. */
const offenders = (faults: (endpoint: Endpoint) => string[]): string[] =>
  endpoints.flatMap((endpoint) => faults(endpoint).map((fault) => `${named(endpoint)}: ${fault}`));

const repeated = (values: string[]): string[] => values.filter((value, at) => values.indexOf(value) !== at);

describe('input', () => {
  test('every string has a greatest length and every list a greatest size', () => {
    const faults = offenders(({ params, query, body }) =>
      Object.entries({ path: params, query, body }).flatMap(([place, schema]) =>
        schema ? unbounded(jsonSchema(schema()), place) : [],
      ),
    );
    expect(faults).toEqual([]);
  });

  test('only a field that is never kept, or that is a schema itself, takes anything', () => {
    const faults = offenders(({ body }) => (body ? anything(jsonSchema(body()), 'body') : []));
    expect(faults.filter((fault) => !takesAnything.test(fault))).toEqual([]);
  });

  test('a path parameter is declared where it is used', () => {
    const faults = offenders(({ path, params }) => {
      const inPath = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name);
      const declared = params ? Object.keys(jsonSchema(params()).properties ?? {}) : [];
      return [
        ...declared.filter((name) => !inPath.includes(name)).map((name) => `declares ${name}, which the path lacks`),
        ...inPath
          .filter((name) => name !== 'workspaceId' && !declared.includes(name))
          .map((name) => `does not declare ${name}`),
      ];
    });
    expect(faults).toEqual([]);
  });
});

describe('words', () => {
  test('every endpoint has a summary of one line that reads as a command', () => {
    const faults = offenders(({ summary }) => (/^[A-Z][^\n]{5,119}[^.\s]$/.test(summary) ? [] : [`"${summary}"`]));
    expect(faults).toEqual([]);
  });

  test('no two endpoints have the same summary or operation id', () => {
    expect(repeated(endpoints.map((endpoint) => endpoint.summary))).toEqual([]);
    expect(repeated(endpoints.map(operationIdOf))).toEqual([]);
  });

  test('every endpoint stands under a topic', () => {
    expect(offenders(({ tag }) => (/^[A-Z][\w -]+$/.test(tag) ? [] : [`tag "${tag}"`]))).toEqual([]);
  });
});

describe('paths', () => {
  test('segments are kebab-case, parameters camelCase', () => {
    // `makeDefault` is the reference product's own word.
    const segment = /^(?:makeDefault|[a-z0-9]+(?:-[a-z0-9]+)*|[:*][a-z][A-Za-z0-9]*)$/;
    const faults = offenders(({ path }) =>
      path
        .slice(1)
        .split('/')
        .filter((part) => !segment.test(part)),
    );
    expect(faults).toEqual([]);
  });

  test('an alias takes the same parameters', () => {
    const parameters = (path: string) => [...path.matchAll(/[:*]\w+/g)].join(' ');
    const faults = offenders(({ path, aliases = [] }) =>
      aliases.filter((alias) => parameters(alias) !== parameters(path)),
    );
    expect(faults).toEqual([]);
  });
});

describe('behaviour', () => {
  test('only reads are paged, and every page has a maximum that is not below its default', () => {
    const faults = offenders(({ method, paging }) =>
      paging && (method !== 'GET' || paging.max < paging.size || paging.max > 1000) ? [JSON.stringify(paging)] : [],
    );
    expect(faults).toEqual([]);
  });

  test('a reply whose list is counted is paged', () => {
    const faults = offenders(({ method, reply, paging }) => {
      const fields = jsonSchema(reply(), 'output').properties ?? {};
      return method === 'GET' && 'total' in fields && !paging ? ['counts its rows and is not paged'] : [];
    });
    expect(faults).toEqual([]);
  });

  test('every endpoint that writes says which audit row it leaves', () => {
    const faults = offenders((endpoint) =>
      endpoint.method === 'GET' || endpoint.audit === 'none' || (endpoint.audit.resource && endpoint.audit.action)
        ? []
        : ['no audit declaration'],
    );
    expect(faults).toEqual([]);
  });

  test('every endpoint says who may call it', () => {
    const faults = offenders(({ access }) =>
      access === 'open' || (access.callers.length > 0 && access.scope !== undefined) ? [] : ['no access rule'],
    );
    expect(faults).toEqual([]);
  });

  test('a workspace in the path makes the call one of that workspace', () => {
    const faults = offenders(({ path, access }) =>
      path.includes(':workspaceId') && access !== 'open' && access.level !== 'workspace' ? [access.level] : [],
    );
    expect(faults).toEqual([]);
  });
});

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonSchema =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;

/** JSON Schemas, OpenAPI documents and configs, which have rules of their own, what was said in a call that is logged, and the read-only fields of a limit that a client sends back as it got them. */
const takesAnything =
  /(_schema\.\*|POST \/logs: body(\[\])?\.(request|response)\.body(\.\*|\[\])|body\.config\.\*|openapi\.document\.\*|\/guardrails\S*: body\.(checks\[\]|actions|request\.json|response\.json)\.\*|\/prompts\S*: body\.(parameters|functions\[\]|tools\[\]|tool_choice|template_metadata|prompt_metadata)\.\*|current_usage|status|last_reset_at|is_threshold_alerts_sent|is_exhausted_alerts_sent)$/;

/** Formats of a fixed or known greatest length. */
const boundedFormats = new Set(['uuid', 'date', 'ipv4', 'ipv6']);

/** A pattern of one class of characters, so many times. */
const boundedPattern = /^\^\[[^\]]+\]\{(\d+,)?\d+\}\$$/;

function unbounded(schema: JsonSchema, path: string): string[] {
  const isText = schema.type === 'string' || (Array.isArray(schema.type) && schema.type.includes('string'));
  const isBounded =
    schema.maxLength !== undefined ||
    schema.enum !== undefined ||
    schema.const !== undefined ||
    boundedPattern.test(schema.pattern ?? '') ||
    boundedFormats.has(schema.format ?? '');
  return [
    ...(isText && !isBounded ? [`${path} has no greatest length`] : []),
    ...(schema.items && schema.maxItems === undefined ? [`${path} has no greatest size`] : []),
    ...children(schema, path).flatMap(([child, at]) => unbounded(child, at)),
  ];
}

function anything(schema: JsonSchema, path: string): string[] {
  const says = Object.keys(schema).filter((key) => key !== '$schema' && key !== 'description');
  return says.length === 0 ? [path] : children(schema, path).flatMap(([child, at]) => anything(child, at));
}

function children(schema: JsonSchema & { $defs?: Record<string, JsonSchema> }, path: string): [JsonSchema, string][] {
  const { properties = {}, items, additionalProperties, propertyNames, anyOf = [], oneOf = [], allOf = [] } = schema;
  return [
    ...Object.entries(properties).map(([name, child]): [JsonSchema, string] => [child, `${path}.${name}`]),
    ...(items ? [[items, `${path}[]`] as [JsonSchema, string]] : []),
    ...(typeof additionalProperties === 'object' ? [[additionalProperties, `${path}.*`] as [JsonSchema, string]] : []),
    ...(propertyNames ? [[propertyNames, `${path} (names)`] as [JsonSchema, string]] : []),
    ...[...anyOf, ...oneOf, ...allOf].map((child): [JsonSchema, string] => [child, path]),
    ...Object.entries(schema.$defs ?? {}).map(([id, child]): [JsonSchema, string] => [child, `${path}#${id}`]),
  ];
}
