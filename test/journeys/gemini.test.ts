/** Gemini behind OpenAI's SDK, unchanged: what is asked of AI Studio, and what comes back of it, whole and streamed. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { APIError, OpenAI } from 'openai';
import type { ChatCompletionCreateParamsNonStreaming, ChatCompletionMessageParam } from 'openai/resources';
import { anthropicClient, openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import * as gemini from '../providers/gemini.ts';
import { json, lastCall, type SimulatedProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;
let openClient: OpenAI;

beforeAll(async () => {
  provider = await gemini.startGemini(gemini.says('Hello'));
  world = await startWorld({ gem: { provider: 'google', simulated: provider } });
  client = openaiClient(world, { 'x-gw-provider': '@gem' });
  openClient = openaiClient(world, { 'x-gw-provider': '@gem', 'x-gw-strict-open-ai-compliance': 'false' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const model = 'gemini-2.5-flash';
const question = { model, messages: [{ role: 'user' as const, content: 'Say hello.' }] };
const received = () => lastCall(provider);
/** The answer as the SDK puts it together from a stream. */
async function streamed(body: ChatCompletionCreateParamsNonStreaming, by: OpenAI = client) {
  const events = by.chat.completions.stream({ ...body, stream: true, stream_options: { include_usage: true } });
  return events.finalChatCompletion();
}

const now = {
  type: 'function' as const,
  function: { name: 'now', parameters: { type: 'object', properties: { zone: { type: 'string' } } } },
};

describe('text', () => {
  test('comes whole, with usage and cost, from the address and with the key of AI Studio', async () => {
    provider.script(gemini.says('Grüße aus ', 'Köln 🚀'));
    const { data, response } = await client.chat.completions
      .create({ ...question, messages: [{ role: 'system', content: 'Be brief.' }, ...question.messages] })
      .withResponse();
    expect(data.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: 'Grüße aus Köln 🚀', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ]);
    expect(data).toMatchObject({
      id: 'rDgB-1',
      object: 'chat.completion',
      model,
      usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
    });
    const { path, headers, json: body } = received();
    expect(path).toBe(`/v1beta/models/${model}:generateContent`);
    expect(headers['x-goog-api-key']).toBe('sk-gem-secret');
    expect(JSON.stringify([path, headers])).not.toContain(world.gateway.workspaceKey);
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }],
    });
    const [log] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(log).toMatchObject({ req_units: 20, res_units: 10 });
    // Cents: 20 × $0.30 and 10 × $2.50, each for a million tokens.
    expect(log?.cost).toBeCloseTo((20 * 0.3 + 10 * 2.5) / 10_000, 10);
  });

  test('comes in pieces, ends once, and tells its usage last', async () => {
    provider.script(gemini.says('Grüße aus Köln 🚀'));
    const chunks = [];
    for await (const chunk of await client.chat.completions.create({
      ...question,
      stream: true,
      stream_options: { include_usage: true },
    })) {
      chunks.push(chunk);
    }
    expect(received().path).toBe(`/v1beta/models/${model}:streamGenerateContent?alt=sse`);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Grüße aus Köln 🚀');
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['rDgB-1']));
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop']);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 10 } });
    const raw = await world.call('/v1/chat/completions', { ...question, stream: true }, { 'x-gw-provider': '@gem' });
    expect((await raw.text()).match(/data: \[DONE\]/g)).toHaveLength(1);
  });

  test('that was cut at its limit, or filtered, says so', async () => {
    for (const [finishReason, reason] of [
      ['MAX_TOKENS', 'length'],
      ['SAFETY', 'content_filter'],
    ] as const) {
      provider.script(gemini.answers({ candidates: [{ parts: [{ text: 'Ha' }], finishReason }] }));
      expect((await client.chat.completions.create(question)).choices[0]?.finish_reason).toBe(reason);
      const raw = await openClient.chat.completions.create(question);
      expect(raw.choices[0]?.finish_reason as string).toBe(finishReason);
    }
    provider.script(gemini.answers({ promptFeedback: { blockReason: 'SAFETY' } }));
    for (const answer of [await client.chat.completions.create(question), await streamed(question)]) {
      expect(answer.choices[0]).toMatchObject({ finish_reason: 'content_filter' });
    }
  });
});

test('an image at an address is fetched and sent inline', async () => {
  const picture = await gemini.startGemini(json(200, {}));
  picture.script((_, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end('png'));
  provider.script(gemini.says('A cat.'));
  const content = [
    { type: 'text' as const, text: 'What is it?' },
    { type: 'image_url' as const, image_url: { url: `${picture.url}/cat` } },
    { type: 'image_url' as const, image_url: { url: 'data:image/webp;charset=utf-8;base64,AAAA' } },
  ];
  await client.chat.completions.create({ model, messages: [{ role: 'user', content }] });
  await picture.stop();
  expect(received().json.contents[0].parts).toEqual([
    { text: 'What is it?' },
    { inlineData: { mimeType: 'image/png', data: Buffer.from('png').toString('base64') } },
    { inlineData: { mimeType: 'image/webp', data: 'AAAA' } },
  ]);
});

describe('tools', () => {
  const third = 'gemini-3-flash-preview';
  const parts = [
    { text: 'Let me see.' },
    { functionCall: { id: 'f1', name: 'now', args: { zone: 'CET' } }, thoughtSignature: 'c2lnbmVk' },
    { functionCall: { id: 'f2', name: 'now', args: {} } },
  ];
  const calls = [
    {
      id: 'f1',
      type: 'function',
      function: { name: 'now', arguments: '{"zone":"CET"}', thought_signature: 'c2lnbmVk' },
    },
    { id: 'f2', type: 'function', function: { name: 'now', arguments: '{}' } },
  ];

  const asked = { model: third, messages: question.messages, tools: [now], tool_choice: 'required' as const };
  /** The next turn, with the results in another order than the calls. */
  const answered = async (message: ChatCompletionMessageParam): Promise<Json> => {
    provider.script(gemini.says('Noon.'));
    const messages: ChatCompletionMessageParam[] = [
      ...question.messages,
      message,
      { role: 'tool', tool_call_id: 'f2', content: 'midnight' },
      { role: 'tool', tool_call_id: 'f1', content: '{"time":"noon"}' },
    ];
    const answer = await client.chat.completions.create({ ...asked, messages, tool_choice: 'auto' });
    expect(answer.choices[0]?.message.content).toBe('Noon.');
    return received().json.contents.slice(1);
  };
  const results = {
    role: 'user',
    parts: [
      { functionResponse: { id: 'f1', name: 'now', response: { time: 'noon' } } },
      { functionResponse: { id: 'f2', name: 'now', response: { output: 'midnight' } } },
    ],
  };

  test('are called in parallel, and the calls go back with their signatures and results', async () => {
    provider.script(gemini.answers({ candidates: [{ parts }] }));
    const [choice] = (await client.chat.completions.create(asked)).choices;
    if (!choice) throw new Error('There is no answer');
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message).toMatchObject({ content: 'Let me see.', tool_calls: calls });
    expect(received().json).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'now', parametersJsonSchema: now.function.parameters }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    });
    expect(await answered(choice.message)).toEqual([{ role: 'model', parts }, results]);
  });

  test('are called in a stream; a client that loses the signatures is still understood', async () => {
    provider.script(gemini.answers({ candidates: [{ parts }] }));
    const started: Json[] = [];
    for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true })) {
      started.push(...(choices[0]?.delta.tool_calls ?? []).filter(({ id }) => id));
    }
    expect(started.map(({ index, id, function: called }) => [index, id, called.thought_signature])).toEqual([
      [0, 'f1', 'c2lnbmVk'],
      [1, 'f2', undefined],
    ]);
    const [choice] = (await streamed(asked)).choices;
    if (!choice) throw new Error('There is no answer');
    expect(choice.finish_reason).toBe('tool_calls');
    const unsigned = calls.map((call) => ({ ...call, function: { name: 'now', arguments: call.function.arguments } }));
    expect(choice.message).toMatchObject({ content: 'Let me see.', tool_calls: unsigned });
    const [said] = await answered(choice.message);
    expect(said.parts[1]).toEqual({ ...parts[1], thoughtSignature: 'skip_thought_signature_validator' });
  });

  test('of Google’s own bring citations', async () => {
    const text = 'Größe: Wien ist schön.';
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }],
      groundingSupports: [
        {
          segment: { startIndex: 9, endIndex: Buffer.from(text).length, text: 'Wien ist schön.' },
          groundingChunkIndices: [0],
        },
      ],
    };
    provider.script(gemini.answers({ candidates: [{ parts: [{ text }], groundingMetadata }] }));
    const answer = await client.chat.completions.create({ ...question, web_search_options: {} });
    expect(received().json.tools).toEqual([{ googleSearch: {} }]);
    expect(answer.choices[0]?.message.annotations).toEqual([
      { type: 'url_citation', url_citation: { start_index: 7, end_index: 22, url: 'https://a.test', title: 'A' } },
    ]);
  });
});

test('structured output follows the client’s schema', async () => {
  const schema = {
    type: 'object',
    properties: { city: { $ref: '#/$defs/City' } },
    $defs: { City: { type: 'string' } },
    additionalProperties: false,
  };
  provider.script(gemini.says('{"city":"Rome"}'));
  const answer = await client.chat.completions.create({
    ...question,
    response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } },
  });
  expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ city: 'Rome' });
  expect(received().json.generationConfig).toEqual({
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  });
});

describe('reasoning', () => {
  const thoughtful = {
    candidates: [{ parts: [{ text: 'Hm.', thought: true }, { text: 'Four.' }] }],
    usage: { thoughtsTokenCount: 7, totalTokenCount: 37 },
  };

  test('is counted always, and shown where answers need not be strict', async () => {
    provider.script(gemini.answers(thoughtful));
    const strict = await client.chat.completions.create({ ...question, reasoning_effort: 'medium' });
    expect(received().json.generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 8_192 } });
    expect(strict.choices[0]?.message as Json).toEqual({ role: 'assistant', content: 'Four.', refusal: null });
    expect(strict.usage).toMatchObject({
      completion_tokens: 17,
      total_tokens: 37,
      completion_tokens_details: { reasoning_tokens: 7 },
    });
    const open = await openClient.chat.completions.create({ ...question, reasoning_effort: 'medium' });
    expect(received().json.generationConfig).toEqual({
      thinkingConfig: { thinkingBudget: 8_192, includeThoughts: true },
    });
    expect(open.choices[0]?.message).toMatchObject({
      reasoning_content: 'Hm.',
      content_blocks: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Four.' },
      ],
    });
    const pieces: Json[] = [];
    for await (const { choices } of await openClient.chat.completions.create({ ...question, stream: true }))
      pieces.push(choices[0]?.delta);
    expect(pieces.map((delta) => delta?.reasoning_content ?? '').join('')).toBe('Hm.');
  });

  test('is a thinking block for clients that speak Anthropic’s dialect', async () => {
    provider.script(gemini.answers(thoughtful));
    const claude = anthropicClient(world, { 'x-gw-provider': '@gem' });
    const message = await claude.messages.create({
      ...question,
      max_tokens: 4_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    });
    expect(message.content as Json).toMatchObject([
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Four.' },
    ]);
    expect(received().json.generationConfig).toEqual({
      maxOutputTokens: 4_000,
      thinkingConfig: { thinkingBudget: 1_024, includeThoughts: true },
    });
    const final = await claude.messages.stream({ ...question, max_tokens: 4_000 }).finalMessage();
    expect(final.content.at(-1)).toMatchObject({ type: 'text', text: 'Four.' });
    expect([final.stop_reason, final.usage.output_tokens]).toEqual(['end_turn', 17]);
  });

  test('is counted beforehand', async () => {
    provider.script(json(200, { totalTokens: 42 }));
    const claude = anthropicClient(world, { 'x-gw-provider': '@gem' });
    const counted = await claude.messages.countTokens({ ...question, system: 'Be brief.' });
    expect(counted.input_tokens).toBe(42);
    expect([received().path, received().json]).toEqual([
      `/v1beta/models/${model}:countTokens`,
      {
        generateContentRequest: {
          model: `models/${model}`,
          systemInstruction: { parts: [{ text: 'Be brief.' }] },
          contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }],
        },
      },
    ]);
  });
});

describe('a fault', () => {
  const failure = (asking: PromiseLike<unknown>): Promise<APIError> =>
    Promise.resolve(asking).then(
      () => Promise.reject(new Error('Nothing failed')),
      (fault: APIError) => fault,
    );

  test('of the provider keeps its status and its words, also as a list of one', async () => {
    const body = { error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED' } };
    for (const sent of [body, [body]]) {
      provider.script(json(429, sent));
      const error = await failure(client.chat.completions.create({ ...question, stream: true }));
      expect([error.status, error.type, error.message]).toEqual([
        429,
        'RESOURCE_EXHAUSTED',
        '429 google error: Quota exceeded.',
      ]);
    }
  });

  test('of the request names the field, and nobody is asked', async () => {
    const error = await failure(
      client.chat.completions.create({ ...question, model: 'gemini-2.0-flash', reasoning_effort: 'high' }),
    );
    expect([error.status, (error.error as Json).field]).toEqual([400, 'reasoning_effort']);
    expect(provider.calls).toEqual([]);
  });

  test('inside a stream is an error, and so is a stream that breaks off', async () => {
    const [first = ''] = gemini.recordsOf(model, { candidates: [{ parts: [{ text: 'Hello there' }] }] });
    const overloaded = gemini.record({
      error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
    });
    provider.script(stream([first, overloaded]));
    expect((await failure(streamed(question))).message).toContain('The model is overloaded.');
    provider.script(stream([first]));
    expect((await failure(streamed(question))).message).toContain('closed the stream before it was complete');
  });

  test('leaves the request as it was for the provider that takes over', async () => {
    const other = await gemini.startGemini(gemini.says('Here.'));
    await world.saveProvider('gem2', 'google', other);
    const config = await world.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@gem' }, { provider: '@gem2' }],
    });
    provider.script(gemini.fault(503, 'UNAVAILABLE', 'overloaded'));
    const fallback = openaiClient(world, { 'x-gw-config': config });
    await fallback.chat.completions.create({
      ...question,
      model: 'gemini-2.0-flash',
      tools: [
        {
          ...now,
          function: { ...now.function, parameters: { ...now.function.parameters, additionalProperties: false } },
        },
      ],
    });
    await other.stop();
    expect(other.calls[0]?.json).toEqual(received().json);
  });
});
