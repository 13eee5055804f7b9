/** Ollama's own chat through the real data plane: what is asked, what comes back, whole and line by line. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { readChatStream } from '../../../test/chat-stream.ts';
import { type Plane, startPlane } from '../../../test/gateway-deps.ts';
import { sharedByTests } from '../../../test/journey.ts';
import {
  type Behaviour,
  bytes,
  json,
  type SimulatedProvider,
  startProvider,
} from '../../../test/providers/simulated.ts';
import { lineReader } from './answer.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane();
  provider = await startProvider(json(200, {}));
});
sharedByTests(
  () => plane,
  () => [provider],
);

const counts = { total_duration: 5, prompt_eval_count: 12, eval_count: 5 };
const whole = (message: object, more: object = {}): Behaviour =>
  json(200, {
    model: 'qwen3',
    created_at: '2026-01-02T03:04:05.678Z',
    message: { role: 'assistant', content: '', ...message },
    done: true,
    done_reason: 'stop',
    ...counts,
    ...more,
  });
const line = (message: object, more: object = {}) =>
  `${JSON.stringify({ model: 'qwen3', created_at: '2026-01-02T03:04:05Z', message: { role: 'assistant', content: '', ...message }, done: false, ...more })}\n`;
const last = (more: object = {}) => line({}, { done: true, done_reason: 'stop', ...counts, ...more });
const lines = (...parts: string[]): Behaviour => bytes(200, parts.join(''), { 'content-type': 'application/x-ndjson' });

const ask = (body: object, path = '/v1/chat/completions') =>
  plane.call(
    path,
    { model: 'qwen3', messages: [{ role: 'user', content: 'Hi' }], ...body },
    {
      'x-gw-provider': 'ollama',
      'x-gw-custom-host': provider.url,
    },
  );

describe('a call with fields of Ollama’s own', () => {
  test('is written in its dialect', async () => {
    provider.script(whole({ content: 'Hello' }));
    await ask({
      keep_alive: '5m',
      options: { num_ctx: 4_096, temperature: 0.3 },
      temperature: 0.9,
      max_tokens: 7,
      stop: 'END',
      seed: 0,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      messages: [
        { role: 'developer', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '2' },
      ],
    });
    expect(provider.calls[0]?.path).toBe('/api/chat');
    expect(provider.calls[0]?.json).toEqual({
      model: 'qwen3',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Look', images: ['aGk='] },
        { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: { a: 1 } } }] },
        { role: 'tool', content: '2', tool_name: 'f' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      format: { type: 'object' },
      think: true,
      stream: false,
      options: { num_predict: 7, temperature: 0.3, seed: 0, stop: ['END'], num_ctx: 4_096 },
      keep_alive: '5m',
    });
  });

  test('keeps what a tool shows, that it failed, and what the model refused', async () => {
    provider.script(whole({ content: 'Hello' }));
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    await ask({
      think: false,
      messages: [
        { role: 'user', content: 'Draw' },
        { role: 'assistant', refusal: 'No', content: [{ type: 'refusal', refusal: 'No' }] },
        { role: 'user', content: 'Please' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '' } }] },
        { role: 'tool', tool_call_id: 'c1', is_error: true, content: [{ type: 'text', text: 'half done' }, image] },
      ],
    });
    expect(provider.calls[0]?.json.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'No' },
      { role: 'user', content: 'Please' },
      { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: {} } }] },
      { role: 'tool', content: 'Error: half done', tool_name: 'f' },
      { role: 'user', content: '', images: ['aGk='] },
    ]);
  });

  test.each([
    ['qwen3', 'none', false],
    ['qwen3', 'high', true],
    ['gpt-oss:20b', 'high', 'high'],
  ])('tells %s to think with the effort %s as %p', async (model, reasoning_effort, think) => {
    provider.script(whole({ content: 'Hello' }));
    await ask({ model, reasoning_effort, keep_alive: 0 });
    expect(provider.calls[0]?.json.think).toBe(think);
  });

  test('without them goes to the OpenAI surface', async () => {
    provider.script(json(200, { choices: [] }));
    await ask({ reasoning_effort: 'low' });
    expect(provider.calls[0]).toMatchObject({ path: '/v1/chat/completions', json: { reasoning_effort: 'low' } });
  });

  test('is refused what Ollama cannot do, by the name of the field', async () => {
    const answer = await ask({ think: true, n: 2 });
    expect([answer.status, (await answer.json()).error.message]).toEqual([400, expect.stringContaining('leave n out')]);
    expect(provider.calls).toEqual([]);
  });
});

describe('an answer', () => {
  test('is given in OpenAI’s form', async () => {
    provider.script(whole({ thinking: 'Hm', content: 'Hello' }));
    const body = await (await ask({ think: true })).json();
    expect(body).toMatchObject({
      model: 'qwen3',
      created: 1_767_323_045,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
    });
  });

  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['load', 'stop'],
  ])('that ends by %s ends by %s', async (reason, finish) => {
    provider.script(whole({ content: 'x' }, { done_reason: reason }));
    expect((await (await ask({ think: false })).json()).choices[0].finish_reason).toBe(finish);
  });

  test('with calls of tools gives them ids, and arguments as text', async () => {
    const tool_calls = [{ function: { name: 'f', arguments: { a: 1 } } }, { function: { name: 'g', arguments: {} } }];
    provider.script(whole({ tool_calls }));
    const [choice] = (await (await ask({ think: false })).json()).choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        tool_calls: [
          { type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
    });
    expect(new Set(choice.message.tool_calls.map(({ id }: { id: string }) => id)).size).toBe(2);
  });

  test('that is an error keeps its status and words', async () => {
    provider.script(json(404, { error: 'model "qwen3" not found, try pulling it first' }));
    const answer = await ask({ think: true });
    expect([answer.status, (await answer.json()).error.message]).toEqual([
      404,
      expect.stringContaining('try pulling it first'),
    ]);
  });
});

describe('a stream', () => {
  test('of lines becomes one of events, with its usage', async () => {
    provider.script(lines(line({ content: 'He' }), line({ content: 'llo é' }), last()));
    const read = await readChatStream(
      await ask({ think: false, stream: true, stream_options: { include_usage: true } }),
    );
    expect(read).toMatchObject({ status: 200, text: 'Hello é', done: true });
    expect(read.raw).toContain('"total_tokens":17');
  });

  test('serves clients of other dialects', async () => {
    provider.script(lines(line({ thinking: 'Hm' }), line({ content: 'Hello' }), last()));
    const answer = await ask({ think: true, stream: true, max_tokens: 9 }, '/v1/messages');
    const text = await answer.text();
    expect(text).toContain('"thinking_delta","thinking":"Hm"');
    expect(text).toContain('"text_delta","text":"Hello"');
    expect(text).toContain('event: message_stop');
  });

  test('that breaks off is not told as complete', async () => {
    provider.script(lines(line({ content: 'He' })));
    const read = await readChatStream(await ask({ think: false, stream: true }));
    expect(read).toMatchObject({ text: 'He', done: false, error: { code: 'stream_incomplete' } });
  });

  test('tells an error that comes within it', async () => {
    provider.script(lines(line({ content: 'He' }), '{"error":"out of memory"}\n'));
    const read = await readChatStream(await ask({ think: false, stream: true }));
    expect(read.error?.message).toContain('out of memory');
  });

  test('numbers its calls, and ends by them', () => {
    const reader = lineReader(callFacts().newId);
    const call = (name: string) => line({ tool_calls: [{ function: { name, arguments: { a: 1 } } }] });
    const events = [call('f'), call('g'), last()].flatMap((data) => reader.read({ event: null, data }));
    expect([...events, ...reader.end()]).toEqual([
      { type: 'start', id: null, model: 'qwen3' },
      { type: 'tool-call', choice: 0, call: 0, id: 'call_1', name: 'f', signature: null },
      { type: 'arguments', choice: 0, call: 0, text: '{"a":1}' },
      { type: 'tool-call', choice: 0, call: 1, id: 'call_2', name: 'g', signature: null },
      { type: 'arguments', choice: 0, call: 1, text: '{"a":1}' },
      { type: 'finish', choice: 0, reason: 'tool_calls', providerReason: 'stop', stopSequence: null },
      expect.objectContaining({ type: 'usage', usage: expect.objectContaining({ inputTokens: 12, outputTokens: 5 }) }),
    ]);
  });
});
