/** Tags: pairs of text that people put on integrations and providers, and find them by. */

import { sql } from 'kysely';
import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { invalidQuery } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';

const mostPairs = 50;

export const tags = lazy(() =>
  z
    .record(z.string().min(1).max(64), z.string().max(256))
    .refine((pairs) => Object.keys(pairs).length <= mostPairs, { message: `at most ${mostPairs} tags` })
    .meta({ examples: [{ team: 'support' }] }),
);

export const tagsQuery = lazy(() =>
  z
    .string()
    .max(8_000)
    .optional()
    .describe('A JSON object, such as {"team":"support"}; only what carries every pair is listed'),
);

/** The pairs that a query asks for. */
export function readTagsQuery(text: string | undefined): [name: string, value: string][] {
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    value = undefined;
  }
  const parsed = tags().safeParse(value);
  if (!parsed.success) throw invalidQuery('tags', 'must be a JSON object of text, such as {"team":"support"}');
  return Object.entries(parsed.data);
}

/**
 * Holds for rows that carry the pair. Looks for its JSON after a brace or a comma: quotes inside a name or value are escaped,
 * so nothing but the pair itself reads like that. A text that changes when it is taken out holds it, on both engines.
 */
export function carries([name, value]: [string, string]) {
  const tags = sql.ref('tags');
  const pair = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return sql<boolean>`(replace(${tags}, ${`{${pair}`}, '') != ${tags} or replace(${tags}, ${`,${pair}`}, '') != ${tags})`;
}
