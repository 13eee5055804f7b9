/** How operations of an OpenAPI document become tools. */
import { describe, expect, test } from 'bun:test';
import { type CompiledApi, compileOpenApi } from './compile.ts';

const document = (paths: object, more: object = {}): string =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'Pets', version: '2' }, paths, ...more });

const api = (text: string, only?: string[]): CompiledApi => {
  const compiled = compileOpenApi(text, only);
  if (!compiled.ok) throw new Error(compiled.fault);
  return compiled.api;
};

const schemaOf = (text: string, tool: string) => api(text).operations.get(tool)?.definition.inputSchema;

test('an operation is a tool with its parameters and its body', () => {
  const text = document({
    '/pets/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      put: {
        operationId: 'updatePet',
        summary: 'Change a pet',
        parameters: [
          { name: 'id', in: 'query', schema: { type: 'integer' } },
          { name: 'X-Team', in: 'header', description: 'Who asks', schema: { type: 'string' } },
          { name: 'Authorization', in: 'header', schema: { type: 'string' } },
          { name: 'session', in: 'cookie', schema: { type: 'string' } },
        ],
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
      },
    },
  });
  expect(api(text).operations.get('updatePet')).toMatchObject({
    method: 'PUT',
    path: '/pets/{id}',
    bodyType: 'application/json',
    definition: { title: 'Change a pet', annotations: { readOnlyHint: false, idempotentHint: true } },
  });
  expect(schemaOf(text, 'updatePet')).toEqual({
    type: 'object',
    properties: {
      id: { type: 'string' },
      id_query: { type: 'integer' },
      'X-Team': { type: 'string', description: 'Who asks' },
      body: { type: 'object' },
    },
    required: ['id', 'body'],
  });
});

describe('names', () => {
  test('are the ids of operations, else method and path, and never twice the same', () => {
    const text = document({
      '/pets/{id}/photos': { get: { parameters: [{ name: 'id', in: 'path' }] } },
      '/a': { get: { operationId: 'list all!' }, post: { operationId: 'list_all' } },
    });
    expect([...api(text).operations.keys()]).toEqual(['get_pets_id_photos', 'list_all', 'list_all_2']);
  });

  test('choose the operations that are wanted', () => {
    const text = document({ '/a': { get: { operationId: 'one' }, post: { operationId: 'two' } } });
    expect([...api(text, ['two']).operations.keys()]).toEqual(['two']);
  });
});

describe('references', () => {
  const withPet = (schema: object, pet: object) =>
    document(
      { '/p': { post: { operationId: 'add', requestBody: { content: { 'application/json': { schema } } } } } },
      { components: { schemas: { Pet: pet } } },
    );

  test('are written out, and what refers to itself ends', () => {
    const pet = {
      type: 'object',
      properties: { name: { type: 'string' }, parent: { $ref: '#/components/schemas/Pet' } },
    };
    expect(schemaOf(withPet({ $ref: '#/components/schemas/Pet' }, pet), 'add')).toMatchObject({
      properties: { body: { properties: { name: { type: 'string' }, parent: { type: 'object' } } } },
    });
  });

  test.each([
    ['another document', 'https://example.com/pet.json'],
    ['a file', './pet.json#/Pet'],
    ['nothing', '#/components/schemas/Nobody'],
    ['a prototype', '#/components/schemas/__proto__'],
  ])('to %s leave the operation out', (_, $ref) => {
    const compiled = compileOpenApi(withPet({ $ref }, {}));
    expect(compiled).toEqual({ ok: false, fault: expect.stringContaining('cannot be resolved here') });
  });

  test('that grow without end become any value', () => {
    const schemas: Record<string, object> = { L0: { type: 'string' } };
    for (let level = 1; level < 30; level++) {
      const $ref = `#/components/schemas/L${level - 1}`;
      schemas[`L${level}`] = { type: 'object', properties: { a: { $ref }, b: { $ref } } };
    }
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/L29' } } };
    const text = document(
      { '/p': { post: { operationId: 'add', requestBody: { content } } } },
      { components: { schemas } },
    );
    expect(schemaOf(text, 'add')).toMatchObject({ properties: { body: {} } });
  });
});

test('YAML is read as well', () => {
  const text =
    'openapi: 3.0.3\ninfo:\n  title: Pets\n  version: "1"\npaths:\n  /pets:\n    get:\n      operationId: list\n';
  expect([...api(text).operations.keys()]).toEqual(['list']);
});

test.each([
  ['no document', 'hello', 'no JSON and no YAML object'],
  ['an older version', '{"swagger": "2.0", "paths": {}}', 'OpenAPI 3'],
  ['no operations', document({}), 'no operation'],
  [
    'forms alone',
    document({ '/f': { post: { requestBody: { required: true, content: { 'multipart/form-data': {} } } } } }),
    'only JSON is written',
  ],
  ['a path parameter that is not declared', document({ '/f/{x}': { get: {} } }), 'no path parameter x'],
])('%s is refused', (_, text, reason) => {
  expect(compileOpenApi(text)).toEqual({ ok: false, fault: expect.stringContaining(reason) });
});
