/** Cohere: its own SDK against the simulated API first, then OpenAI's SDK through the gateway. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import type { OpenAI } from 'openai';
import { openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import { cohereApi, generationLines, refused, type Said, vectorOf } from '../providers/cohere.ts';
import { bytes, lastCall, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let said: Said = { text: 'Hello there.' };
const simulated = cohereApi('sk-c-secret', () => said);

let provider: SimulatedProvider;
let address: string;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startProvider(simulated);
  address = provider.url.replace(/\/v1$/, '');
  world = await startWorld({});
  await world.saveProvider('c', 'cohere', { url: address });
  client = openaiClient(world);
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
beforeEach(() => {
  provider.script(simulated);
  said = { text: 'Hello there.' };
});

const received = () => lastCall(provider);

const model = '@c/command-a-03-2025';
const upstream = 'command-a-03-2025';
const messages = [{ role: 'user' as const, content: 'Hello' }];
const weather = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const calls = [
  { id: 'weather_1', name: 'weather', arguments: '{"city":"Oslo"}' },
  { id: 'weather_2', name: 'weather', arguments: '{"city":"Rome"}' },
];

const collected = async (body: Partial<OpenAI.ChatCompletionCreateParamsStreaming>, from = client) => {
  const runner = from.chat.completions.stream({ model, messages, ...body, stream: true });
  return { answer: await runner.finalChatCompletion(), usage: await runner.totalUsage() };
};

describe("the simulated API is one to Cohere's own SDK", () => {
  const own = () => new CohereClientV2({ token: 'sk-c-secret', environment: address });

  test('whole', async () => {
    said = { thinking: 'Hmm.', text: 'Hello there.', calls };
    const answer = await own().chat({ model: upstream, messages });
    expect(answer.finishReason).toBe('TOOL_CALL');
    expect(answer.message.content).toEqual([
      { type: 'thinking', thinking: 'Hmm.' },
      { type: 'text', text: 'Hello there.' },
    ]);
    expect(answer.message.toolCalls?.[1]).toMatchObject({ id: 'weather_2' });
    expect(answer.usage?.tokens).toEqual({ inputTokens: 71, outputTokens: 22 });
  });

  test('streamed', async () => {
    said = { plan: 'I will look.', text: 'Hello there.', calls };
    const types: string[] = [];
    let text = '';
    for await (const event of await own().chatStream({ model: upstream, messages })) {
      if (types.at(-1) !== event.type) types.push(event.type);
      if (event.type === 'content-delta') text += event.delta?.message?.content?.text ?? '';
    }
    expect(text).toBe('Hello there.');
    expect(types.slice(0, 5)).toEqual([
      'message-start',
      'tool-plan-delta',
      'content-start',
      'content-delta',
      'content-end',
    ]);
    expect(types.at(-1)).toBe('message-end');
  });

  test('for embeddings, reranking and models', async () => {
    const embedded = await own().embed({
      model: 'embed-v4.0',
      texts: ['one'],
      inputType: 'search_query',
      embeddingTypes: ['float'],
    });
    expect(embedded.embeddings.float).toEqual([vectorOf('one')]);
    const ranked = await own().rerank({ model: 'rerank-v3.5', query: 'q', documents: ['a', 'bbb'], topN: 1 });
    expect(ranked.results).toEqual([{ index: 1, relevanceScore: 0.03 }]);
  });

  test('and to a wrong key it is closed', async () => {
    const other = new CohereClientV2({ token: 'other', environment: address, maxRetries: 0 });
    await expect((async () => other.chat({ model: upstream, messages }))()).rejects.toMatchObject({ statusCode: 401 });
  });
});

describe('chat', () => {
  test('answers with text, usage and cost', async () => {
    const { data, response } = await client.chat.completions
      .create({ model, messages: [{ role: 'system', content: 'Be brief' }, ...messages], stop: 'END', max_tokens: 50 })
      .withResponse();
    expect(data).toMatchObject({
      object: 'chat.completion',
      model: upstream,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 71, completion_tokens: 22, total_tokens: 93 },
    });
    expect(received()).toMatchObject({
      method: 'POST',
      path: '/v2/chat',
      headers: { authorization: 'Bearer sk-c-secret' },
    });
    expect(received().json).toEqual({
      model: upstream,
      messages: [{ role: 'system', content: 'Be brief' }, ...messages],
      max_tokens: 50,
      stop_sequences: ['END'],
    });
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(record).toMatchObject({ req_units: 71, res_units: 22 });
    expect(record?.cost).toBeGreaterThan(0);
  });

  test('streams text, and usage where it is asked for', async () => {
    const { answer } = await collected({ stream_options: { include_usage: true } });
    expect(answer.choices[0]).toMatchObject({ message: { content: 'Hello there.' }, finish_reason: 'stop' });
    expect(answer.usage).toMatchObject({ total_tokens: 93 });
    expect(received().json).toEqual({ model: upstream, messages, stream: true });
  });

  test('looks at images', async () => {
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,iVBORw0=' } },
    ];
    await client.chat.completions.create({ model, messages: [{ role: 'user', content }] });
    expect(received().json.messages).toEqual([{ role: 'user', content }]);
  });

  test('calls tools side by side, whole and streamed, and takes their results', async () => {
    said = { plan: 'I will look.', calls };
    const { choices } = await client.chat.completions.create({
      model,
      messages,
      tools: [weather],
      tool_choice: 'required',
    });
    const [choice] = choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.tool_calls?.map((call) => call.id)).toEqual(['weather_1', 'weather_2']);
    expect(received().json).toMatchObject({ tool_choice: 'REQUIRED', tools: [weather] });
    const { answer } = await collected({ tools: [weather] });
    expect(answer.choices[0]?.message.tool_calls?.map((call) => 'function' in call && call.function.arguments)).toEqual(
      calls.map((call) => call.arguments),
    );
    said = { text: 'Cold and warm.' };
    if (!choice) throw new Error('There was no choice');
    await client.chat.completions.create({
      model,
      messages: [
        ...messages,
        choice.message,
        { role: 'tool', tool_call_id: 'weather_1', content: 'cold' },
        { role: 'tool', tool_call_id: 'weather_2', content: 'warm' },
      ],
      tools: [weather],
    });
    expect(received().json.messages).toEqual([
      ...messages,
      {
        role: 'assistant',
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id,
          type: 'function',
          function: { name, arguments: args },
        })),
      },
      { role: 'tool', tool_call_id: 'weather_1', content: 'cold' },
      { role: 'tool', tool_call_id: 'weather_2', content: 'warm' },
    ]);
  });

  test('answers in a given structure', async () => {
    said = { text: '{"city":"Oslo"}' };
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const { choices } = await client.chat.completions.create({
      model,
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
    });
    expect(choices[0]?.message.content).toBe('{"city":"Oslo"}');
    expect(received().json.response_format).toEqual({ type: 'json_object', json_schema: schema });
  });

  test('thinks, and shows it to clients that are not strict', async () => {
    said = { thinking: 'Hmm.', text: 'Hello there.' };
    const lenient = openaiClient(world, { 'x-gw-strict-open-ai-compliance': 'false' });
    const open = await lenient.chat.completions.create({ model, messages, reasoning_effort: 'low' });
    expect(open.choices[0]?.message).toMatchObject({ content: 'Hello there.', reasoning_content: 'Hmm.' });
    expect(received().json.thinking).toEqual({ type: 'enabled', token_budget: 1024 });
    const { answer } = await collected({}, lenient);
    expect(answer.choices[0]?.message.content).toBe('Hello there.');
    const strict = await client.chat.completions.create({ model, messages });
    expect(JSON.stringify(strict)).not.toContain('Hmm.');
  });

  test('ends where it was cut by its limit', async () => {
    said = { text: 'Hel', finish: 'MAX_TOKENS' };
    expect((await client.chat.completions.create({ model, messages })).choices[0]?.finish_reason).toBe('length');
    expect((await collected({})).answer.choices[0]?.finish_reason).toBe('length');
  });

  test("is refused with Cohere's status and words", async () => {
    provider.script(refused(429, 'You are using a Trial key'));
    const limited = (async () => client.chat.completions.create({ model, messages }))();
    await expect(limited).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('cohere error: You are using a Trial key'),
    });
    provider.script(refused(498, 'blocked token'));
    const blocked = (async () => client.chat.completions.create({ model, messages, stream: true }))();
    await expect(blocked).rejects.toMatchObject({ status: 498 });
  });

  test('is refused by us for what Cohere cannot do, naming the field', async () => {
    const refusal = (async () => client.chat.completions.create({ model, messages, n: 2 }))();
    await expect(refusal).rejects.toMatchObject({ status: 400, message: expect.stringContaining('leave n out') });
    expect(provider.calls).toHaveLength(0);
  });

  test('that breaks off in its stream ends in an error, not in a finish', async () => {
    provider.script(
      stream([
        'data: {"type":"message-start","id":"1"}\n\n',
        'data: {"type":"content-delta","delta":{"message":{"content":{"text":"Hel"}}}}\n\n',
      ]),
    );
    const reading = (async () => {
      let text = '';
      for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
        text += chunk.choices[0]?.delta.content ?? '';
        expect(chunk.choices[0]?.finish_reason ?? null).toBeNull();
      }
      return text;
    })();
    await expect(reading).rejects.toThrow();
  });
});

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
