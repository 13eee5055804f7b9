/** What another model thought, in a history that goes to OpenAI as it came: it cannot open what we sealed, and refuses it, so that stays here. */
import { unseal } from '../../fronts/sealed.ts';
import { isObject, textOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';

const isSealedHere = (item: unknown): boolean =>
  isObject(item) && item.type === 'reasoning' && unseal(textOf(item.encrypted_content) ?? '') !== null;

/** The very same body where nothing in it was sealed here. */
export function withoutForeignThoughts(body: Readonly<JsonObject>): Readonly<JsonObject> {
  const { input } = body;
  if (!Array.isArray(input) || !input.some(isSealedHere)) return body;
  return { ...body, input: input.filter((item) => !isSealedHere(item)) };
}
