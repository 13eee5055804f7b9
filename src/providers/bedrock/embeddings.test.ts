import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import type { Json } from '../../../test/harness.ts';
import type { JsonObject } from '../provider.ts';
import { embed } from './embeddings.ts';

const facts = (model: string, body: JsonObject) => callFacts({ kind: 'embed', model, body });
/** The bodies of the calls that an operation asks for first. */
const asked = (model: string, body: JsonObject): Json[] => {
  const step: Json = embed(facts(model, body), {}).next([]).value;
  return step.calls.map((call: Json) => call.body);
};
const image = { base64: 'AAAA' };
const both = { text: 'a', image };

describe('text beside an image', () => {
  test('goes to models that embed the two as one', () => {
    expect(asked('amazon.titan-embed-image-v1', { input: both })).toEqual([{ inputText: 'a', inputImage: 'AAAA' }]);
    expect(asked('cohere.embed-v4:0', { input: [both, 'b', 'c'] })).toMatchObject([
      {
        inputs: [
          {
            content: [
              { type: 'text', text: 'a' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            ],
          },
        ],
        input_type: 'search_document',
      },
      { texts: ['b', 'c'], input_type: 'search_document' },
    ]);
  });

  test.each(['amazon.nova-2-multimodal-embeddings-v1:0', 'cohere.embed-english-v3'])('is refused for %s', (model) => {
    expect(() => asked(model, { input: [{ image }, both] })).toThrow(expect.objectContaining({ field: 'input[1]' }));
  });
});

test('an image alone is sent as one', () => {
  expect(asked('cohere.embed-english-v3', { input: [{ image }] })).toMatchObject([
    { images: ['data:image/png;base64,AAAA'], input_type: 'image' },
  ]);
});

test('what the vectors are for is said in the model’s words, where it is a known one', () => {
  const purpose = (input_type: string): Json =>
    asked('amazon.nova-2-multimodal-embeddings-v1:0', { input: 'a', input_type })[0].singleEmbeddingParams
      .embeddingPurpose;
  expect([purpose('search_query'), purpose('constructor')]).toEqual(['GENERIC_RETRIEVAL', 'GENERIC_INDEX']);
});

test('an answer without a vector is the provider’s fault', () => {
  const steps = embed(facts('amazon.titan-embed-text-v2:0', { input: ['a', 'b'] }), {});
  steps.next([]);
  const answer = (body: object) => ({ status: 200, headers: new Headers(), bytes: Buffer.from(JSON.stringify(body)) });
  expect(() => steps.next([answer({ embedding: [1] }), answer({ message: 'odd' })])).toThrow('without a vector');
});
