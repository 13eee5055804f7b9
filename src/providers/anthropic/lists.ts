/** Lists of Anthropic's, in OpenAI's form. */
import { numberOf, objectOf, objectsOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';

export const mostPerPage = 1_000;

/** `after` and `limit` of OpenAI's lists, in Anthropic's words. */
export function pageQuery({ query }: CallFacts): string {
  const asked = new URLSearchParams(query);
  const page = new URLSearchParams();
  const after = asked.get('after');
  const limit = numberOf(Number(asked.get('limit') ?? Number.NaN));
  if (after) page.set('after_id', after);
  if (limit !== null) page.set('limit', String(Math.min(limit, mostPerPage)));
  return page.toString();
}

/** A page of Anthropic's, with each entry in OpenAI's form. */
export const listOfPage = (answer: unknown, entry: (item: JsonObject) => JsonObject): JsonObject => {
  const page = objectOf(answer);
  return {
    object: 'list',
    data: objectsOf(page.data).map(entry),
    first_id: page.first_id ?? null,
    last_id: page.last_id ?? null,
    has_more: page.has_more === true,
  };
};
