import { expect, test } from 'bun:test';
import { tidied, withNamedSchemas } from './openapi-components.ts';
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi-document.ts';

const operation = (operationId: string, reply: JsonSchema, body?: JsonSchema): OpenApiOperation => ({
  operationId,
  tags: [],
  summary: '',
  parameters: [],
  ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
  responses: { 200: { description: '', content: { 'application/json': { schema: reply } } } },
  security: [],
  'x-aliases': [],
  'x-callers': [],
  'x-scope': [],
  'x-level': null,
});

const text: JsonSchema = { type: 'string' };
const limits: JsonSchema = { type: 'object', properties: { a: text, b: text, c: text } };
const thing = (more: Record<string, JsonSchema> = {}): JsonSchema => ({
  type: 'object',
  properties: { object: { type: 'string', const: 'some-thing' }, limits, ...more },
});

const documentOf = (paths: OpenApiDocument['paths']): OpenApiDocument => ({
  openapi: '3.1.0',
  info: { title: '', version: '', summary: '', description: '' },
  servers: [],
  tags: [],
  paths,
  components: { schemas: {}, responses: {}, securitySchemes: {} },
});

test('a record is named after what it says it is, what is written twice after its field, the rest after its operation', () => {
  const { paths, components } = withNamedSchemas(
    documentOf({
      '/things': {
        get: operation('getThings', { type: 'object', properties: { data: { type: 'array', items: thing() } } }),
        post: operation('postThings', thing(), { type: 'object', properties: { limits, name: text } }),
      },
      '/others': { get: operation('getOthers', thing({ more: text })) },
    }),
  );
  expect(Object.keys(components.schemas)).toEqual([
    'GetOthersResponse',
    'GetThingsResponse',
    'Limits',
    'PostThingsRequest',
    'SomeThing',
  ]);
  expect(components.schemas.SomeThing?.properties?.limits).toEqual({ $ref: '#/components/schemas/Limits' });
  expect(components.schemas.GetThingsResponse?.properties?.data?.items).toEqual({
    $ref: '#/components/schemas/SomeThing',
  });
  expect(paths['/things']?.post?.requestBody?.content['application/json']?.schema).toEqual({
    $ref: '#/components/schemas/PostThingsRequest',
  });
});

test('constants beside each other become one list of values, whatever else there is', () => {
  const value = (only: string): JsonSchema => ({ type: 'string', const: only });
  expect(tidied({ anyOf: [value('a'), value('b')] })).toEqual({ type: 'string', enum: ['a', 'b'] });
  expect(tidied({ anyOf: [value('a'), { type: 'null' }, { type: 'string', enum: ['b', 'a'] }] })).toEqual({
    anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }],
  });
  expect(tidied({ anyOf: [text, value('a')] })).toEqual({ anyOf: [text, value('a')] });
});
