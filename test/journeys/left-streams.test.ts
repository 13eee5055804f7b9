/** Streams that the client leaves in the middle: what was produced until then is billed, whatever it was and in whichever dialect. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import { lastCall, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane();
  provider = await startProvider();
  plane.providers.set('openai', savedProvider('openai', { provider: 'openai', customHost: provider.url }));
  plane.providers.set('anthropic', savedProvider('anthropic', { provider: 'anthropic', customHost: provider.url }));
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});
afterAll(async () => {
  await plane.stop();
  await provider.stop();
});

/** Fifty tokens, as lengths are counted. */
const produced = 'word '.repeat(40);

const chunk = (delta: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const chat = (...deltas: object[]) => [{ role: 'assistant', content: '' }, ...deltas].map(chunk);

const event = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const messages = (block: object, delta: object) => [
  event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 25, output_tokens: 1 },
    },
  }),
  event('content_block_start', { index: 0, content_block: block }),
  event('content_block_delta', { index: 0, delta }),
];
const responses = (type: string) => [
  event('response.created', { sequence_number: 0, response: { id: 'resp_1', status: 'in_progress', output: [] } }),
  event(type, { sequence_number: 1, item_id: 'i', output_index: 0, delta: produced }),
];

const call = { index: 0, id: 'call_1', type: 'function', function: { name: '', arguments: produced } };
const says = messages({ type: 'text', text: '' }, { type: 'text_delta', text: produced });
const thinks = messages({ type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: produced });
const calls = messages(
  { type: 'tool_use', id: 't', name: 'f', input: {} },
  { type: 'input_json_delta', partial_json: produced },
);

const question = { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: 'Tell me.' }], stream: true };
const asked = { model: 'm', input: 'Tell me.', stream: true };

/** Leaves when this many events have come. */
async function recordOfLeaving(slug: string, path: string, body: object, parts: string[], events: number) {
  provider.script(stream(parts, 'stall'));
  const leaving = new AbortController();
  const response = await plane.call(path, body, { 'x-gw-provider': `@${slug}` }, { signal: leaving.signal });
  let text = '';
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString();
    if (text.split('\n\n').length > events) break;
  }
  leaving.abort();
  await lastCall(provider).abandoned;
  const [record] = await plane.settled();
  if (!record) throw new Error('nothing was recorded');
  return record.metrics;
}

async function leave(...call: Parameters<typeof recordOfLeaving>) {
  const {
    response_status_code: status,
    req_units: input,
    res_units: output,
    usage_estimated: estimated,
  } = await recordOfLeaving(...call);
  return { status, input, output, estimated };
}

type Row = [what: string, slug: string, path: string, body: object, parts: string[], events: number];

const rows: Row[] = [
  ['chat: text', 'openai', '/v1/chat/completions', question, chat({ content: produced }), 2],
  ['chat: thoughts', 'openai', '/v1/chat/completions', question, chat({ reasoning_content: produced }), 2],
  ['chat: the arguments of a tool', 'openai', '/v1/chat/completions', question, chat({ tool_calls: [call] }), 2],
  ['messages: text', 'anthropic', '/v1/messages', question, says, 3],
  ['messages: thoughts', 'anthropic', '/v1/messages', question, thinks, 3],
  ['messages: the input of a tool', 'anthropic', '/v1/messages', question, calls, 3],
  ['responses: text', 'openai', '/v1/responses', asked, responses('response.output_text.delta'), 2],
  ['responses: thoughts', 'openai', '/v1/responses', asked, responses('response.reasoning_summary_text.delta'), 2],
  ['responses: arguments', 'openai', '/v1/responses', asked, responses('response.function_call_arguments.delta'), 2],
  ['chat of a model that speaks messages', 'anthropic', '/v1/chat/completions', question, says, 2],
  ['messages of a model that speaks chat', 'openai', '/v1/messages', question, chat({ content: produced }), 3],
];

describe('is billed for what was produced', () => {
  test.each(rows)('%s', async (_, slug, path, body, parts, events) => {
    const billed = await leave(slug, path, body, parts, events);
    expect(billed).toMatchObject({ status: 499, output: 40, estimated: true });
    expect(billed.input).toBeGreaterThan(0);
  });

  test('and keeps the input as the provider counted it', async () => {
    expect((await leave('anthropic', '/v1/messages', question, says, 3)).input).toBe(25);
  });
});

test('a stream that told its usage before the client left is billed as it was told', async () => {
  const end = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } });
  expect(await leave('anthropic', '/v1/messages', question, [...says, end], 4)).toEqual({
    status: 499,
    input: 25,
    output: 7,
    estimated: false,
  });
});

test('what had come of a stream that the client left is not recorded as an error message', async () => {
  const record = await recordOfLeaving('openai', '/v1/chat/completions', question, chat({ content: produced }), 2);
  expect(record.error_message).toBe('Gateway error: the client closed the connection');
});
