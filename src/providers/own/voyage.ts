/** Voyage AI: embeddings of text and images, and reranking. */
import {
  type EmbeddingInput,
  type EmbeddingRequest,
  listedEmbeddings,
  readEmbeddings,
  textsOf,
} from '../embeddings.ts';
import { numberOf, objectOf, objectsOf, present } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { CallFacts, JsonObject, Provider, Translation } from '../provider.ts';
import { rankedIn, readRerank, readTokens, writeRerank } from '../rerank.ts';

const hasImages = ({ inputs }: EmbeddingRequest): boolean => inputs.some(({ image }) => image !== null);

const written = (answer: unknown, facts: CallFacts): JsonObject => listedEmbeddings(answer, facts, 'total_tokens');

const texts: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    return present({
      model: facts.model,
      input: textsOf(request),
      output_dimension: request.dimensions,
      ...request.extras,
    });
  },
  response: written,
};

const images: Translation = {
  request(facts) {
    const { inputs, dimensions, extras } = readEmbeddings(facts);
    return present({
      model: facts.model,
      inputs: inputs.map((input) => ({ content: contentOf(input) })),
      output_dimension: dimensions,
      ...extras,
    });
  },
  response: written,
};

const contentOf = ({ text, image }: EmbeddingInput): JsonObject[] => [
  ...(text === null ? [] : [{ type: 'text', text }]),
  ...(image === null
    ? []
    : [
        image.startsWith('data:')
          ? { type: 'image_base64', image_base64: image }
          : { type: 'image_url', image_url: image },
      ]),
];

const rerank: Translation = {
  request(facts) {
    const { query, documents, topN, extras } = readRerank(facts);
    return present({ model: facts.model, query, documents: documents.map(({ text }) => text), top_k: topN, ...extras });
  },
  response(answer, facts) {
    const { data, usage } = objectOf(answer);
    return writeRerank(facts, readRerank(facts), rankedIn(objectsOf(data), 'relevance_score'), {
      usage: readTokens(numberOf(objectOf(usage).total_tokens)),
    });
  },
};

export const voyage: Provider = {
  id: 'voyage',
  name: 'Voyage AI',
  aliases: ['voyage-ai', 'voyageai'],
  address: 'https://api.voyageai.com/v1',
  needsCredential: true,
  headers: bearer,
  endpoints: {
    embed: (facts) =>
      facts.body.input !== undefined && hasImages(readEmbeddings(facts))
        ? { path: '/multimodalembeddings', translation: images }
        : { path: '/embeddings', translation: texts },
    rerank: { translation: rerank },
  },
  notes: [
    'input_type (query or document), truncation and output_dtype travel as they are; one call takes 1,000 inputs at most.',
    'Inputs with images go to the models for several kinds of content.',
  ],
};
