/** Cohere beside chat: embeddings, reranking, its models, and completions. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { CohereClient } from 'cohere-ai';
import type { OpenAI } from 'openai';
import { openaiClient } from '../clients.ts';
import { startCohere, upstream } from '../cohere-world.ts';
import { sharedByTests } from '../journey.ts';
import { cohereApi, generationLines, vectorOf } from '../providers/cohere.ts';
import { bytes, lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import type { World } from '../world.ts';

const simulated = cohereApi('sk-c-secret', () => ({ text: 'Hello there.' }));

let provider: SimulatedProvider;
let address: string;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  ({ provider, address, world, client } = await startCohere(simulated));
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
beforeEach(() => {
  provider.script(simulated);
});

const received = () => lastCall(provider);

describe('embeddings', () => {
  test('as the SDK asks for them by itself are packed by us', async () => {
    const { data, usage } = await client.embeddings.create({
      model: '@c/embed-v4.0',
      input: ['one', 'three'],
      dimensions: 3,
    });
    expect(data.map(({ embedding }) => embedding)).toEqual([vectorOf('one'), vectorOf('three')]);
    expect(usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
    expect(received()).toMatchObject({ path: '/v2/embed' });
    expect(received().json).toEqual({
      model: 'embed-v4.0',
      texts: ['one', 'three'],
      output_dimension: 3,
      input_type: 'search_document',
      embedding_types: ['float'],
    });
  });

  test('of more than a call takes are made in several, in order', async () => {
    const input = Array.from({ length: 200 }, (_, index) => 'x'.repeat(index + 1));
    const { data, usage } = await client.embeddings.create({ model: '@c/embed-v4.0', input, encoding_format: 'float' });
    expect(data.map(({ embedding }) => embedding[0])).toEqual(input.map((text) => text.length));
    expect(provider.calls.map(({ json }) => json.texts.length).sort()).toEqual([8, 96, 96]);
    expect(usage.total_tokens).toBe(400);
  });

  test('of images are asked for as inputs, and for what the caller says', async () => {
    const input = [{ text: 'a cat', image: { url: 'https://x.test/cat.png' } }];
    const response = await world.call('/v1/embeddings', { model: '@c/embed-v4.0', input, input_type: 'search_query' });
    expect(response.status).toBe(200);
    expect(received().json).toMatchObject({
      input_type: 'search_query',
      inputs: [
        {
          content: [
            { type: 'text', text: 'a cat' },
            { type: 'image_url', image_url: { url: 'https://x.test/cat.png' } },
          ],
        },
      ],
    });
  });

  test('of tokens are refused', async () => {
    const refusal = (async () => client.embeddings.create({ model: '@c/embed-v4.0', input: [1, 2] }))();
    await expect(refusal).rejects.toMatchObject({ status: 400 });
  });
});

describe('reranking', () => {
  test('sorts, keeps what Cohere charges, and shows documents where they are wanted', async () => {
    const documents = ['short', { text: 'much, much longer', id: 7 }, 'medium one'];
    const asked = {
      model: '@c/rerank-v3.5',
      query: 'q',
      documents,
      top_n: 2,
      return_documents: true,
      max_tokens_per_doc: 100,
    };
    const response = await world.call('/v1/rerank', asked, { 'x-gw-trace-id': 'ranked' });
    expect((await response.json()) as unknown).toEqual({
      id: 'r-1',
      object: 'list',
      results: [
        { index: 1, relevance_score: 0.17, document: { text: 'much, much longer', id: 7 } },
        { index: 2, relevance_score: 0.1, document: { text: 'medium one' } },
      ],
      model: 'rerank-v3.5',
      usage: { search_units: 1 },
      provider: 'cohere',
      meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
    });
    expect(received()).toMatchObject({
      path: '/v2/rerank',
      json: {
        model: 'rerank-v3.5',
        query: 'q',
        documents: ['short', 'much, much longer', 'medium one'],
        top_n: 2,
        max_tokens_per_doc: 100,
      },
    });
  });
});

test("models are listed in OpenAI's form", async () => {
  const own = openaiClient(world, { 'x-gw-provider': '@c' });
  expect((await own.models.list()).data[0]).toMatchObject({ id: upstream, object: 'model', owned_by: 'cohere' });
});

test('completions are generated the older way', async () => {
  const answer = await client.completions.create({ model: '@c/command', prompt: 'Once', stop: ['.'], max_tokens: 5 });
  expect(answer.choices[0]?.text).toBe(' upon a time');
  expect(answer.usage?.total_tokens).toBe(5);
  expect(received()).toMatchObject({
    path: '/v1/generate',
    json: { model: 'command', prompt: 'Once', stop_sequences: ['.'], max_tokens: 5 },
  });
});

describe('completions, streamed', () => {
  const pieces = async () => {
    const found: OpenAI.Completion[] = [];
    const asked = { model: '@c/command', prompt: 'Once', stream: true as const };
    for await (const piece of await client.completions.create(asked)) found.push(piece);
    return found;
  };

  test('are lines of JSON to Cohere’s own SDK', async () => {
    const types: string[] = [];
    const own = new CohereClient({ token: 'sk-c-secret', environment: address });
    for await (const event of await own.generateStream({ model: 'command', prompt: 'Once' }))
      types.push(event.eventType);
    expect(types).toEqual(['text-generation', 'text-generation', 'stream-end']);
  });

  test('come piece by piece under one id, with usage at the end', async () => {
    const found = await pieces();
    expect(found.map(({ choices }) => choices[0]?.text).join('')).toBe(' upon a time');
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
    expect(found.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: { total_tokens: 5 } });
    expect(received().json).toEqual({ model: 'command', prompt: 'Once', stream: true });
  });

  test.each([
    [
      'that fail say so',
      { is_finished: true, event_type: 'stream-error', finish_reason: 'ERROR', err: 'model overloaded' },
      'model overloaded',
    ],
    [
      'of which the model broke off one are none',
      { is_finished: true, event_type: 'stream-end', finish_reason: 'TIMEOUT', response: { id: 'g-1' } },
      'took too long',
    ],
    ['that break off are not complete', { event_type: 'text-generation', text: '' }, 'before it was complete'],
  ])('%s', async (_, last, words) => {
    provider.script(bytes(200, generationLines(last).join(''), { 'content-type': 'application/stream+json' }));
    await expect(pieces()).rejects.toThrow(words);
  });
});
