/** Embeddings of hosts in OpenAI's dialect: many ignore that vectors are asked for in base64, so the gateway writes them. */
import { isVector, packed } from '../../embeddings.ts';
import { EncodedBody } from '../../encoded-body.ts';
import { isObject } from '../../json.ts';
import type { JsonObject, OfferedEndpoint, ProviderEndpoint, Translation } from '../../provider.ts';
import { eachIn, lacking } from './same.ts';

const packedAnswer: Translation = {
  answersOnly: true,
  response(answer, _facts, { bytes, headers }) {
    const made = isObject(answer) ? eachIn(answer, 'data', packedEntry) : null;
    if (made !== null && made !== answer) return made;
    return new EncodedBody(headers.get('content-type') ?? 'application/json', Uint8Array.from(bytes));
  },
};

/** A host that does write base64 is taken at its word. */
const packedEntry = (entry: JsonObject): JsonObject =>
  isVector(entry.embedding) ? { ...entry, embedding: packed(entry.embedding) } : entry;

/** The endpoint as it is, unless the client asks for base64. One with a translation of its own has seen to it. */
export function packingBase64(offer: OfferedEndpoint): OfferedEndpoint {
  return (facts) => {
    const endpoint = typeof offer === 'function' ? offer(facts) : offer;
    if (!endpoint || endpoint.translation || endpoint.steps || facts.body.encoding_format !== 'base64') return endpoint;
    return {
      ...endpoint,
      adjust: (body, asked) => lacking(endpoint.adjust?.(body, asked) ?? body, 'encoding_format'),
      translation: packedAnswer,
    } satisfies ProviderEndpoint;
  };
}
