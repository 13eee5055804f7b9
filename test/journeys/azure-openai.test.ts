/** Azure OpenAI: its own SDK against the simulated resource first, then OpenAI's SDK through the gateway. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AzureOpenAI, OpenAI, toFile } from 'openai';
import { messages, simulated, startAzure, version } from '../azure-world.ts';
import { anthropicClient, openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import { answerVerdict, filtered, promptVerdict } from '../providers/azure.ts';
import * as api from '../providers/openai-api.ts';
import { lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import type { World } from '../world.ts';

let resource: SimulatedProvider;
let host: string;
let world: World;

beforeAll(async () => {
  ({ resource, host, world } = await startAzure());
});
sharedByTests(
  () => world.gateway,
  () => [resource],
);
beforeEach(() => {
  resource.script(simulated);
});

const received = () => lastCall(resource);

const tools = [
  {
    type: 'function' as const,
    function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
];

test('a path that passes through names the version, unless the client does', async () => {
  const path = '/v1/proxy/deployments/chat-prod/chat/completions';
  const paths = async (query: string): Promise<string> => {
    await world.call(path + query, { messages }, { 'x-gw-provider': '@azure' });
    return received().path.replace('/openai/deployments/chat-prod/chat/completions', '');
  };
  expect(await paths('')).toBe(`?api-version=${version}`);
  expect(await paths('?a=1')).toBe(`?a=1&api-version=${version}`);
  expect(await paths('?api-version=2025-01-01')).toBe('?api-version=2025-01-01');
});

test('the simulated resource is one to the SDK for Azure, under a dated version and under v1', async () => {
  const dated = new AzureOpenAI({
    baseURL: host,
    apiKey: 'sk-azure-secret',
    apiVersion: version,
    deployment: 'chat-prod',
  });
  const byToken = new AzureOpenAI({
    baseURL: `${host}/deployments/chat-prod`,
    azureADTokenProvider: async () => 'entra-token',
    apiVersion: version,
  });
  const v1 = new OpenAI({ baseURL: `${host}/v1`, apiKey: 'entra-token' });
  const answer = await byToken.chat.completions.create({ model: 'chat-prod', messages });
  expect(answer.choices[0]?.message.content).toBe('Hello there.');
  expect((await v1.chat.completions.create({ model: 'chat-prod', messages })).model).toBe('gpt-4o-mini-2024-07-18');
  expect((await dated.files.list()).data).toHaveLength(1);
  const stream = await byToken.chat.completions.create({ model: 'chat-prod', messages, stream: true });
  const text: string[] = [];
  for await (const chunk of stream) text.push(chunk.choices[0]?.delta.content ?? '');
  expect(text.join('')).toBe('Hello there.');
  const wrong = new AzureOpenAI({ baseURL: host, apiKey: 'other', apiVersion: version, maxRetries: 0 });
  await expect((async () => wrong.files.list())()).rejects.toMatchObject({ status: 401 });
});

describe('chat', () => {
  test('goes to the deployment that the model names, with the key and the version', async () => {
    const answer = await openaiClient(world).chat.completions.create({
      model: '@azure/gpt-4o-mini',
      messages,
      temperature: 0,
    });
    expect(answer.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello there.', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ]);
    expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10 });
    expect(received()).toMatchObject({
      path: `/openai/deployments/chat-prod/chat/completions?api-version=${version}`,
      json: { model: 'gpt-4o-mini', messages, temperature: 0 },
    });
    expect(received().headers['api-key']).toBe('sk-azure-secret');
    expect(received().headers.authorization).toBeUndefined();
  });

  test('for a model that no deployment has goes to the default one', async () => {
    await openaiClient(world).chat.completions.create({ model: '@azure/whatever', messages });
    expect(received().path).toStartWith('/openai/deployments/chat-prod/');
  });

  test('calls tools', async () => {
    const { choices } = await openaiClient(world).chat.completions.create({
      model: '@azure/chat-prod',
      messages,
      tools,
    });
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: 'weather', arguments: '{"city":"Oslo"}' },
    });
    expect(received().json.tools).toEqual(tools);
  });

  test('shows the verdicts of the content filter only to clients that are not strict', async () => {
    const strict = await openaiClient(world).chat.completions.create({ model: '@azure/chat-prod', messages });
    expect(JSON.stringify(strict)).not.toContain('filter');
    const lenient = await openaiClient(world, { 'x-gw-strict-open-ai-compliance': 'false' }).chat.completions.create({
      model: '@azure/chat-prod',
      messages,
    });
    expect(lenient as unknown).toMatchObject({
      prompt_filter_results: promptVerdict,
      choices: [{ content_filter_results: answerVerdict }],
    });
  });

  test('sends the bytes of the client, whether or not the answer is strict', async () => {
    const body = Buffer.from(
      '{"model":"chat-prod",  "messages":[{"role":"user","content":"Hello"}],"seed":12345678901234567890}',
    );
    for (const strict of ['true', 'false']) {
      await world.call(
        '/v1/chat/completions',
        null,
        { 'x-gw-provider': '@azure', 'x-gw-strict-open-ai-compliance': strict },
        { body },
      );
      expect(received().body).toEqual(body);
    }
  });

  const streamed = async (strict: boolean) => {
    const client = openaiClient(world, { 'x-gw-strict-open-ai-compliance': String(strict) });
    const chunks: unknown[] = [];
    const stream = await client.chat.completions.create({
      model: '@azure/chat-prod',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  };

  test('streams without the verdicts where answers are strict, and with them elsewhere', async () => {
    const strict = await streamed(true);
    expect(JSON.stringify(strict)).not.toContain('filter');
    expect(strict).toHaveLength(5);
    expect(strict.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 30 } });
    const lenient = await streamed(false);
    expect(lenient[0]).toMatchObject({ choices: [], prompt_filter_results: promptVerdict });
    expect(lenient).toHaveLength(6);
  });

  test('that the filter refuses is refused with its code', async () => {
    for (const strict of ['true', 'false']) {
      resource.script(filtered);
      const client = openaiClient(world, { 'x-gw-strict-open-ai-compliance': strict });
      await expect(
        (async () => client.chat.completions.create({ model: '@azure/chat-prod', messages }))(),
      ).rejects.toMatchObject({
        status: 400,
        code: 'content_filter',
        param: 'prompt',
      });
    }
  });

  test.each([
    ['its deployment', '@azure/chat-prod', null, 'gpt-4o-mini'],
    ['its answer', 'anything', {}, 'gpt-4o-mini-2024-07-18'],
    ['a setting', 'anything', { azure_model_name: 'gpt-4o' }, 'gpt-4o'],
  ])('is logged with its tokens and its cost, under the model that %s names', async (_, model, more, billed) => {
    const single = {
      provider: 'azure-openai',
      custom_host: host,
      api_key: 'sk-azure-secret',
      deployment_id: 'chat-prod',
    };
    const config: Record<string, string> = more
      ? { 'x-gw-config': await world.saveConfig({ ...single, ...more }) }
      : {};
    const { response } = await openaiClient(world, config).chat.completions.create({ model, messages }).withResponse();
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(record).toMatchObject({ req_units: 20, res_units: 10, ai_org: 'azure-openai', ai_model: billed });
    expect(record?.cost).toBeGreaterThan(0);
  });
});

describe('other dialects', () => {
  test('messages are asked as chat, and the verdict on the prompt opens no message', async () => {
    const client = anthropicClient(world);
    const asked = { model: '@azure/chat-prod', max_tokens: 10, messages };
    const whole = await client.messages.create(asked);
    expect(whole).toMatchObject({ content: [{ type: 'text', text: 'Hello there.' }], model: 'gpt-4o-mini-2024-07-18' });
    const streamed = await client.messages.stream(asked).finalMessage();
    expect(streamed).toMatchObject({
      model: 'gpt-4o-mini-2024-07-18',
      content: [{ type: 'text', text: 'Hello there.' }],
      usage: { output_tokens: 10 },
    });
    expect(received().path).toBe(`/openai/deployments/chat-prod/chat/completions?api-version=${version}`);
  });
});

describe('under v1', () => {
  test('embeddings name the deployment in the body', async () => {
    const { data } = await openaiClient(world).embeddings.create({ model: '@azure/vectors', input: 'text' });
    expect(data[0]?.embedding).toEqual([...new Float32Array(api.vector)]);
    expect(received()).toMatchObject({ path: '/openai/v1/embeddings', json: { model: 'embed-prod', input: 'text' } });
  });

  test('a transcription names it in the form, and the recording stays as it is', async () => {
    const { text } = await openaiClient(world).audio.transcriptions.create({
      model: '@azure/whisper',
      file: await toFile(api.speech, 'talk.wav'),
    });
    expect(text).toBe('Hello there.');
    expect(received().path).toBe('/openai/v1/audio/transcriptions');
    expect(received().body.toString('latin1')).toContain('name="model"\r\n\r\nspeech-prod\r\n');
    expect(received().body.includes(api.speech)).toBe(true);
  });
});
