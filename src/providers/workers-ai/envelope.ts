/** The envelope of Cloudflare's answers: a result, or the faults that stand in its place. */
import { faultIn, ProviderFault } from '../faults.ts';
import { isObject, objectOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

export function resultIn(answer: unknown): JsonObject {
  const body = objectOf(answer);
  if (body.success === false) throw faultIn(502, body) ?? new ProviderFault(502, JSON.stringify(body));
  return isObject(body.result) ? body.result : body;
}
