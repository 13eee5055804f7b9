/** What providers of vectors must keep to, each in its own dialect: the size that was asked for, and which vector is whose. */
import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../test/call-facts.ts';
import { cortex } from './compatible/cortex.ts';
import { huggingface } from './compatible/huggingface.ts';
import { ai21 } from './own/ai21.ts';
import type { CallFacts, Provider, Translation } from './provider.ts';
import { sagemaker } from './sagemaker.ts';
import { watsonx } from './watsonx/watsonx.ts';

const fields = { watsonx_project_id: 'p', sagemaker_endpoint: 'e' };
const factsOf = (body: object): CallFacts => callFacts({ kind: 'embed', fields, body: { ...body } });

function embedding({ endpoints: { embed } }: Provider, facts: CallFacts): Translation {
  const { translation } = (typeof embed === 'function' ? embed(facts) : embed) ?? {};
  if (!translation) throw new Error('It embeds in OpenAI’s own dialect');
  return translation;
}

describe('a size for the vectors', () => {
  const asked = (provider: Provider) => {
    const facts = factsOf({ input: 'a', dimensions: 4 });
    return embedding(provider, facts).request?.(facts);
  };

  test.each([
    ['Snowflake', cortex],
    ['AI21', ai21],
    ['watsonx.ai', watsonx],
  ])('is refused by %s, whose models have one', (_, provider) => {
    expect(() => asked(provider)).toThrow(expect.objectContaining({ field: 'dimensions' }));
  });

  test.each([
    ['Hugging Face', huggingface],
    ['SageMaker', sagemaker],
  ])('is told to %s, where the server decides', (_, provider) => {
    expect(asked(provider)).toEqual({ inputs: ['a'], dimensions: 4 });
  });
});

test.each([
  ['Snowflake', cortex, { data: [{ embedding: [[1]] }, {}, { embedding: [[3]] }] }],
  ['Hugging Face', huggingface, [[1], null, [3]]],
])('an entry of %s without a vector is a fault: the next ones would belong to others', (_, provider, answer) => {
  const facts = factsOf({ input: ['a', 'b', 'c'] });
  const raw = { status: 200, headers: new Headers(), bytes: new Uint8Array() };
  expect(() => embedding(provider, facts).response(answer, facts, raw)).toThrow('without a vector');
});
