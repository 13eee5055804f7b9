/** Cohere's reranker, also as others host it. */
import { numberOf, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, Translation } from '../provider.ts';
import { rankedIn, readRerank, writeRerank } from '../rerank.ts';

/** Documents with fields are read as text. */
export function rerankBody(facts: CallFacts): JsonObject {
  const { query, documents, topN, extras } = readRerank(facts);
  return present({ model: facts.model, query, documents: documents.map(({ text }) => text), top_n: topN, ...extras });
}

export function rerankAnswer(answer: unknown, facts: CallFacts): JsonObject {
  const { id, results, meta } = objectOf(answer);
  const units = numberOf(objectOf(objectOf(meta).billed_units).search_units);
  return writeRerank(facts, readRerank(facts), rankedIn(objectsOf(results), 'relevance_score'), {
    id: textOf(id),
    usage: units === null ? null : { search_units: units },
    ...(meta !== undefined && { beside: { meta } }),
  });
}

export const rerank: Translation = { request: rerankBody, response: rerankAnswer };
