/** Checks input against an endpoint's schemas and names every wrong field. */
import type { z } from 'zod';
import { type FieldError, invalidFields } from '../../http/errors.ts';

export function validate(location: FieldError['location'], schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidFields(result.error.issues.flatMap((issue) => fieldErrors(location, issue)));
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
  const missing = issue.code === 'invalid_type' && issue.input === undefined;
  return [{ location, path, message: missing ? 'is required' : issue.message }];
}
