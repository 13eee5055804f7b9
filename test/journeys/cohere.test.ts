/** Cohere: its own SDK against the simulated API first, then OpenAI's SDK through the gateway. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { CohereClientV2 } from 'cohere-ai';
import type { OpenAI } from 'openai';
import { openaiClient } from '../clients.ts';
import { startCohere, upstream } from '../cohere-world.ts';
import { sharedByTests } from '../journey.ts';
import { cohereApi, refused, type Said, vectorOf } from '../providers/cohere.ts';
import { lastCall, type SimulatedProvider, stream } from '../providers/simulated.ts';
import type { World } from '../world.ts';

let said: Said = { text: 'Hello there.' };
const simulated = cohereApi('sk-c-secret', () => said);

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
  said = { text: 'Hello there.' };
});

const received = () => lastCall(provider);

const model = '@c/command-a-03-2025';

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
