/** Ranking by Google's Discovery Engine. */
import { RequestFault } from '../faults.ts';
import { objectOf, objectsOf, present, textOf } from '../json.ts';
import type { CallFacts, ProviderEndpoint } from '../provider.ts';
import { rankedIn, readRerank, writeRerank } from '../rerank.ts';
import { atService, projectOf } from './place.ts';

const defaultModel = 'semantic-ranker-default@latest';
const mostRecords = 200;

export const rerank: ProviderEndpoint = {
  path: (facts) =>
    atService(
      facts,
      'discoveryengine.googleapis.com',
      `/v1/projects/${projectOf(facts)}/locations/global/rankingConfigs/default_ranking_config:rank`,
    ),
  translation: {
    request(facts) {
      const { query, documents, topN } = readRerank(facts);
      if (documents.length > mostRecords) {
        throw new RequestFault('documents', `documents may hold at most ${mostRecords} entries`);
      }
      return present({
        model: modelOf(facts),
        query,
        records: documents.map(({ text, raw }, index) =>
          present({ id: String(index), title: textOf(objectOf(raw).title), content: text }),
        ),
        topN,
        ignoreRecordDetailsInResponse: true,
      });
    },
    response(answer, facts) {
      const records = objectsOf(objectOf(answer).records).map(({ id, score }) => ({ index: placeOf(id), score }));
      const ranked = rankedIn(records, 'score');
      return writeRerank({ ...facts, model: modelOf(facts) }, readRerank(facts), ranked, { usage: null });
    },
  },
};

/** The id that a document was given is its place. */
const placeOf = (id: unknown): number | null => (/^\d+$/.test(textOf(id) ?? '') ? Number(id) : null);

const modelOf = ({ model }: CallFacts): string => model.replace(/^google\./, '') || defaultModel;
