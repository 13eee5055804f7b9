/** OpenAI's own SDK on the responses route, over a host that has nothing but chat completions. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { APIError, type OpenAI } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { answers, breaksAfter, chatUsage, endsAfter, failure, says } from '../providers/chat-api.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let host: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  host = await startProvider(says('Hello'));
  world = await startWorld({ host: { provider: 'cerebras', simulated: host } });
  client = openaiClient(world, { 'x-gw-provider': '@host' });
});
sharedByTests(
  () => world.gateway,
  () => [host],
);
beforeEach(() => {
  host.script(says('Hello there'));
});

const model = 'gpt-oss-120b';
const question = { model, input: 'Say hello.' };
const received = (index = 0): Json => host.calls[index]?.json;
const usage = {
  input_tokens: 25,
  input_tokens_details: { cached_tokens: 10, cache_write_tokens: 0 },
  output_tokens: 15,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 40,
};
const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
};
const calls = [
  { id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
  { id: 'call_2', name: 'weather', arguments: '{"city":"Paris"}' },
];

describe('a response', () => {
  test('is asked as a chat completion and answered in its own form, with the settings told back', async () => {
    const settings = {
      instructions: 'Be brief.',
      max_output_tokens: 50,
      temperature: 0.5,
      metadata: { team: 'search' },
    };
    const { data, response } = await client.responses.create({ ...question, ...settings }).withResponse();
    expect(data.output_text).toBe('Hello there');
    expect(data as Json).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      status: 'completed',
      model,
      output: [
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello there', annotations: [] }],
        },
      ],
      store: false,
      usage,
      ...settings,
    });
    expect(host.calls[0]?.path).toBe('/v1/chat/completions');
    expect(received()).toEqual({
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Say hello.' },
      ],
      max_completion_tokens: 50,
      temperature: 0.5,
      metadata: { team: 'search' },
    });
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(record).toMatchObject({
      endpoint_type: 'createModelResponse',
      req_units: chatUsage.prompt_tokens,
      res_units: chatUsage.completion_tokens,
      cached_units: 10,
      reasoning_units: 4,
    });
  });

  test('calls tools beside each other, and goes on with their results', async () => {
    host.script(answers({ reasoning: 'Two cities.', tool_calls: calls }), says('Sunny in both.'));
    const asked = { ...question, tools: [weather], tool_choice: 'required' as const };
    const { output } = await client.responses.create(asked);
    expect(output as Json).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Two cities.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call', call_id: 'call_2', name: 'weather', arguments: '{"city":"Paris"}' },
    ]);
    const results = calls.map(({ id }) => ({ type: 'function_call_output' as const, call_id: id, output: 'Sunny' }));
    const input = [{ role: 'user' as const, content: 'Say hello.' }, ...output, ...results];
    const next = await client.responses.create({ ...asked, input: input as OpenAI.Responses.ResponseInput });
    expect(next.output_text).toBe('Sunny in both.');
    expect(received(1)).toMatchObject({
      tool_choice: 'required',
      messages: [
        { role: 'user', content: 'Say hello.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
        { role: 'tool', tool_call_id: 'call_2', content: 'Sunny' },
      ],
    });
  });

  test('is parsed by the SDK where it is structured', async () => {
    host.script(says('{"city":"Rome"}'));
    const format = zodTextFormat(z.object({ city: z.string() }), 'place');
    const { output_parsed } = await client.responses.parse({ ...question, text: { format } });
    expect(output_parsed).toEqual({ city: 'Rome' });
    expect(received().response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'place', strict: true, schema: { properties: { city: { type: 'string' } } } },
    });
  });

  test('shows images, thinks as hard as asked, and takes free text to custom tools', async () => {
    host.script(answers({ tool_calls: [{ id: 'call_1', name: 'run', arguments: '{"input":"ls -l"}' }] }));
    const content = [
      { type: 'input_text' as const, text: 'List it.' },
      { type: 'input_image' as const, image_url: 'data:image/png;base64,AAAA', detail: 'low' as const },
    ];
    const { output } = await client.responses.create({
      model,
      input: [{ role: 'user', content }],
      reasoning: { effort: 'low' },
      tools: [{ type: 'custom', name: 'run' }],
    });
    expect(output as Json).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'run', input: 'ls -l' },
    ]);
    expect(received()).toMatchObject({
      reasoning_effort: 'low',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'List it.' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          ],
        },
      ],
    });
  });

  test('that ran out of tokens is incomplete', async () => {
    host.script(answers({ content: 'Hel', finish_reason: 'length' }));
    const { status, incomplete_details } = await client.responses.create(question);
    expect([status, incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }]);
  });

  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ background: true }, 'background'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ tools: [{ type: 'web_search' as const }] }, 'tools'],
    [{ input: [{ type: 'item_reference' as const, id: 'msg_1' }] }, 'input[0].type'],
  ])('that needs what the host has not is refused by its field: %j', async (more, field) => {
    const fault = await client.responses.create({ ...question, ...more }).catch((thrown) => thrown);
    expect(fault).toBeInstanceOf(APIError);
    expect([fault.status, fault.code, fault.error.field]).toEqual([400, 'invalid_body', field]);
    expect(host.calls).toEqual([]);
  });

  test('is not kept, so that it cannot be read, cancelled or deleted', async () => {
    const faults = [
      await client.responses.retrieve('resp_1').catch((thrown) => thrown),
      await client.responses.delete('resp_1').catch((thrown) => thrown),
      await client.responses.inputItems.list('resp_1').catch((thrown) => thrown),
    ];
    expect(faults.map(({ status, code }) => [status, code])).toEqual(Array(3).fill([400, 'unsupported_endpoint']));
  });
});

describe('a stream', () => {
  test('is put together by the SDK’s helper, in the order of its own API', async () => {
    host.script(answers({ reasoning: 'Hm.', content: 'I look.', tool_calls: calls.slice(0, 1) }));
    const stream = client.responses.stream({ ...question, tools: [weather] });
    const types: string[] = [];
    const snapshots: string[] = [];
    stream.on('response.output_text.delta', ({ snapshot }) => snapshots.push(snapshot));
    for await (const event of stream) {
      expect(event.sequence_number).toBe(types.length);
      types.push(event.type.replace('response.', ''));
    }
    expect(types).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    expect(snapshots).toEqual(['I look', 'I look.']);
    const final = await stream.finalResponse();
    expect(final.output as Json).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'Hm.' }] },
      { type: 'message', content: [{ text: 'I look.' }] },
      { type: 'function_call', call_id: 'call_1', arguments: '{"city":"Rome"}' },
    ]);
    expect(final.usage as Json).toEqual(usage);
    expect(received()).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('is parsed by the SDK where it is structured', async () => {
    host.script(says('{"city":"Rome"}'));
    const format = zodTextFormat(z.object({ city: z.string() }), 'place');
    const final = await client.responses.stream({ ...question, text: { format } }).finalResponse();
    expect(final.output_parsed).toEqual({ city: 'Rome' });
  });

  test('that the host breaks off with an error fails, with what it said', async () => {
    host.script(
      breaksAfter(3, { content: 'Hello there' }, { message: 'Out of capacity', type: 'server_error', code: 503 }),
    );
    const events: Json[] = [];
    for await (const event of await client.responses.create({ ...question, stream: true })) events.push(event);
    const last = events.at(-1);
    expect(last).toMatchObject({
      type: 'response.failed',
      sequence_number: events.length - 1,
      response: { id: events[0].response.id, status: 'failed', error: { message: 'cerebras error: Out of capacity' } },
    });
  });

  test('that is cut off is never taken for whole', async () => {
    host.script(endsAfter(3, { content: 'Hello there' }));
    const final = await client.responses.stream(question).finalResponse();
    expect(final.status).toBe('failed');
    expect(final.error?.message).toContain('closed the stream');
  });
});

test.each([400, 401, 404, 429, 500, 503])('a refusal with %i keeps the host’s status and words', async (status) => {
  host.script(failure(status, 'Not today', 'some_type', 'some_code'));
  const fault = await client.responses.create(question).catch((thrown) => thrown);
  expect(fault).toBeInstanceOf(APIError);
  expect(fault).toMatchObject({ status, code: 'some_code', type: 'some_type' });
  expect(fault.message).toContain('cerebras error: Not today');
});
