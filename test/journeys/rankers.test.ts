/** Embeddings and reranking by providers with dialects of their own, asked with OpenAI's SDK and over the seed's route. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { OpenAI } from 'openai';
import { openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import { jinaApi, nomicApi, pineconeApi, vectorOf, voyageApi } from '../providers/rankers.ts';
import { type Behaviour, type ReceivedCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const apis: Record<string, (key: string) => Behaviour> = {
  voyage: voyageApi,
  jina: jinaApi,
  nomic: nomicApi,
  pinecone: pineconeApi,
};
const simulated = new Map<string, SimulatedProvider>();
let world: World;
let client: OpenAI;

beforeAll(async () => {
  world = await startWorld({});
  client = openaiClient(world);
  for (const [id, api] of Object.entries(apis)) {
    const provider = await startProvider(api(`sk-${id}-secret`));
    simulated.set(id, provider);
    await world.saveProvider(id, id, { url: id === 'pinecone' ? provider.url.replace('/v1', '') : provider.url });
  }
});
sharedByTests(
  () => world.gateway,
  () => simulated.values(),
);

const received = (id: string): ReceivedCall => {
  const call = simulated.get(id)?.calls.at(-1);
  if (!call) throw new Error(`${id} was not asked`);
  return call;
};

describe('embeddings', () => {
  test.each([
    ['voyage', { input: ['one', 'three'], output_dimension: 3, input_type: 'query' }, 10],
    ['jina', { input: ['one', 'three'], dimensions: 3, input_type: 'query' }, 6],
    ['nomic', { texts: ['one', 'three'], dimensionality: 3, task_type: 'search_document', input_type: 'query' }, 4],
    [
      'pinecone',
      { inputs: [{ text: 'one' }, { text: 'three' }], parameters: { input_type: 'query', dimension: 3 } },
      7,
    ],
  ])('of %s come in the order of the inputs, packed as the SDK asks for them', async (id, body, tokens) => {
    const extra = { input_type: 'query' };
    const asked = { model: `@${id}/embed-1`, input: ['one', 'three'], dimensions: 3, ...extra };
    const answer = await client.embeddings.create(asked);
    expect(answer.data.map(({ embedding }) => embedding)).toEqual([vectorOf('one'), vectorOf('three')]);
    expect(answer.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    expect(answer.model).toBe('embed-1');
    expect(received(id).json).toEqual({ model: 'embed-1', ...body });
    const plain = await client.embeddings.create({ ...asked, encoding_format: 'float' });
    expect(plain.data[1]?.embedding).toEqual(vectorOf('three'));
  });

  test('of images by Voyage go to the models for several kinds of content', async () => {
    const input = [{ text: 'a cat', image: { base64: 'AAAA' } }, { image: { url: 'https://x.test/cat.png' } }];
    const response = await world.call('/v1/embeddings', { model: '@voyage/voyage-multimodal-3', input });
    expect((await response.json()) as unknown).toMatchObject({ data: [{ embedding: [0, 1] }, { embedding: [1, 1] }] });
    expect(received('voyage')).toMatchObject({
      path: '/v1/multimodalembeddings',
      json: {
        inputs: [
          {
            content: [
              { type: 'text', text: 'a cat' },
              { type: 'image_base64', image_base64: 'data:image/png;base64,AAAA' },
            ],
          },
          { content: [{ type: 'image_url', image_url: 'https://x.test/cat.png' }] },
        ],
      },
    });
  });

  test('of images by a provider of text alone are refused, naming the input', async () => {
    const input = ['text', { image: { url: 'https://x.test/cat.png' } }];
    const response = await world.call('/v1/embeddings', { model: '@nomic/embed-1', input });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('input[1]');
  });

  test("are refused in the provider's words", async () => {
    const response = await world.call('/v1/embeddings', { model: '@voyage/embed-1', input: 'text', shape: 'round' });
    expect(response.status).toBe(400);
    expect((await response.json()) as unknown).toMatchObject({
      error: { message: "voyage error: Argument 'shape' is not supported by our API." },
      provider: 'voyage',
    });
  });
});

describe('reranking', () => {
  const documents = ['short', 'the longest of them all', 'medium one'];

  test.each([
    ['voyage', { documents, top_k: 3 }, { prompt_tokens: 26, total_tokens: 26 }],
    ['jina', { documents, top_n: 3, return_documents: false }, { prompt_tokens: 15, total_tokens: 15 }],
    [
      'pinecone',
      { documents: documents.map((text) => ({ text })), top_n: 3, return_documents: false },
      { search_units: 1 },
    ],
  ])('by %s puts the best first, with its document where that is wanted', async (id, body, usage) => {
    const asked = { model: `@${id}/rerank-1`, query: 'q', documents, top_n: 3, return_documents: true };
    const response = await world.call('/v1/rerank', asked, { 'x-gw-trace-id': `rank-${id}` });
    expect((await response.json()) as unknown).toEqual({
      id: expect.any(String),
      object: 'list',
      results: [1, 2, 0].map((index) => ({
        index,
        relevance_score: (documents[index]?.length ?? 0) / 100,
        document: { text: documents[index] },
      })),
      model: 'rerank-1',
      usage,
      provider: id,
    });
    expect(received(id).json).toEqual({ model: 'rerank-1', query: 'q', ...body });
    const [record] = await world.records(`rank-${id}`, 1);
    expect(record).toMatchObject({ endpoint_type: 'rerank', response_status_code: 200 });
  });

  test.each([
    ['query', { documents }],
    ['documents', { query: 'q', documents: [] }],
    ['documents[1]', { query: 'q', documents: ['a', 7] }],
  ])('without proper %s is refused, naming it', async (field, body) => {
    const response = await world.call('/v1/rerank', { model: '@voyage/rerank-1', ...body });
    expect(response.status).toBe(400);
    expect((await response.json()) as unknown).toMatchObject({ error: { field } });
  });
});
