import { expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import type { Json } from '../../../test/harness.ts';
import { embeddings } from './embeddings.ts';

const facts = (model: string) => callFacts({ model, body: { input: ['a', 'b'] } });
const raw = { status: 200, headers: new Headers(), bytes: new Uint8Array() };

test('name their model once, whether its collection was written or not', () => {
  for (const model of ['gemini-embedding-001', 'models/gemini-embedding-001']) {
    const request: Json = embeddings.request?.(facts(model));
    expect(request.requests[1].model).toBe('models/gemini-embedding-001');
  }
});

test('keep their order, and each must be a vector', () => {
  const answered = (found: Json[]) => embeddings.response({ embeddings: found }, facts('m'), raw);
  expect(answered([{ values: [1] }, { values: [2] }])).toMatchObject({
    data: [{ embedding: [1] }, { embedding: [2] }],
  });
  for (const missing of [null, {}, { values: ['1'] }]) {
    expect(() => answered([missing, { values: [2] }])).toThrow('without a vector');
  }
});
