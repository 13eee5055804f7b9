/** The document that declarations make: of one small resource, and of the whole program. */
import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { schemaCompiler } from '../../../../test/document-schemas.ts';
import { type JsonSchema, jsonSchemaOf, operationsOf, resolveSchema } from '../../../http/openapi-document.ts';
import { lazy } from '../../../lazy.ts';
import { resources } from '../../resources.ts';
import { endpoint, type Resource } from '../endpoint.ts';
import { createOpenApiDocument } from './openapi.ts';

const thing = lazy(() => z.object({ id: z.uuid(), size: z.int().default(1) }).meta({ id: 'Thing' }));

const things: Resource = {
  name: 'things',
  endpoints: [
    endpoint({
      method: 'GET',
      path: '/things',
      aliases: ['/admin/things'],
      tag: 'Things',
      summary: 'List things',
      access: { callers: ['admin-key', 'session'], scope: { anyOf: ['logs.list', 'logs.view'] }, level: 'workspace' },
      query: () => z.object({ colour: z.enum(['red', 'blue']).optional().describe('The colour') }),
      paging: { size: 50, max: 100 },
      reply: () => z.object({ data: z.array(thing()) }),
      handle: async () => ({ data: [] }),
    }),
    endpoint({
      method: 'PUT',
      path: '/things/:thingId',
      tag: 'Things',
      summary: 'Change a thing',
      access: { callers: ['session'], scope: null, level: 'organisation' },
      params: () => z.object({ thingId: z.uuid() }),
      body: thing,
      bodyRequired: false,
      reply: thing,
      audit: { resource: 'workspace', action: 'update' },
      handle: async () => ({ id: '', size: 1 }),
    }),
    endpoint({
      method: 'POST',
      path: '/sign-in',
      tag: 'Sessions',
      summary: 'Sign in',
      access: 'open',
      body: () => z.object({ name: z.string().max(10) }),
      reply: () => z.object({}),
      audit: { resource: 'user', action: 'login' },
      handle: async () => ({}),
    }),
  ],
};

describe('the document of a resource', () => {
  const document = createOpenApiDocument([things]);
  const list = document.paths['/v1/things']?.get;
  const change = document.paths['/v1/things/{thingId}']?.put;
  const signIn = document.paths['/v1/sign-in']?.post;

  test('each endpoint stands under its main path in version 1, with its other paths beside it', () => {
    expect(Object.keys(document.paths)).toEqual(['/v1/things', '/v1/things/{thingId}', '/v1/sign-in']);
    expect(list?.['x-aliases']).toEqual(['/v1/admin/things', '/v2/things', '/v2/admin/things']);
    expect(change?.['x-aliases']).toEqual(['/v2/things/{thingId}']);
  });

  test('it says who may call, with which scope, held where, by which credential', () => {
    expect(list).toMatchObject({
      'x-callers': ['admin-key', 'session'],
      'x-scope': ['logs.list', 'logs.view'],
      'x-level': 'workspace',
      security: [{ apiKey: [] }, { bearer: [] }, { session: [] }],
    });
    expect(change).toMatchObject({ 'x-scope': [], security: [{ bearer: [] }, { session: [] }] });
    expect(signIn).toMatchObject({ 'x-callers': [], 'x-level': null, security: [] });
  });

  test('parameters carry their description, and pages their default and maximum', () => {
    expect(list?.parameters.map((parameter) => parameter.name)).toEqual([
      'colour',
      'workspace_id',
      'current_page',
      'page_size',
    ]);
    expect(list?.parameters[0]).toEqual({
      name: 'colour',
      in: 'query',
      required: false,
      description: 'The colour',
      schema: { type: 'string', enum: ['red', 'blue'] },
    });
    expect(list?.parameters.at(-1)?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 100, default: 50 });
    expect(change?.parameters).toEqual([
      { name: 'thingId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
    ]);
  });

  test('a named schema is written once for each side and referred to', () => {
    expect(Object.keys(document.components.schemas)).toEqual(['Error', 'Thing', 'ThingInput']);
    expect(document.components.schemas.Thing?.required).toEqual(['id', 'size']);
    expect(document.components.schemas.ThingInput?.required).toEqual(['id']);
    expect(change?.requestBody).toEqual({
      required: false,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingInput' } } },
    });
  });

  test('replies may grow fields, so clients are not told to refuse them', () => {
    expect(document.components.schemas.Thing?.additionalProperties).toBeUndefined();
  });

  test('refusals are named by status', () => {
    expect(Object.keys(list?.responses ?? {})).toEqual(['200', '400', '401', '403', '404', '429', 'default']);
    expect(Object.keys(change?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '429',
      'default',
    ]);
    expect(Object.keys(signIn?.responses ?? {})).toEqual(['200', '400', '409', '413', '415', '429', 'default']);
  });
});

describe('the document of the program', () => {
  const document = createOpenApiDocument(resources);
  const operations = operationsOf(document);

  test('it has what OpenAPI 3.1 requires, and every endpoint', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info).toMatchObject({ title: 'gw', version: '2.0.0' });
    expect(operations.length).toBe(resources.flatMap((resource) => resource.endpoints).length);
  });

  test('path templates and path parameters agree', () => {
    for (const { path, operation } of operations) {
      const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
      expect(declared.map((parameter) => parameter.name)).toEqual(inTemplate);
      expect(declared.every((parameter) => parameter.required)).toBe(true);
    }
  });

  test('parameters are named once for each place', () => {
    for (const { operation } of operations) {
      const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(names).toEqual([...new Set(names)]);
    }
  });

  test('every tag, security scheme and reference that is used is declared', () => {
    const tags = document.tags.map((tag) => tag.name);
    for (const { operation } of operations) {
      expect(tags).toEqual(expect.arrayContaining(operation.tags));
      for (const requirement of operation.security) {
        const declared = Object.keys(document.components.securitySchemes);
        expect(declared).toEqual(expect.arrayContaining(Object.keys(requirement)));
      }
    }
    for (const reference of referencesIn(document)) expect(lookUp(document, reference)).toBeDefined();
  });

  test('every schema compiles as JSON Schema 2020-12', () => {
    const strictly = { strict: true, strictTypes: false, strictRequired: false, validateFormats: false };
    const compile = schemaCompiler(document, strictly);
    const schemas = [...schemasIn(document.paths), ...Object.values(document.components.schemas)];
    expect(schemas.length).toBeGreaterThan(operations.length);
    for (const schema of schemas) {
      expect(() => compile(schema)).not.toThrow();
    }
  });

  test('the replies of lists describe their records', () => {
    for (const { operation } of operations.filter((listed) => listed.operation.operationId === 'getAuditLogs')) {
      const response = operation.responses['200'];
      const schema = response && 'content' in response ? (jsonSchemaOf(response.content) ?? {}) : {};
      expect(resolveSchema(document, schema).properties?.records?.items?.properties).toHaveProperty('request_id');
    }
  });
});

function referencesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : referencesIn(value),
  );
}

const lookUp = (document: unknown, reference: string): unknown =>
  reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((node, key) => (typeof node === 'object' && node ? Reflect.get(node, key) : undefined), document);

function schemasIn(node: unknown): JsonSchema[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => (key === 'schema' ? [value] : schemasIn(value)));
}
