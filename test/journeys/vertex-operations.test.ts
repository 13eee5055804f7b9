/** What Vertex AI does besides chat, behind OpenAI's SDK: embeddings, pictures, ranking, speech and models. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { OpenAI } from 'openai';
import { openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { startGemini } from '../providers/gemini.ts';
import { json, lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import * as vertex from '../providers/vertex.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startGemini(vertex.says('Hello'));
  world = await startWorld({});
  const configurations = { custom_host: provider.url, ...vertex.settings };
  await world.saveProvider('vtx', 'vertex-ai', provider, { key: 'ya29.token', configurations });
  client = openaiClient(world, { 'x-gw-provider': '@vtx' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const received = () => lastCall(provider);

describe('other operations', () => {
  const predict = (model: string) => `/v1/${vertex.place}/publishers/google/models/${model}:predict`;

  test('texts are embedded together, or one by one where the model wants it, in their order', async () => {
    provider.script(
      vertex.known((call, response) => {
        const predictions = call.json.instances.map(({ content }: Json) => ({
          embeddings: { values: [content.length, 0.5], statistics: { token_count: content.length } },
        }));
        return json(200, { predictions })(call, response);
      }),
    );
    const input = ['a', 'bbb', 'cc'];
    const together = await client.embeddings.create({
      model: 'text-embedding-005',
      input,
      dimensions: 2,
      encoding_format: 'float',
    });
    expect(together.data.map(({ embedding }) => embedding)).toEqual([
      [1, 0.5],
      [3, 0.5],
      [2, 0.5],
    ]);
    expect(together.usage).toEqual({ prompt_tokens: 6, total_tokens: 6 });
    expect([received().path, received().json]).toEqual([
      predict('text-embedding-005'),
      { instances: input.map((content) => ({ content })), parameters: { outputDimensionality: 2 } },
    ]);
    provider.calls.length = 0;
    const single = await client.embeddings.create({ model: 'gemini-embedding-001', input });
    expect(single.data.map(({ embedding }) => embedding)).toEqual([
      [1, 0.5],
      [3, 0.5],
      [2, 0.5],
    ]);
    expect(provider.calls.map(({ json: body }) => body.instances.length)).toEqual([1, 1, 1]);
  });

  test('pictures and videos are embedded beside text', async () => {
    provider.script(
      vertex.known(
        json(200, {
          predictions: [
            {
              textEmbedding: [1],
              imageEmbedding: [2],
              videoEmbeddings: [{ startOffsetSec: 0, endOffsetSec: 4, embedding: [3] }],
            },
          ],
        }),
      ),
    );
    const input = [
      {
        text: 'cat',
        image: { base64: 'AAAA' },
        video: { url: 'gs://b/v.mp4', start_offset: 0, end_offset: 4, interval: 4 },
      },
    ] as Json;
    const answer = await client.embeddings.create({
      model: 'multimodalembedding@001',
      input,
      dimensions: 128,
      encoding_format: 'float',
    });
    expect(answer.data as Json).toEqual([
      {
        object: 'embedding',
        index: 0,
        embedding: [1],
        image_embedding: [2],
        video_embeddings: [{ start_offset: 0, end_offset: 4, embedding: [3] }],
      },
    ]);
    expect(received().json).toEqual({
      instances: [
        {
          text: 'cat',
          image: { bytesBase64Encoded: 'AAAA' },
          video: { gcsUri: 'gs://b/v.mp4', videoSegmentConfig: { startOffsetSec: 0, endOffsetSec: 4, intervalSec: 4 } },
        },
      ],
      parameters: { dimension: 128 },
    });
  });

  test('pictures are predicted by Imagen', async () => {
    provider.script(vertex.known(json(200, { predictions: [{ bytesBase64Encoded: 'AAAA', mimeType: 'image/png' }] })));
    const images = await client.images.generate({
      model: 'imagen-4.0-generate-001',
      prompt: 'A cat',
      n: 1,
      size: '1792x1024',
    });
    expect(images.data).toEqual([{ b64_json: 'AAAA' }]);
    expect([received().path, received().json]).toEqual([
      predict('imagen-4.0-generate-001'),
      { instances: [{ prompt: 'A cat' }], parameters: { sampleCount: 1, aspectRatio: '16:9' } },
    ]);
  });

  test('documents are ranked, best first, by the default model', async () => {
    provider.script(
      vertex.known(
        json(200, {
          records: [
            { id: '1', score: 0.2 },
            { id: '0', score: 0.9 },
          ],
        }),
      ),
    );
    const ranked = await world.call(
      '/v1/rerank',
      { query: 'q', documents: ['a', { title: 'T', text: 'b' }], top_n: 2, return_documents: true },
      { 'x-gw-provider': '@vtx' },
    );
    expect((await ranked.json()) as Json).toMatchObject({
      model: 'semantic-ranker-default@latest',
      results: [
        { index: 0, relevance_score: 0.9, document: { text: 'a' } },
        { index: 1, relevance_score: 0.2, document: { title: 'T', text: 'b' } },
      ],
    });
    expect([received().path, received().json]).toEqual([
      `/v1/projects/${vertex.project}/locations/global/rankingConfigs/default_ranking_config:rank`,
      {
        model: 'semantic-ranker-default@latest',
        query: 'q',
        records: [
          { id: '0', content: 'a' },
          { id: '1', title: 'T', content: 'b' },
        ],
        topN: 2,
        ignoreRecordDetailsInResponse: true,
      },
    ]);
  });

  test('speech of Google Cloud comes as the sound that was asked for', async () => {
    provider.script(vertex.known(json(200, { audioContent: Buffer.from('sound').toString('base64') })));
    const speech = await client.audio.speech.create({
      model: 'neural2',
      input: 'Hi',
      voice: 'de-DE-Neural2-A',
      speed: 1.5,
    });
    expect([speech.headers.get('content-type'), await speech.text()]).toEqual(['audio/mpeg', 'sound']);
    expect([received().path, received().json]).toEqual([
      '/v1/text:synthesize',
      {
        input: { text: 'Hi' },
        voice: { languageCode: 'de-DE', name: 'de-DE-Neural2-A' },
        audioConfig: { audioEncoding: 'MP3', speakingRate: 1.5 },
      },
    ]);
  });

  test('a recording is written down by Cloud Speech-to-Text, with times where they are wanted', async () => {
    const word = (text: string, startOffset: string, endOffset: string) => ({ word: text, startOffset, endOffset });
    provider.script(
      vertex.known(
        json(200, {
          results: [
            {
              alternatives: [
                { transcript: 'Guten Tag.', words: [word('Guten', '0s', '0.400s'), word('Tag.', '0.400s', '0.900s')] },
              ],
              resultEndOffset: '1.200s',
              languageCode: 'de-DE',
            },
            { alternatives: [{ transcript: ' Ja.' }], resultEndOffset: '1.900s', languageCode: 'de-DE' },
            { resultEndOffset: '2s' },
          ],
          metadata: { totalBilledDuration: '3s' },
        }),
      ),
    );
    const file = new File(['RIFF'], 'a.wav', { type: 'audio/wav' });
    const heard = await client.audio.transcriptions.create({
      model: 'chirp_3',
      file,
      language: 'de',
      response_format: 'verbose_json',
    });
    expect(heard).toMatchObject({
      text: 'Guten Tag. Ja.',
      language: 'de-DE',
      duration: 3,
      words: [
        { word: 'Guten', start: 0, end: 0.4 },
        { word: 'Tag.', start: 0.4, end: 0.9 },
      ],
      segments: [
        { text: 'Guten Tag.', start: 0, end: 1.2 },
        { text: 'Ja.', start: 1.2, end: 1.9 },
      ],
    });
    expect([received().path, received().json]).toEqual([
      `/v2/${vertex.place}/recognizers/_:recognize`,
      {
        config: {
          model: 'chirp_3',
          languageCodes: ['de-DE'],
          features: { enableAutomaticPunctuation: true, enableWordTimeOffsets: true },
          autoDecodingConfig: {},
        },
        content: Buffer.from('RIFF').toString('base64'),
      },
    ]);
    await client.audio.transcriptions.create({ model: 'chirp_3', file });
    expect(received().json.config).toMatchObject({
      languageCodes: ['auto'],
      features: { enableAutomaticPunctuation: true },
    });
  });

  test('models are listed by all publishers and pages, under the names that can be called', async () => {
    provider.script(
      vertex.known((call, response) => {
        const [, publisher] = /publishers\/(\w+)\//.exec(call.path) ?? [];
        if (publisher === 'meta')
          return json(403, { error: { code: 403, message: 'no', status: 'PERMISSION_DENIED' } })(call, response);
        const second = call.path.includes('pageToken=p2');
        return json(200, {
          publisherModels: [{ name: `publishers/${publisher}/models/m${second ? 2 : 1}` }],
          ...(publisher === 'google' && !second && { nextPageToken: 'p2' }),
        })(call, response);
      }),
    );
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual(['m1', 'm2', 'anthropic.m1', 'mistralai.m1']);
  });
});
