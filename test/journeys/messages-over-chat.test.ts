/** Anthropic's own SDK over a host that has nothing but chat completions: its messages, its stream helper, its tools, its errors. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Anthropic, APIError } from '@anthropic-ai/sdk';
import { anthropicClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { answers, breaksAfter, chatUsage, endsAfter, failure, says } from '../providers/chat-api.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let host: SimulatedProvider;
let world: World;
let client: Anthropic;

beforeAll(async () => {
  host = await startProvider(says('Hello'));
  world = await startWorld({ host: { provider: 'cerebras', simulated: host } });
  client = anthropicClient(world, { 'x-gw-provider': '@host' });
});
sharedByTests(
  () => world.gateway,
  () => [host],
);
beforeEach(() => {
  host.script(says('Hello there'));
});

const model = 'gpt-oss-120b';
const question = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Say hello.' }] };
const received = (index = 0): Json => host.calls[index]?.json;
const usage = {
  input_tokens: 15,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 10,
  output_tokens: 15,
  output_tokens_details: { thinking_tokens: 4 },
};
const weather = {
  name: 'weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};
const calls = [
  { id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
  { id: 'call_2', name: 'weather', arguments: '{"city":"Paris"}' },
];

describe('a message', () => {
  test('is asked as a chat completion and answered in its own form', async () => {
    const { data, response } = await client.messages
      .create({ ...question, system: 'Be brief.', stop_sequences: ['END'] })
      .withResponse();
    expect(data as Json).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'Hello there' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    });
    expect(host.calls[0]?.path).toBe('/v1/chat/completions');
    expect(host.calls[0]?.headers.authorization).toBe('Bearer sk-host-secret');
    expect(received()).toEqual({
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Say hello.' },
      ],
      max_completion_tokens: 100,
      stop: ['END'],
    });
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(record).toMatchObject({
      endpoint_type: 'messages',
      req_units: chatUsage.prompt_tokens,
      res_units: chatUsage.completion_tokens,
      cached_units: 10,
      reasoning_units: 4,
      usage_estimated: false,
    });
  });

  test('without figures of the provider is counted by length', async () => {
    host.script(answers({ content: 'Hello there', usage: null }));
    const { response } = await client.messages.create(question).withResponse();
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(record?.usage_estimated).toBe(true);
    expect(record?.req_units).toBeGreaterThan(0);
  });

  test('shows an image, and is told what it cannot be given', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'AAAA' };
    const content = [
      { type: 'image' as const, source },
      { type: 'text' as const, text: 'What is it?' },
    ];
    await client.messages.create({ ...question, messages: [{ role: 'user', content }] });
    expect(received().messages[0].content).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'text', text: 'What is it?' },
    ]);
    const hosted = { type: 'web_search_20250305' as const, name: 'web_search' as const };
    const fault = await client.messages.create({ ...question, tools: [hosted] }).catch((thrown) => thrown);
    expect(fault).toBeInstanceOf(APIError);
    expect([fault.status, fault.type, fault.error.error.field]).toEqual([400, 'invalid_request_error', 'tools']);
    expect(host.calls).toHaveLength(1);
  });

  test('calls tools beside each other, and goes on with their results', async () => {
    host.script(answers({ reasoning: 'Two cities.', content: 'I look.', tool_calls: calls }), says('Sunny in both.'));
    const asked = { ...question, tools: [weather], tool_choice: { type: 'any' as const } };
    const answer = await client.messages.create(asked);
    expect(answer.stop_reason).toBe('tool_use');
    expect(answer.content as Json).toEqual([
      { type: 'thinking', thinking: 'Two cities.', signature: '' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Rome' } },
      { type: 'tool_use', id: 'call_2', name: 'weather', input: { city: 'Paris' } },
    ]);
    expect(received()).toMatchObject({
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: weather.description, parameters: weather.input_schema },
        },
      ],
      tool_choice: 'required',
    });
    const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'Sunny' }));
    const next = await client.messages.create({
      ...asked,
      messages: [
        ...question.messages,
        { role: 'assistant', content: answer.content },
        { role: 'user', content: results },
      ],
    });
    expect(next.content[0]).toMatchObject({ text: 'Sunny in both.' });
    expect(received(1).messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        // Cerebras wants its thoughts back.
        reasoning: 'Two cities.',
        tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
      { role: 'tool', tool_call_id: 'call_2', content: 'Sunny' },
    ]);
  });

  test('is structured where that is asked, and the SDK parses it', async () => {
    host.script(says('{"city":"Rome"}'));
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const parsed = await client.messages.parse({
      ...question,
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(parsed.content[0]).toMatchObject({ text: '{"city":"Rome"}' });
    expect(received().response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'structured_output', strict: true, schema },
    });
  });

  test('thinks as hard as its budget suggests', async () => {
    await client.messages.create({ ...question, max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 2048 } });
    expect(received().reasoning_effort).toBe('medium');
  });

  test('takes what Claude’s own clients send, cache marks and all', async () => {
    const cache_control = { type: 'ephemeral' as const };
    await client.beta.messages.create({
      ...question,
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
      tools: [{ ...weather, cache_control }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control }] }],
      metadata: { user_id: 'user_1' },
      thinking: { type: 'adaptive' },
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      betas: ['context-management-2025-06-27'],
    });
    expect(JSON.stringify(received())).not.toContain('cache_control');
    expect(received()).toMatchObject({ user: 'user_1' });
    expect(host.calls[0]?.headers['anthropic-beta']).toBeUndefined();
  });
});

describe('a stream', () => {
  test('is put together by the SDK’s helper, event by event', async () => {
    host.script(answers({ reasoning: 'Two cities.', content: 'I look.', tool_calls: calls }));
    const stream = client.messages.stream({ ...question, tools: [weather] });
    const told: string[] = [];
    stream.on('text', (text) => told.push(`text ${text}`));
    stream.on('thinking', (text) => told.push(`thought ${text}`));
    stream.on('contentBlock', ({ type }) => told.push(`block ${type}`));
    const final = await stream.finalMessage();
    expect(told).toEqual([
      'thought Two ci',
      'thought ties.',
      'block thinking',
      'text I look',
      'text .',
      'block text',
      'block tool_use',
      'block tool_use',
    ]);
    expect(final.content as Json).toMatchObject([
      { type: 'thinking', thinking: 'Two cities.' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', input: { city: 'Rome' } },
      { type: 'tool_use', id: 'call_2', input: { city: 'Paris' } },
    ]);
    expect(final.stop_reason).toBe('tool_use');
    expect(final.usage as Json).toEqual(usage);
    expect(received()).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('that the host breaks off with an error ends in one of the SDK’s', async () => {
    host.script(
      breaksAfter(4, { content: 'Hello there' }, { message: 'Out of capacity', type: 'server_error', code: 503 }),
    );
    const stream = client.messages.stream(question);
    const fault = await stream.finalMessage().catch((thrown) => thrown);
    expect(fault).toBeInstanceOf(APIError);
    expect([fault.type, fault.error.error.message]).toEqual(['overloaded_error', 'cerebras error: Out of capacity']);
    expect(stream.currentMessage?.content[0]).toMatchObject({ text: 'Hello there' });
  });

  test('that is cut off is never taken for whole', async () => {
    host.script(endsAfter(3, { content: 'Hello there' }));
    const fault = await client.messages
      .stream(question)
      .finalMessage()
      .catch((thrown) => thrown);
    expect(fault).toBeInstanceOf(APIError);
    expect(fault.error.error.code).toBe('stream_incomplete');
  });
});

test.each([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [503, 'overloaded_error'],
])('a refusal with %i is an error of the kind %s, in the host’s words', async (status, type) => {
  host.script(failure(status, 'Not today', 'some_type'));
  const fault = await client.messages.create(question).catch((thrown) => thrown);
  expect(fault).toBeInstanceOf(APIError);
  expect([fault.status, fault.type, fault.error.error.message]).toEqual([status, type, 'cerebras error: Not today']);
});

test('tokens are counted here where the host cannot, and marked as an estimate', async () => {
  const count = await client.messages.countTokens({
    model,
    messages: question.messages,
    system: 'word '.repeat(1_030),
  });
  expect(count.input_tokens).toBeGreaterThan(1_000);
  expect(count.input_tokens).toBeLessThan(1_100);
  expect((count as Json).estimated).toBe(true);
  expect(host.calls).toEqual([]);
});
