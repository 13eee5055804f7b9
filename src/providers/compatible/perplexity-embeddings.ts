/** Embeddings of Perplexity: it gives whole numbers of eight bits, or single bits, packed in base64, and nothing else. */
import { readEmbeddings, type Vector, writeEmbeddings } from '../embeddings.ts';
import { ProviderFault } from '../faults.ts';
import { countOf, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { CallFacts, Translation } from '../provider.ts';

/** Who asks for them in Perplexity's own words gets them as they are. */
export const asksForPacked = ({ body }: CallFacts): boolean =>
  body.encoding_format === 'base64_int8' || body.encoding_format === 'base64_binary';

export const decodedEmbeddings: Translation = {
  request: (facts) => ({ ...facts.body, model: facts.model, encoding_format: 'base64_int8' }),
  response(answer, facts) {
    const { data, usage } = objectOf(answer);
    const entries = objectsOf(data).toSorted((one, other) => countOf(one.index) - countOf(other.index));
    const tokens = numberOf(objectOf(usage).prompt_tokens) ?? numberOf(objectOf(usage).total_tokens);
    return writeEmbeddings(
      facts,
      entries.map(({ embedding }) => unpacked(textOf(embedding))),
      readEmbeddings(facts).encoding,
      tokens,
    );
  },
};

function unpacked(base64: string | null): Vector {
  if (base64 === null) throw new ProviderFault(502, 'the answer has an entry without a vector');
  return [...new Int8Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer)];
}
