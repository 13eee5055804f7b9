/** Jina AI: embeddings of text and images, and reranking. */
import { type EmbeddingInput, listedEmbeddings, readEmbeddings } from '../embeddings.ts';
import { numberOf, objectOf, objectsOf, present, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { JsonObject, Provider, Translation } from '../provider.ts';
import { rankedIn, readRerank, readTokens, writeRerank } from '../rerank.ts';

/** Images are named by address, or are bare base64. */
function inputOf({ text, image }: EmbeddingInput): string | JsonObject {
  if (image === null) return text ?? '';
  return { image: image.replace(/^data:[^,]*,/, ''), ...(text !== null && { text }) };
}

const embed: Translation = {
  request(facts) {
    const { inputs, dimensions, extras } = readEmbeddings(facts);
    return present({ model: facts.model, input: inputs.map(inputOf), dimensions, ...extras });
  },
  response: (answer, facts) => listedEmbeddings(answer, facts, 'total_tokens'),
};

const rerank: Translation = {
  request(facts) {
    const { query, documents, topN, extras } = readRerank(facts);
    return present({
      model: facts.model,
      query,
      documents: documents.map(({ raw }) => raw),
      top_n: topN,
      return_documents: false,
      ...extras,
    });
  },
  response(answer, facts) {
    const { results, usage, id } = objectOf(answer);
    return writeRerank(facts, readRerank(facts), rankedIn(objectsOf(results), 'relevance_score'), {
      id: textOf(id),
      usage: readTokens(numberOf(objectOf(usage).total_tokens)),
    });
  },
};

export const jina: Provider = {
  id: 'jina',
  name: 'Jina AI',
  aliases: ['jina-ai', 'jina_ai'],
  address: 'https://api.jina.ai/v1',
  needsCredential: true,
  headers: bearer,
  endpoints: { embed: { translation: embed }, rerank: { translation: rerank } },
  notes: ['task, late_chunking, truncate and normalized travel as they are.'],
};
