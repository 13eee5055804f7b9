/** Ranking documents, by the service that Bedrock has for agents. */
import { awsAddress, awsPartition, awsRegion } from '../aws/access.ts';
import { isObject, objectOf, objectsOf, present } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint } from '../provider.ts';
import { type RerankDocument, rankedIn, readRerank, writeRerank } from '../rerank.ts';

export const rerank: ProviderEndpoint = {
  path: (facts) => `${awsAddress('bedrock-agent-runtime', facts)}/rerank`,
  translation: {
    request: rerankRequest,
    response: (answer, facts) =>
      writeRerank(facts, readRerank(facts), rankedIn(objectsOf(objectOf(answer).results), 'relevanceScore'), {
        usage: null,
      }),
  },
};

function rerankRequest(facts: CallFacts): JsonObject {
  const { query, documents, topN, extras } = readRerank(facts);
  const more = present({
    max_tokens_per_doc: extras.max_tokens_per_doc,
    priority: extras.priority,
  });
  return {
    queries: [{ type: 'TEXT', textQuery: { text: query } }],
    sources: documents.map((document) => ({ type: 'INLINE', inlineDocumentSource: sourceOf(document) })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        numberOfResults: Math.min(topN ?? documents.length, documents.length),
        modelConfiguration: {
          modelArn: modelArn(facts),
          ...(Object.keys(more).length > 0 && { additionalModelRequestFields: more }),
        },
      },
    },
  };
}

/** An object with more than text is ranked as a whole. */
const sourceOf = ({ text, raw }: RerankDocument): JsonObject =>
  isObject(raw) && !(raw.text === text && Object.keys(raw).length === 1)
    ? { type: 'JSON', jsonDocument: raw }
    : { type: 'TEXT', textDocument: { text } };

function modelArn(facts: CallFacts): string {
  if (facts.model.startsWith('arn:')) return facts.model;
  const region = awsRegion(facts);
  return `arn:${awsPartition(region)}:bedrock:${region}::foundation-model/${facts.model}`;
}
