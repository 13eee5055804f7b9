/** What Bedrock does besides chat: embeddings, images, ranking, completions, and the list of models. */
import { describe, expect, test } from 'bun:test';
import { toFile } from 'openai';
import { bedrockWorld } from '../bedrock-world.ts';
import type { Json } from '../harness.ts';
import { invokes, known, refuses, region } from '../providers/bedrock.ts';
import { json } from '../providers/simulated.ts';

const { provider, world, client, received } = await bedrockWorld();

describe('embeddings', () => {
  test('of Titan are asked for one by one and come back in order, in base64 as the SDK wants them', async () => {
    provider.script(invokes(({ inputText }) => ({ embedding: [inputText.length, 0.5], inputTextTokenCount: 2 })));
    const answer = await client.embeddings.create({
      model: 'amazon.titan-embed-text-v2:0',
      input: ['a', 'bb', 'ccc'],
      dimensions: 256,
    });
    expect(answer.data.map(({ embedding }) => embedding)).toEqual([
      [1, 0.5],
      [2, 0.5],
      [3, 0.5],
    ]);
    expect(answer.usage).toEqual({ prompt_tokens: 6, total_tokens: 6 });
    expect(provider.calls).toHaveLength(3);
    expect(
      provider.calls.map(({ json: body }) => body).sort((a, b) => a.inputText.length - b.inputText.length),
    ).toEqual(['a', 'bb', 'ccc'].map((inputText) => ({ inputText, dimensions: 256 })));
  });

  test('of Cohere take up to 96 texts a call', async () => {
    provider.script(
      invokes(({ texts }) => ({ embeddings: { float: texts.map((text: string) => [Number(text)]) } }), {
        'x-amzn-bedrock-input-token-count': '5',
      }),
    );
    const input = Array.from({ length: 100 }, (_, index) => String(index));
    const answer = await client.embeddings.create({
      model: 'cohere.embed-multilingual-v3',
      input,
      encoding_format: 'float',
    });
    expect(answer.data.map(({ embedding }) => embedding[0])).toEqual(input.map(Number));
    expect(answer.usage.prompt_tokens).toBe(10);
    expect(provider.calls.map(({ json: body }) => body.texts.length).sort()).toEqual([4, 96]);
    expect(received().json).toMatchObject({ input_type: 'search_document', embedding_types: ['float'] });
  });

  test('of Nova take text and pictures', async () => {
    provider.script(invokes(() => ({ embeddings: [{ embeddingType: 'TEXT', embedding: [0.25] }] })));
    const body: Json = {
      model: 'amazon.nova-2-multimodal-embeddings-v1:0',
      input: [{ image: { url: 'data:image/png;base64,AAAA' } }],
      dimensions: 1024,
      encoding_format: 'float',
    };
    const answer = await client.embeddings.create(body);
    expect(answer.data[0]?.embedding).toEqual([0.25]);
    expect(received().json).toEqual({
      schemaVersion: 'nova-multimodal-embed-v1',
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_INDEX',
        embeddingDimension: 1024,
        image: { format: 'png', source: { bytes: 'AAAA' } },
      },
    });
  });

  test('end with the provider’s words when one of the calls is refused', async () => {
    provider.script(refuses(400, 'ValidationException', 'Too many input tokens.'));
    const fault = await client.embeddings
      .create({ model: 'amazon.titan-embed-text-v2:0', input: ['a', 'b'] })
      .catch((error) => error);
    expect([fault.status, fault.message]).toEqual([400, '400 bedrock error: Too many input tokens.']);
  });
});

describe('images', () => {
  test('of Nova Canvas are asked for by size, number and quality', async () => {
    provider.script(invokes(() => ({ images: ['AAAA', 'BBBB'] })));
    const answer = await client.images.generate({
      model: 'amazon.nova-canvas-v1:0',
      prompt: 'A cat',
      n: 2,
      size: '1024x1024',
      quality: 'hd',
    });
    expect(answer.data).toEqual([{ b64_json: 'AAAA' }, { b64_json: 'BBBB' }]);
    expect(received().json).toEqual({
      taskType: 'TEXT_IMAGE',
      textToImageParams: { text: 'A cat' },
      imageGenerationConfig: { numberOfImages: 2, width: 1024, height: 1024, quality: 'premium' },
    });
  });

  test('are painted anew where a mask says so', async () => {
    provider.script(invokes(() => ({ images: ['AAAA'] })));
    await client.images.edit({
      model: 'amazon.titan-image-generator-v2:0',
      prompt: 'A hat',
      image: await toFile(Buffer.from('cat'), 'cat.png', { type: 'image/png' }),
      mask: await toFile(Buffer.from('mask'), 'mask.png', { type: 'image/png' }),
    });
    expect(received().json).toEqual({
      taskType: 'INPAINTING',
      inPaintingParams: {
        text: 'A hat',
        image: Buffer.from('cat').toString('base64'),
        maskImage: Buffer.from('mask').toString('base64'),
      },
      imageGenerationConfig: { numberOfImages: 1 },
    });
  });

  test('of Stability’s models are asked for in the words of their generation', async () => {
    provider.script(invokes(() => ({ images: ['AAAA'], finish_reasons: [null], seeds: [1] })));
    await client.images.generate({ model: 'stability.stable-image-ultra-v1:1', prompt: 'A cat', size: '1792x1024' });
    expect(received().json).toEqual({ prompt: 'A cat', aspect_ratio: '16:9' });
    provider.script(invokes(() => ({ result: 'success', artifacts: [{ base64: 'CCCC', finishReason: 'SUCCESS' }] })));
    const older: Json = { model: 'stability.stable-diffusion-xl-v1', prompt: 'A cat', size: '512x512', steps: 30 };
    expect((await client.images.generate(older)).data).toEqual([{ b64_json: 'CCCC' }]);
    expect(received().json).toEqual({
      text_prompts: [{ text: 'A cat', weight: 1 }],
      width: 512,
      height: 512,
      steps: 30,
    });
  });

  test('that were filtered are a refusal', async () => {
    provider.script(invokes(() => ({ images: [], finish_reasons: ['Filter reason: prompt'], seeds: [] })));
    const fault = await client.images
      .generate({ model: 'stability.sd3-5-large-v1:0', prompt: 'X' })
      .catch((error) => error);
    expect([fault.status, fault.code]).toEqual([400, 'content_policy_violation']);
  });
});

describe('ranking', () => {
  test('goes to the service for agents, with the model’s ARN', async () => {
    provider.script(
      known(
        json(200, {
          results: [
            { index: 0, relevanceScore: 0.2 },
            { index: 1, relevanceScore: 0.9 },
          ],
        }),
      ),
    );
    const response = await world.call(
      '/v1/rerank',
      {
        model: 'cohere.rerank-v3-5:0',
        query: 'cats',
        documents: ['dogs', { text: 'cats', id: 7 }],
        top_n: 2,
        return_documents: true,
      },
      { 'x-gw-provider': '@aws' },
    );
    expect((await response.json()) as Json).toMatchObject({
      object: 'list',
      results: [
        { index: 1, relevance_score: 0.9, document: { text: 'cats', id: 7 } },
        { index: 0, relevance_score: 0.2, document: { text: 'dogs' } },
      ],
    });
    expect(received().path).toBe('/rerank');
    expect(received().json).toEqual({
      queries: [{ type: 'TEXT', textQuery: { text: 'cats' } }],
      sources: [
        { type: 'INLINE', inlineDocumentSource: { type: 'TEXT', textDocument: { text: 'dogs' } } },
        { type: 'INLINE', inlineDocumentSource: { type: 'JSON', jsonDocument: { text: 'cats', id: 7 } } },
      ],
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          numberOfResults: 2,
          modelConfiguration: { modelArn: `arn:aws:bedrock:${region}::foundation-model/cohere.rerank-v3-5:0` },
        },
      },
    });
  });
});

describe('completions', () => {
  test('of Llama are asked for and read in its words', async () => {
    provider.script(
      invokes(
        () => ({ generation: ' there', prompt_token_count: 3, generation_token_count: 1, stop_reason: 'length' }),
        {
          'x-amzn-bedrock-input-token-count': '3',
          'x-amzn-bedrock-output-token-count': '1',
        },
      ),
    );
    const answer = await client.completions.create({
      model: 'meta.llama3-8b-instruct-v1:0',
      prompt: 'Hello',
      max_tokens: 1,
    });
    expect(answer.choices[0]).toMatchObject({ text: ' there', finish_reason: 'length' });
    expect(answer.usage).toEqual({ prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 });
    expect(received().json).toEqual({ prompt: 'Hello', max_gen_len: 1 });
  });

  test('stream with their usage at the end', async () => {
    provider.script(
      invokes(() => [
        { generation: ' th', stop_reason: null },
        {
          generation: 'ere',
          stop_reason: 'stop',
          'amazon-bedrock-invocationMetrics': { inputTokenCount: 3, outputTokenCount: 2 },
        },
      ]),
    );
    const stream = await client.completions.create({
      model: 'meta.llama3-8b-instruct-v1:0',
      prompt: 'Hello',
      stream: true,
    });
    const chunks: Json[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.text ?? null)).toEqual([' th', 'ere', null]);
    expect(chunks.at(-1).usage).toEqual({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
  });

  test('of a model without them are refused', async () => {
    const fault = await client.completions
      .create({ model: 'amazon.nova-pro-v1:0', prompt: 'Hello' })
      .catch((error) => error);
    expect([fault.status, fault.code]).toEqual([400, 'unsupported_endpoint']);
  });
});

describe('the list of models', () => {
  test('holds the vendors’ models and the profiles over regions', async () => {
    provider.script(
      known((call, response) =>
        call.path === '/foundation-models'
          ? json(200, { modelSummaries: [{ modelId: 'amazon.nova-pro-v1:0', providerName: 'Amazon' }] })(call, response)
          : json(200, {
              inferenceProfileSummaries: [
                { inferenceProfileId: 'eu.amazon.nova-pro-v1:0', createdAt: '2025-01-01T00:00:00Z' },
              ],
            })(call, response),
      ),
    );
    const response = await fetch(`${world.gateway.url}/v1/models`, {
      headers: { 'x-gw-api-key': world.gateway.workspaceKey, 'x-gw-provider': '@aws' },
    });
    expect((await response.json()) as Json).toEqual({
      object: 'list',
      data: [
        { id: 'amazon.nova-pro-v1:0', object: 'model', created: 0, owned_by: 'Amazon' },
        { id: 'eu.amazon.nova-pro-v1:0', object: 'model', created: 1_735_689_600, owned_by: 'amazon' },
      ],
    });
  });
});
