/** Azure AI Foundry through the gateway: OpenAI's and Anthropic's own SDKs in front of models of both dialects. */
import { beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { OpenAI } from 'openai';
import { anthropicClient, openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import { azureAi } from '../providers/azure-ai.ts';
import * as api from '../providers/openai-api.ts';
import { lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const simulated = azureAi('sk-secret', { content: [{ type: 'text', text: 'Bonjour.' }] });
let resource: SimulatedProvider;
let origin: string;
let world: World;

beforeAll(async () => {
  resource = await startProvider(simulated);
  origin = resource.url.replace(/\/v1$/, '');
  world = await startWorld({});
  const save = (slug: string, url: string) =>
    world.saveProvider(slug, 'azure-ai', resource, {
      key: 'sk-secret',
      configurations: { azure_auth_mode: 'default', azure_foundry_url: url, azure_deployment_name: 'blue' },
    });
  await save('models', `${origin}/models`);
  await save('project', `${origin}/api/projects/p/openai/v1`);
  await save('score', `${origin}/score`);
  await save('claude', `${origin}/anthropic`);
});
sharedByTests(
  () => world.gateway,
  () => [resource],
);

const received = () => lastCall(resource);

const messages = [{ role: 'user' as const, content: 'Hello' }];

test('the simulated resource is one to the SDKs of both dialects', async () => {
  const openai = new OpenAI({ baseURL: `${origin}/api/projects/p/openai/v1`, apiKey: 'sk-secret' });
  expect((await openai.chat.completions.create({ model: 'Llama-3.3', messages })).choices[0]?.message.content).toBe(
    'Hello there.',
  );
  const anthropic = new Anthropic({ baseURL: `${origin}/anthropic`, apiKey: 'sk-secret' });
  const message = await anthropic.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 10, messages });
  expect(message.content).toMatchObject([{ type: 'text', text: 'Bonjour.' }]);
});

describe('chat', () => {
  test('goes below the address, under the default version, with the key in both of its headers', async () => {
    const answer = await openaiClient(world).chat.completions.create({ model: '@models/Llama-3.3-70B', messages });
    expect(answer.choices[0]?.message.content).toBe('Hello there.');
    expect(JSON.stringify(answer)).not.toContain('filter');
    expect(received()).toMatchObject({
      path: '/models/chat/completions?api-version=2024-05-01-preview',
      json: { model: 'Llama-3.3-70B', messages },
    });
    expect(received().headers).toMatchObject({
      authorization: 'Bearer sk-secret',
      'api-key': 'sk-secret',
      'extra-parameters': 'drop',
      'azureml-model-deployment': 'blue',
    });
  });

  test.each([
    ['project', '/api/projects/p/openai/v1/chat/completions'],
    ['score', '/score'],
  ])('goes to the address of a %s without a version', async (slug, path) => {
    await openaiClient(world).chat.completions.create({ model: `@${slug}/m`, messages });
    expect(received().path).toBe(path);
  });

  test('streams', async () => {
    const runner = openaiClient(world).chat.completions.stream({ model: '@models/m', messages });
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe('Hello there.');
  });

  test.each([
    ['by its address', '@claude/my-deployment'],
    ['by its name', '@models/claude-sonnet-4-5'],
  ])('with Claude, known %s, is spoken in its own dialect', async (_, model) => {
    const answer = await openaiClient(world).chat.completions.create({ model, messages, max_tokens: 10 });
    expect(answer.choices[0]).toMatchObject({ message: { content: 'Bonjour.' }, finish_reason: 'stop' });
    expect(received().path).toBe('/anthropic/v1/messages');
    expect(received().json).toMatchObject({ max_tokens: 10, messages: [{ role: 'user' }] });
    expect(received().headers).toMatchObject({ 'x-api-key': 'sk-secret', 'anthropic-version': '2023-06-01' });
    expect(received().headers['api-key']).toBeUndefined();
    const runner = openaiClient(world).chat.completions.stream({ model, messages });
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe('Bonjour.');
  });
});

describe('messages', () => {
  test('go to Claude unchanged', async () => {
    const client = anthropicClient(world);
    const message = await client.messages.create({ model: '@claude/claude-sonnet-4-5', max_tokens: 10, messages });
    expect(message.content).toMatchObject([{ type: 'text', text: 'Bonjour.' }]);
    expect(received()).toMatchObject({
      path: '/anthropic/v1/messages',
      json: { model: 'claude-sonnet-4-5', max_tokens: 10, messages },
    });
    const stream = client.messages.stream({ model: '@claude/claude-sonnet-4-5', max_tokens: 10, messages });
    expect(await stream.finalText()).toBe('Bonjour.');
  });

  test('to another model are asked as chat', async () => {
    const message = await anthropicClient(world).messages.create({
      model: '@models/Llama-3.3',
      max_tokens: 10,
      messages,
    });
    expect(message.content).toMatchObject([{ type: 'text', text: 'Hello there.' }]);
    expect(received().path).toStartWith('/models/chat/completions');
  });
});

describe('the other operations', () => {
  test('text is embedded as it is asked for', async () => {
    const { data } = await openaiClient(world).embeddings.create({ model: '@models/embed', input: 'text' });
    expect(data[0]?.embedding).toEqual([...new Float32Array(api.vector)]);
    expect(received().path).toStartWith('/models/embeddings?');
  });

  test('images are embedded at their own endpoint', async () => {
    const asked = {
      model: '@models/embed',
      input: [{ text: 'a cat', image: { base64: 'AAAA' } }],
      input_type: 'query',
    };
    const response = await world.call('/v1/embeddings', asked);
    expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(1);
    expect(received().path).toStartWith('/models/images/embeddings?');
    expect(received().json).toEqual({
      model: 'embed',
      input: [{ image: 'data:image/png;base64,AAAA', text: 'a cat' }],
      encoding_format: 'float',
      input_type: 'query',
    });
  });

  test('documents are reranked, and a model of Cohere loses its prefix', async () => {
    const asked = { model: '@models/cohere.rerank-v4', query: 'q', documents: ['a', 'b'], top_n: 1 };
    const response = await world.call('/v1/rerank', asked);
    expect((await response.json()) as unknown).toMatchObject({
      results: [{ index: 1, relevance_score: 0.9 }],
      usage: { search_units: 1 },
    });
    expect(received().json).toEqual({ model: 'rerank-v4', query: 'q', documents: ['a', 'b'], top_n: 1 });
  });

  test('pictures are made by the deployment of their model', async () => {
    const response = await world.call('/v1/images/generations', { model: '@models/gpt-image-1', prompt: 'A cat' });
    expect((await response.json()) as unknown).toMatchObject({ data: [{ b64_json: 'aGk=' }] });
    expect(received().path).toBe('/openai/deployments/gpt-image-1/images/generations?api-version=2025-04-01-preview');
  });

  test('a document at an address is read as bytes', async () => {
    const pdf = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf' });
      response.end('%PDF');
    });
    const document = { type: 'document_url', document_url: `${pdf.url}/a.pdf` };
    const response = await world.call('/v1/ocr', { model: '@models/mistral-ocr', document });
    expect((await response.json()) as unknown).toMatchObject({ pages: [{ markdown: '# Title' }] });
    expect(received().json.document.document_url).toBe(
      `data:application/pdf;base64,${Buffer.from('%PDF').toString('base64')}`,
    );
    await pdf.stop();
  });

  test('files are those of the resource', async () => {
    const file = await openaiClient(world, { 'x-gw-provider': '@models' }).files.retrieve('file-1');
    expect(file.id).toBe('file-1');
    expect(received().path).toBe('/openai/files/file-1?api-version=2024-10-21');
  });
});

test('an address that a customer wrote is checked like a custom host', async () => {
  const config = { provider: 'azure-ai', api_key: 'k', azure_foundry_url: 'http://169.254.169.254/models' };
  const client = openaiClient(world, { 'x-gw-config': await world.saveConfig(config) });
  const refusal = (async () => client.chat.completions.create({ model: 'm', messages }))();
  await expect(refusal).rejects.toMatchObject({ status: 400, code: 'invalid_custom_host' });
});
