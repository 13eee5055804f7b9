/** Input against its schemas: what passes, what is refused, and how the refusal names the field. */
import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { ApiError } from '../../http/errors.ts';
import { requireStorable, validate } from './validate.ts';

function refusal(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('Nothing was refused');
}

describe('what the stores cannot keep', () => {
  test.each([
    ['NUL', { users: [{ name: 'a\u0000b' }] }, 'users.0.name'],
    ['half a surrogate pair', { name: '\ud83d' }, 'name'],
    ['NUL in a name', { metadata: { 'a\u0000': 'b' } }, 'metadata'],
  ])('%s is refused by the name of its field', (_, value, path) => {
    const error = refusal(() => requireStorable('body', value));
    expect(error).toMatchObject({ status: 400, code: 'AB01', errors: [{ location: 'body', path }] });
  });

  test('nesting without a bottom is refused, and does not run out of stack', () => {
    const deep = JSON.parse(`{"a":${'['.repeat(300_000)}${']'.repeat(300_000)}}`);
    expect(refusal(() => requireStorable('body', deep)).errors[0]?.path).toBe('a.0.0');
  });

  test('every other character, and nothing at all, is fine', () => {
    requireStorable('body', { name: '\u0001 👩‍👩‍👧‍👦 \u202e', list: [null, 1, true, []] });
    requireStorable('body', undefined);
  });
});

describe('validation', () => {
  const schema = z.object({ name: z.string(), limits: z.strictObject({ size: z.int() }).optional() });

  test('every wrong field is named, a missing one as required and a strange one as unknown', () => {
    const error = refusal(() => validate('body', schema, { limits: { size: 'x', colour: 1 } }));
    expect(error.errors.map(({ path, message }) => [path, message])).toEqual([
      ['name', 'is required'],
      ['limits.size', expect.any(String)],
      ['limits.colour', 'is not a known field'],
    ]);
  });

  test('a long list of wrong items does not make a long answer', () => {
    const error = refusal(() =>
      validate(
        'body',
        z.array(z.string()),
        Array.from({ length: 10_000 }, () => 1),
      ),
    );
    expect(error.errors).toHaveLength(20);
  });
});
