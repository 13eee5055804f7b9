/** Nomic: embeddings of text. */
import { readEmbeddings, requireVector, textsOf, writeEmbeddings } from '../embeddings.ts';
import { listOf, numberOf, objectOf, present, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { Provider, Translation } from '../provider.ts';

const embed: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    return present({
      model: facts.model,
      texts: textsOf(request),
      dimensionality: request.dimensions,
      ...request.extras,
      task_type: textOf(request.extras.task_type) ?? 'search_document',
    });
  },
  response(answer, facts) {
    const { embeddings, usage } = objectOf(answer);
    const tokens = numberOf(objectOf(usage).total_tokens) ?? numberOf(objectOf(usage).prompt_tokens);
    return writeEmbeddings(facts, listOf(embeddings).map(requireVector), readEmbeddings(facts).encoding, tokens);
  },
};

export const nomic: Provider = {
  id: 'nomic',
  name: 'Nomic',
  aliases: ['nomic-ai'],
  address: 'https://api-atlas.nomic.ai/v1',
  needsCredential: true,
  headers: bearer,
  endpoints: { embed: { path: '/embedding/text', translation: embed } },
  notes: ['Vectors are made for search_document unless task_type says otherwise.'],
};
