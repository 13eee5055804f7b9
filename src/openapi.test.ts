/** The document of the whole program: every route of both planes, every schema under a name, and nothing that generators of clients trip over. */
import { describe, expect, test } from 'bun:test';
import { schemaCompiler } from '../test/document-schemas.ts';
import { createOpenApiDocument } from './admin/kernel/openapi/openapi.ts';
import { resources } from './admin/resources.ts';
import { gatewayDocument } from './gateway/openapi/operations.ts';
import { declaredRoutes, matchRoute } from './gateway/request/routes.ts';
import { type JsonSchema, jsonSchemaOf, operationsOf, templateOf } from './http/openapi-document.ts';
import { wholeDocument } from './openapi.ts';
import { protocolsDocument } from './openapi-protocols.ts';

const document = wholeDocument();
const operations = operationsOf(document);
const names = (list: readonly { method: string; path: string }[]) =>
  list.map(({ method, path }) => `${method.toUpperCase()} ${path}`);

/** Every schema of the document, however deep. */
function* schemasIn(node: unknown): Generator<JsonSchema> {
  if (typeof node !== 'object' || node === null) return;
  if ('anyOf' in node || 'properties' in node || 'enum' in node) yield node as JsonSchema;
  for (const value of Object.values(node)) yield* schemasIn(value);
}

function* referencesIn(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === '$ref' && typeof value === 'string') yield value;
    else yield* referencesIn(value);
  }
}

describe('the routes', () => {
  test('of the gateway are those that its router knows, in every spelling', () => {
    const told = gatewayDocument().operations;
    expect(names(told)).toEqual(
      names(declaredRoutes.map(({ method, path }) => ({ method, path: templateOf(`/v1${path}`) }))),
    );
    for (const { method, path, operation } of told) {
      for (const spelling of [path, ...operation['x-aliases']]) {
        const asked = spelling.replace('/v1', '').replaceAll(/\{\w+\}/g, 'x');
        expect({ asked, found: matchRoute(method.toUpperCase(), asked) !== null }).toEqual({ asked, found: true });
      }
    }
  });

  test('of both planes are all there, and none stands in place of another', () => {
    const parts = [
      ...gatewayDocument().operations,
      ...protocolsDocument().operations,
      ...operationsOf(createOpenApiDocument(resources)),
    ];
    expect(new Set(names(parts)).size).toBe(parts.length);
    expect(new Set(names(operations))).toEqual(new Set(names(parts)));
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  });
});

describe('the schemas', () => {
  test('of bodies and answers have names', () => {
    for (const { operation } of operations) {
      const answer = operation.responses['200'];
      const answered = answer && 'content' in answer ? jsonSchemaOf(answer.content) : undefined;
      for (const schema of [jsonSchemaOf(operation.requestBody?.content), answered]) {
        if (schema?.properties) expect(`${operation.operationId} is written out`).toBe('');
      }
    }
  });

  test('write a choice of values as a list of them', () => {
    for (const { anyOf = [] } of schemasIn(document)) {
      const values = anyOf.filter((option) => option.const !== undefined && option.description === undefined);
      const types = values.map(({ type }) => String(type));
      expect(types).toEqual([...new Set(types)]);
    }
  });

  test('that are referred to are there, and every one compiles', () => {
    for (const reference of referencesIn(document)) {
      const [, kind, name] = /^#\/components\/(\w+)\/(\w+)$/.exec(reference) ?? [];
      const among: Record<string, object> = { ...document.components };
      expect({ reference, found: name !== undefined && name in (among[kind ?? ''] ?? {}) }).toEqual({
        reference,
        found: true,
      });
    }
    const compile = schemaCompiler(document, { strict: false, validateFormats: false });
    for (const schema of Object.values(document.components.schemas)) {
      expect(() => compile(schema)).not.toThrow();
    }
  });
});
