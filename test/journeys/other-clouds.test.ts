/** Oracle, Workers AI, watsonx.ai and the small ones, asked with OpenAI's SDK. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import { type Cloud, messages, sharedClouds } from '../cloud-world.ts';
import { keys, type Said as OracleSaid, oracleApi } from '../providers/oracle.ts';
import * as clouds from '../providers/other-clouds.ts';
import { picture, pictureBase64 } from '../providers/picture-makers.ts';
import { type Behaviour, stream } from '../providers/simulated.ts';

let oracleSaid: OracleSaid = { text: 'Hello there.' };
const oracleFields = {
  oracle_region: 'us-chicago-1',
  oracle_compartment_id: 'ocid1.compartment',
  oracle_tenancy: 'ocid1.tenancy',
  oracle_user: 'ocid1.user',
  oracle_fingerprint: '20:3b',
  oracle_private_key: keys.privateKey,
};

const apis: Record<string, Cloud> = {
  oracle: { api: oracleApi('ocid1.tenancy/ocid1.user/20:3b', () => oracleSaid), below: '', fields: oracleFields },
  'workers-ai': {
    api: clouds.workersAiApi('sk-workers-ai-secret'),
    below: '/accounts/acc-1/ai',
    fields: { workers_ai_account_id: 'acc-1' },
  },
  watsonx: {
    api: clouds.watsonxApi('ZenApiKey dTpr'),
    below: '',
    fields: { watsonx_zen_api_key: 'dTpr', watsonx_project_id: 'proj' },
  },
  'reka-ai': { api: clouds.rekaApi('sk-reka-ai-secret'), below: '' },
  bytez: { api: clouds.bytezApi('sk-bytez-secret'), below: '' },
  triton: { api: clouds.tritonApi, below: '' },
  ai21: { api: clouds.ai21Api('sk-ai21-secret'), below: '/v1' },
};

const { simulated, world, client, last, said, streamed, completed } = sharedClouds(apis);

beforeEach(() => {
  oracleSaid = { text: 'Hello there.' };
});

describe('Oracle', () => {
  const model = '@oracle/meta.llama-3.3-70b-instruct';

  test('answers requests that are signed over exactly what is sent', async () => {
    const answer = await said(model, { max_tokens: 10 });
    expect(answer).toMatchObject({
      choices: [{ message: { content: 'Hello there.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 40, completion_tokens: 12 },
    });
    expect(last('oracle')).toMatchObject({ method: 'POST', path: '/20231130/actions/chat' });
    expect(last('oracle').json.chatRequest).toMatchObject({ apiFormat: 'GENERIC', maxTokens: 10 });
    expect(await streamed(model)).toBe('Hello there.');
    expect(await streamed('@oracle/cohere.command-r-plus')).toBe('Hello there.');
  });

  test('calls tools', async () => {
    oracleSaid = { calls: [{ id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' }] };
    const tools = [{ type: 'function' as const, function: { name: 'weather' } }];
    const { choices } = await said(model, { tools, tool_choice: 'required' });
    expect(choices[0]).toMatchObject({
      message: { tool_calls: [{ id: 'c1', function: { arguments: '{"city":"Oslo"}' } }] },
      finish_reason: 'tool_calls',
    });
    expect(last('oracle').json.chatRequest.toolChoice).toEqual({ type: 'REQUIRED' });
  });

  test('embeds', async () => {
    const { data } = await client().embeddings.create({ model: '@oracle/cohere.embed-v4', input: ['one'] });
    expect(data[0]?.embedding).toEqual([3, 0.5]);
    expect(last('oracle').json).toMatchObject({ inputs: ['one'], inputType: 'SEARCH_DOCUMENT' });
  });

  test("refuses a signature that is not its user's, in its own words", async () => {
    const custom_host = simulated.get('oracle')?.url.replace('/v1', '') ?? '';
    const config = { provider: 'oracle', api_key: 'unused', custom_host, ...oracleFields, oracle_user: 'ocid1.other' };
    const other = openaiClient(world(), { 'x-gw-config': await world().saveConfig(config) });
    const refusal = (async () => other.chat.completions.create({ model: 'meta.llama', messages }))();
    await expect(refusal).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('oracle error: The required information'),
    });
  });
});

describe('Workers AI', () => {
  test("chats in OpenAI's dialect", async () => {
    const model = '@workers-ai/@cf/meta/llama-3.3-70b';
    expect((await said(model, { max_completion_tokens: 5 })).choices[0]?.message.content).toBe('Hello there.');
    expect(last('workers-ai').json).toEqual({ model: '@cf/meta/llama-3.3-70b', messages, max_tokens: 5 });
    expect(await streamed(model)).toBe('Hello there.');
  });

  test('completes, whole and streamed', async () => {
    const model = '@workers-ai/@cf/meta/llama-3-8b';
    const whole = await client().completions.create({ model, prompt: 'Say', max_tokens: 5 });
    expect(whole).toMatchObject({
      choices: [{ text: 'Hello there.', finish_reason: 'stop' }],
      usage: { total_tokens: 8 },
    });
    expect(last('workers-ai')).toMatchObject({
      path: '/accounts/acc-1/ai/run/@cf/meta/llama-3-8b',
      json: { prompt: 'Say', max_tokens: 5 },
    });
    expect(await completed(model)).toEqual({ text: 'Hello there.', finish: 'stop', tokens: 8 });
  });

  test('embeds, and draws in either of its forms', async () => {
    const { data } = await client().embeddings.create({
      model: '@workers-ai/@cf/baai/bge-m3',
      input: ['one', 'three'],
    });
    expect(data.map(({ embedding }) => embedding[0])).toEqual([3, 5]);
    for (const model of ['@cf/black-forest-labs/flux-1-schnell', '@cf/stabilityai/stable-diffusion-xl-base-1.0']) {
      const { data: images } = await client().images.generate({
        model: `@workers-ai/${model}`,
        prompt: 'A cat',
        size: '512x512',
      });
      expect(images).toEqual([{ b64_json: pictureBase64 }]);
      expect(last('workers-ai').json).toEqual({ prompt: 'A cat', width: 512, height: 512 });
    }
  });

  test('reads recordings, bare or in JSON', async () => {
    const file = () => toFile(picture, 'talk.wav', { type: 'audio/wav' });
    const bare = await client().audio.transcriptions.create({
      model: '@workers-ai/@cf/openai/whisper',
      file: await file(),
    });
    expect(bare.text).toBe('Hello there.');
    expect(last('workers-ai').body).toEqual(picture);
    const model = '@workers-ai/@cf/openai/whisper-large-v3-turbo';
    const verbose = await client().audio.transcriptions.create({
      model,
      file: await file(),
      language: 'en',
      response_format: 'verbose_json',
    });
    expect(verbose as unknown).toMatchObject({ language: 'en', duration: 3.2, segments: [{ text: 'Hello there.' }] });
    expect(last('workers-ai').json).toEqual({ audio: pictureBase64, language: 'en' });
  });

  test('refuses in its own words', async () => {
    const refusal = (async () =>
      client().images.generate({ model: '@workers-ai/@cf/nobody/nothing', prompt: 'A cat' }))();
    await expect(refusal).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('No route for that URI'),
    });
  });
});

describe('watsonx.ai', () => {
  const model = '@watsonx/ibm/granite-3';

  test('chats', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'weather' } }];
    const answer = await said(model, { tools, tool_choice: 'required', max_tokens: 7 });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'Hello there.' } }],
      usage: { total_tokens: 30 },
    });
    expect(last('watsonx').path).toBe('/ml/v1/text/chat?version=2025-02-06');
    expect(last('watsonx').json).toEqual({
      model_id: 'ibm/granite-3',
      project_id: 'proj',
      messages,
      tools,
      tool_choice_option: 'required',
      max_tokens: 7,
    });
    expect(await streamed(model)).toBe('Hello there.');
    expect(last('watsonx').path).toStartWith('/ml/v1/text/chat_stream?');
  });

  test('completes, embeds, reranks and lists its models', async () => {
    const completion = await client().completions.create({ model, prompt: 'Hello', temperature: 0.5, stop: '.' });
    expect(completion).toMatchObject({ choices: [{ text: ' there.' }], usage: { total_tokens: 5 } });
    expect(last('watsonx').json.parameters).toEqual({
      decoding_method: 'sample',
      temperature: 0.5,
      stop_sequences: ['.'],
    });
    expect(await completed(model)).toEqual({ text: ' there.', finish: 'stop', tokens: 5 });
    expect(last('watsonx').path).toStartWith('/ml/v1/text/generation_stream?');
    const { data } = await client().embeddings.create({ model, input: ['one', 'three'] });
    expect(data.map(({ embedding }) => embedding[0])).toEqual([3, 5]);
    const ranked = await world().call('/v1/rerank', { model, query: 'q', documents: ['a', 'b'], top_n: 1 });
    expect((await ranked.json()) as unknown).toMatchObject({
      results: [{ index: 1, relevance_score: 4.5 }],
      usage: { total_tokens: 9 },
    });
    expect(last('watsonx').json).toMatchObject({
      inputs: [{ text: 'a' }, { text: 'b' }],
      parameters: { return_options: { top_n: 1 } },
    });
    const models = await openaiClient(world(), { 'x-gw-provider': '@watsonx' }).models.list();
    expect(models.data[0]).toMatchObject({ id: 'ibm/granite-3', owned_by: 'IBM' });
  });
});

describe('the small ones', () => {
  test('Reka hears a human and a model in turn', async () => {
    const talk = [{ role: 'system' as const, content: 'Be brief' }, ...messages];
    const answer = await said('@reka-ai/reka-core', { messages: talk, max_tokens: 9, stop: ['.'], top_p: 0.5 });
    expect(answer).toMatchObject({ choices: [{ message: { content: 'Hello there.' } }], usage: { total_tokens: 8 } });
    expect(last('reka-ai')).toMatchObject({ path: '/chat' });
    expect(last('reka-ai').json).toEqual({
      model_name: 'reka-core',
      conversation_history: [{ type: 'human', text: 'Be brief\n\nHello' }],
      request_output_len: 9,
      runtime_top_p: 0.5,
      stop_words: ['.'],
    });
    expect(await streamed('@reka-ai/reka-core', { max_tokens: 9 })).toBe('Hello there.');
    expect(last('reka-ai')).toMatchObject({
      path: '/v1/chat/completions',
      json: { model: 'reka-core', messages, max_tokens: 9, stream: true },
    });
  });

  test("Bytez is asked by the model's address", async () => {
    expect((await said('@bytez/owner/name', { max_tokens: 9 })).choices[0]?.message.content).toBe('Hello there.');
    expect(last('bytez')).toMatchObject({
      path: '/models/v2/owner/name',
      json: { messages, params: { max_new_tokens: 9 } },
    });
    expect(await streamed('@bytez/owner/name', { max_tokens: 9 })).toBe('Hello there.');
    expect(last('bytez')).toMatchObject({ path: '/models/v2/openai/v1/chat/completions' });
    expect(last('bytez').json).toEqual({ model: 'owner/name', messages, max_tokens: 9, stream: true });
  });

  test('Triton completes', async () => {
    const answer = await client().completions.create({
      model: '@triton/llama',
      prompt: 'Hello',
      stop: '.',
      max_tokens: 5,
    });
    expect(answer.choices[0]?.text).toBe(' there.');
    expect(last('triton')).toMatchObject({
      path: '/v2/models/llama/generate',
      json: { text_input: 'Hello', stop_words: ['.'], max_tokens: 5 },
    });
    expect(await completed('@triton/llama')).toEqual({ text: ' there.', finish: 'stop', tokens: 0 });
    expect(last('triton')).toMatchObject({
      path: '/v2/models/llama/generate_stream',
      json: { text_input: 'Hello', stream: true },
    });
  });

  test('a stream of Triton that breaks off, or whose end nothing marks, does not look complete', async () => {
    const triton = simulated.get('triton');
    const piece = 'data: {"text_output":" the"}\n\n';
    const unmarked: Behaviour = (_, { socket }) => {
      socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${piece}`);
    };
    for (const ending of [stream([piece], 'cut'), unmarked]) {
      triton?.script(ending);
      await expect(completed('@triton/llama')).rejects.toThrow();
    }
    triton?.script(stream([piece, 'data: {"error":"out of memory"}\n\n']));
    await expect(completed('@triton/llama')).rejects.toThrow('out of memory');
    triton?.script(clouds.tritonApi);
  });

  test('AI21 takes stops as a list, and embeds', async () => {
    expect((await said('@ai21/jamba-large', { stop: '.' })).choices[0]?.message.content).toBe('Hello there.');
    expect(last('ai21').json).toEqual({ model: 'jamba-large', messages, stop: ['.'] });
    const { data } = await client().embeddings.create({ model: '@ai21/embed', input: 'one' });
    expect(data[0]?.embedding).toEqual([3, 0.5]);
  });
});
