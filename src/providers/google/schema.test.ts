import { describe, expect, test } from 'bun:test';
import { spoken } from '../../../test/families.ts';
import { refusalOf } from '../../../test/providers/gemini-rules.ts';
import type { JsonObject } from '../provider.ts';
import { geminiFamily } from './family.ts';
import { jsonSchema, needsJsonSchema, openApiSchema } from './schema.ts';

describe('for models that know a subset of OpenAPI’s schemas', () => {
  const cleaned = (schema: JsonObject) => {
    const copy = structuredClone(schema);
    const made = openApiSchema(schema);
    expect(schema).toEqual(copy);
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    expect(refusalOf('gemini-2.0-flash', { contents, generationConfig: { responseSchema: made } })).toBeNull();
    return made;
  };

  test('references are written out, also of references, and one that holds itself ends', () => {
    const tree = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $ref: '#/$defs/Node',
      $defs: {
        Node: {
          type: 'object',
          properties: { name: { $ref: '#/$defs/Name', description: 'Its name' }, next: { $ref: '#/$defs/Node' } },
          required: ['name'],
        },
        Name: { type: 'string', minLength: 1 },
      },
    };
    expect(cleaned(tree)).toEqual({
      type: 'object',
      properties: { name: { type: 'string', minLength: 1, description: 'Its name' }, next: { type: 'object' } },
      required: ['name'],
    });
  });

  test.each([
    ['a list of types', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
    [
      'a choice with null',
      { anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'n' },
      { type: 'integer', nullable: true, description: 'n' },
    ],
    [
      'a choice',
      { oneOf: [{ type: 'integer' }, { type: 'string' }] },
      { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    ['a constant', { const: 'x' }, { enum: ['x'] }],
    ['listed numbers', { type: 'integer', enum: [1, 2] }, { type: 'integer' }],
    ['a format that is not known', { type: 'string', format: 'uri' }, { type: 'string' }],
    ['a format that is known', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
    [
      'limits',
      { type: 'number', minimum: 0, exclusiveMinimum: 0, multipleOf: 2, default: 4 },
      { type: 'number', minimum: 0 },
    ],
    [
      'an empty object',
      { type: 'object', properties: {}, required: ['x'], additionalProperties: false },
      { type: 'object' },
    ],
    [
      'parts that hold together',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'string' } } },
        ],
      },
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] },
    ],
    [
      'a choice of types',
      { type: ['string', 'number', 'null'], description: 'Either' },
      { anyOf: [{ type: 'string' }, { type: 'number' }], nullable: true, description: 'Either' },
    ],
    [
      'items',
      { type: 'array', items: { type: ['number', 'null'] }, minItems: 1 },
      { type: 'array', items: { type: 'number', nullable: true }, minItems: 1 },
    ],
  ])('%s', (_, schema, made) => {
    expect(cleaned(schema)).toEqual(made);
  });
});

describe('for models that take JSON Schema', () => {
  test('everything stays but the name of the language, constants, and what stands beside a reference', () => {
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: {
        kind: { const: 'a' },
        self: { $ref: '#', description: 'Again' },
        list: { type: 'array', items: { const: 1 } },
      },
      additionalProperties: false,
      $defs: { A: { anyOf: [{ const: 'b' }, { type: 'null' }] } },
    };
    expect(jsonSchema(schema)).toEqual({
      type: 'object',
      properties: { kind: { enum: ['a'] }, self: { $ref: '#' }, list: { type: 'array', items: { enum: [1] } } },
      additionalProperties: false,
      $defs: { A: { anyOf: [{ enum: ['b'] }, { type: 'null' }] } },
    });
  });

  test('a property may have the name of a word of the language', () => {
    const schema = {
      type: 'object',
      properties: { const: { type: 'string' }, $ref: { type: 'string' }, items: { type: 'string' } },
    };
    expect(jsonSchema(schema)).toEqual(schema);
    expect(openApiSchema(schema)).toEqual(schema);
  });
});

describe('a format that the subset cannot tell', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } };

  test.each([
    ['what refers to itself', { $ref: '#/$defs/Node', $defs: { Node: node } }],
    ['free keys', { type: 'object', additionalProperties: { type: 'number' } }],
    ['fixed places', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['numbers to choose from', { type: 'object', properties: { n: { enum: [1, 2] } } }],
  ])('%s goes as JSON Schema to models that know both', (_, schema) => {
    expect(needsJsonSchema(schema)).toBe(true);
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
    const asked = (model: string) =>
      spoken(geminiFamily('studio'), { model }).asked({ messages: [{ role: 'user', content: 'Hi' }], response_format });
    expect(Object.keys(asked('gemini-2.0-flash').generationConfig)).toContain('responseJsonSchema');
    expect(Object.keys(asked('gemini-1.5-flash').generationConfig)).toContain('responseSchema');
  });

  test('a plain one goes as the subset', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' }, b: { type: ['string', 'null'], enum: ['x', null] } },
      additionalProperties: false,
      $defs: { A: { type: 'array', items: { type: 'string' } } },
    };
    expect(needsJsonSchema(schema)).toBe(false);
  });
});
