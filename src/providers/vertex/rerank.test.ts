import { expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { rerank } from './rerank.ts';

const facts = callFacts({
  kind: 'rerank',
  model: 'google.semantic-ranker-512',
  body: { query: 'q', documents: ['a', 'b'] },
});
const raw = { status: 200, headers: new Headers(), bytes: new Uint8Array() };
const answered = (...records: object[]) => rerank.translation?.response({ records }, facts, raw);

test('records are documents by their place', () => {
  expect(answered({ id: '0', score: 0.1 }, { id: '1', score: 0.9 })).toMatchObject({
    results: [
      { index: 1, relevance_score: 0.9 },
      { index: 0, relevance_score: 0.1 },
    ],
    model: 'semantic-ranker-512',
  });
});

test.each([{ id: 'x', score: 1 }, { score: 1 }, { id: '', score: 1 }, { id: '0' }])(
  'a record like %j is none',
  (record) => {
    expect(() => answered(record)).toThrow('no index or no score');
  },
);
