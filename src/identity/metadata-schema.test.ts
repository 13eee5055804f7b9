/** Metadata schemas: which are accepted, and what they do to metadata. */
import { describe, expect, test } from 'bun:test';
import { applyMetadataSchema, faultOfMetadataSchema } from './metadata-schema.ts';

const team = {
  type: 'object',
  additionalProperties: true,
  required: ['team', 'stage'],
  properties: {
    team: { type: 'string' },
    stage: { type: 'string', enum: ['dev', 'prod'], default: 'dev' },
  },
};

describe('which metadata schemas are accepted', () => {
  test('objects of string properties with required, enum and default are', () => {
    expect(faultOfMetadataSchema(team)).toBeNull();
    expect(faultOfMetadataSchema({ type: 'object', additionalProperties: true })).toBeNull();
  });

  test.each([
    ['no object at all', 'text', /expected object/],
    ['no top-level type', { additionalProperties: true }, /^type:/],
    ['another top-level type', { ...team, type: 'string' }, /^type:/],
    ['additionalProperties missing', { type: 'object' }, /^additionalProperties:/],
    ['additionalProperties false', { ...team, additionalProperties: false }, /^additionalProperties:/],
    ['an unknown keyword', { ...team, allOf: [] }, /allOf/],
    ['a property that is no string', { ...team, properties: { age: { type: 'integer' } } }, /^properties\.age\.type:/],
    ['a property without a type', { ...team, properties: { age: {} } }, /^properties\.age\.type:/],
    ['an unknown keyword of a property', { ...team, properties: { a: { type: 'string', pattern: 'x' } } }, /pattern/],
    ['a default that is no string', { ...team, properties: { a: { type: 'string', default: 1 } } }, /default/],
    [
      'a default outside its enum',
      { ...team, properties: { a: { type: 'string', enum: ['x'], default: 'y' } } },
      /enum/,
    ],
    ['an empty enum', { ...team, properties: { a: { type: 'string', enum: [] } } }, /enum/],
    ['required that is no list', { ...team, required: 'team' }, /^required:/],
  ])('a schema with %s is refused by name', (_case, schema, message) => {
    expect(faultOfMetadataSchema(schema)).toMatch(message);
  });
});

describe('what a metadata schema does', () => {
  test('without a schema metadata stays as it is', () => {
    expect(applyMetadataSchema(null, { any: 'thing' })).toEqual({ metadata: { any: 'thing' }, faults: [] });
  });

  test('defaults fill missing keys and satisfy required; own values win; unknown keys stay', () => {
    expect(applyMetadataSchema(team, { team: 'a', extra: 'x' })).toEqual({
      metadata: { team: 'a', extra: 'x', stage: 'dev' },
      faults: [],
    });
    expect(applyMetadataSchema(team, { team: 'a', stage: 'prod' }).metadata).toEqual({ team: 'a', stage: 'prod' });
  });

  test('a missing required key and a value outside its enum are named', () => {
    expect(applyMetadataSchema(team, { stage: 'test' }).faults).toEqual([
      { path: 'team', message: 'is required' },
      { path: 'stage', message: 'must be one of dev, prod' },
    ]);
  });

  test('names that every object inherits count only when they are there', () => {
    const schema = { type: 'object', additionalProperties: true, required: ['constructor'] };
    expect(applyMetadataSchema(schema, {}).faults).toEqual([{ path: 'constructor', message: 'is required' }]);
    expect(applyMetadataSchema(schema, { constructor: 'x' }).faults).toEqual([]);
  });
});
