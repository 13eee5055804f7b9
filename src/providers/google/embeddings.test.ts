import { expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import type { Json } from '../../../test/harness.ts';
import type { StepAnswers } from '../provider.ts';
import { embeddings } from './embeddings.ts';

const facts = (model: string, input: readonly string[] = ['a', 'b']) => callFacts({ model, body: { input } });

/** The calls that it makes, and what it answers when they are answered with these bodies. */
function ask(asked: ReturnType<typeof facts>, answer: (requests: Json[]) => object): { calls: Json[]; embedded: Json } {
  const work = embeddings(() => '/embed')(asked, {});
  const step: Json = work.next().value;
  const answers: StepAnswers = step.calls.map(({ body }: Json) => ({
    status: 200,
    headers: new Headers(),
    bytes: Buffer.from(JSON.stringify(answer(body.requests))),
  }));
  return { calls: step.calls, embedded: work.next(answers).value };
}

test('name their model once, whether its collection was written or not', () => {
  for (const model of ['gemini-embedding-001', 'models/gemini-embedding-001']) {
    const { calls } = ask(facts(model), () => ({ embeddings: [{ values: [1] }, { values: [2] }] }));
    expect(calls[0].body.requests[1].model).toBe('models/gemini-embedding-001');
  }
});

test('keep their order, and each must be a vector', () => {
  const answered = (found: Json[]) => ask(facts('m'), () => ({ embeddings: found })).embedded;
  expect(answered([{ values: [1] }, { values: [2] }])).toMatchObject({
    data: [{ embedding: [1] }, { embedding: [2] }],
  });
  for (const missing of [null, {}, { values: ['1'] }]) {
    expect(() => answered([missing, { values: [2] }])).toThrow('without a vector');
  }
});

test('more than a hundred are split, in their order, and their tokens are summed', () => {
  const inputs = Array.from({ length: 250 }, (_, index) => String(index));
  const { calls, embedded } = ask(facts('m', inputs), (requests) => ({
    embeddings: requests.map(({ content }) => ({ values: [Number(content.parts[0].text)] })),
    usageMetadata: { promptTokenCount: requests.length },
  }));
  expect(calls.map(({ body }) => body.requests.length)).toEqual([100, 100, 50]);
  expect(embedded.data.map(({ embedding }: Json) => embedding[0])).toEqual(inputs.map(Number));
  expect(embedded.usage.prompt_tokens).toBe(250);
});
