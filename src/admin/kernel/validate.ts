/** Checks input against an endpoint's schemas and names every wrong field. */
import type { z } from 'zod';
import { type FieldError, invalid, invalidFields } from '../../http/errors.ts';

/** Deeper than any schema of ours, and shallow enough that nothing which walks a value runs out of stack. */
const deepest = 64;

/** A long list of wrong items must not make an answer longer than the question. */
const errorsTold = 20;

/** Refuses what the stores cannot keep: NUL (PostgreSQL has no text with it), half a character, and bottomless nesting. */
export function requireStorable(location: FieldError['location'], value: unknown): void {
  const waiting: { value: unknown; path: readonly string[] }[] = [{ value, path: [] }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, path } = next;
    if (typeof value === 'string') requireText(location, value, path);
    if (typeof value !== 'object' || value === null) continue;
    if (path.length === deepest) {
      throw invalidFields([
        { location, path: path.slice(0, 3).join('.'), message: `is nested deeper than ${deepest}` },
      ]);
    }
    for (const [name, field] of Object.entries(value)) {
      requireText(location, name, path);
      waiting.push({ value: field, path: [...path, name] });
    }
  }
}

function requireText(location: FieldError['location'], text: string, path: readonly string[]): void {
  if (text.includes('\0') || !text.isWellFormed()) {
    const message = 'holds a character that cannot be stored (NUL, or half of a surrogate pair)';
    throw invalidFields([{ location, path: path.join('.'), message }]);
  }
}

export function validate(location: FieldError['location'], schema: z.ZodType, value: unknown): unknown {
  // Without the input a wrong type could not be told from a missing field.
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  throw invalidFields(result.error.issues.flatMap((issue) => fieldErrors(location, issue)).slice(0, errorsTold));
}

function fieldErrors(location: FieldError['location'], issue: z.core.$ZodIssue): FieldError[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      location,
      path: path ? `${path}.${key}` : key,
      message: 'is not a known field',
    }));
  }
  // A body that may be one or several: what is wrong with the form that was sent, not that it is neither.
  if (issue.code === 'invalid_union' && issue.path.length === 0) {
    const sent = issue.errors.find((form) => form.length > 0 && form.every(({ path }) => path.length > 0));
    if (sent) return sent.flatMap((inner) => fieldErrors(location, inner));
  }
  const missing = issue.code === 'invalid_type' && issue.input === undefined;
  return [{ location, path, message: missing ? 'is required' : issue.message }];
}

/** The fields that an update would change, at least one: one that says nothing is more likely a misspelling than a wish. */
export function sentFields<B extends object, F extends keyof B & string>(
  body: B,
  fields: readonly F[],
  known: string = fields.join(', '),
): F[] {
  const sent = fields.filter((field) => body[field] !== undefined);
  if (sent.length === 0) throw invalid('', `Send at least one field to change: ${known}`);
  return sent;
}
