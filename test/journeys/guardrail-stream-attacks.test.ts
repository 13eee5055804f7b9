/** Attempts to get a text past guardrails in a stream: split over events, in every field that carries text; and what comes back in place of what was replaced. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Plane } from '../gateway-deps.ts';
import { type GuardedPlane, startGuardedPlane } from '../guarded-plane.ts';
import { chatAnswer, hideKeys, responseAnswer, type Spoken, spoken } from '../guardrail-dialects.ts';
import type { Json } from '../harness.ts';
import * as anthropic from '../providers/anthropic.ts';
import * as openai from '../providers/openai.ts';
import { modelResponse } from '../providers/responses.ts';
import { json, type SimulatedProvider, stream } from '../providers/simulated.ts';

let guarded: GuardedPlane;
let plane: Plane;
let a: SimulatedProvider;

beforeAll(async () => {
  guarded = await startGuardedPlane();
  ({ plane, a } = guarded);
});
afterAll(() => guarded.stop());
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  a.calls.length = 0;
  await plane.settled();
});

const call = (name: string, config: object, body: object, raw?: string) => {
  const dialect = spoken[name] as Spoken;
  const headers = { 'x-gw-config': JSON.stringify({ ...dialect.target, ...config }) };
  return plane.call(
    dialect.path,
    { ...dialect.ask('hello'), ...body },
    headers,
    raw === undefined ? {} : { body: raw },
  );
};

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
const chatEnd = [chunk({}, { finish_reason: 'stop' }), 'data: [DONE]\n\n'];
const responseEvent = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const openResponse = responseEvent('response.created', { response: { ...modelResponse('', 'in_progress') } });
const spelled = ['it is s', 'k', '-', 'a', 'bc', ' and more'];

const streams: [string, string, string[]][] = [
  ['reasoning', 'chat', [...spelled.map((part) => chunk({ reasoning_content: part })), ...chatEnd]],
  ['a refusal', 'chat', [...spelled.map((part) => chunk({ refusal: part })), ...chatEnd]],
  [
    'the older form of a call',
    'chat',
    [
      chunk({ function_call: { name: 'f', arguments: '' } }),
      ...['{"a":"', ...spelled, '"}'].map((part) => chunk({ function_call: { arguments: part } })),
      ...chatEnd,
    ],
  ],
  [
    'a tool of its own grammar',
    'chat',
    [
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'f', input: '' } }] }),
      ...spelled.map((part) => chunk({ tool_calls: [{ index: 0, custom: { input: part } }] })),
      ...chatEnd,
    ],
  ],
  [
    'escapes of an argument, split',
    'chat',
    [
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
      ...['{"a":"it \\ud83d', '\\ude00 is \\u00', '73', 'k-', '\\u0061', 'bc and more"}'].map((part) =>
        chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
      ),
      ...chatEnd,
    ],
  ],
  [
    'log probabilities',
    'chat',
    [
      ...spelled.map((part) =>
        chunk(
          { content: part },
          { logprobs: { content: [{ token: part, logprob: -1, bytes: null, top_logprobs: [] }] } },
        ),
      ),
      ...chatEnd,
    ],
  ],
  [
    'a thought',
    'messages',
    [
      anthropic.start,
      anthropic.blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
      ...spelled.map((part) => anthropic.delta(0, { type: 'thinking_delta', thinking: part })),
      anthropic.blockStop(0),
      ...anthropic.end,
    ],
  ],
  [
    'a summary of reasoning',
    'responses',
    [
      openResponse,
      responseEvent('response.output_item.added', {
        output_index: 0,
        item: { type: 'reasoning', id: 'r', summary: [] },
      }),
      ...spelled.map((delta) =>
        responseEvent('response.reasoning_summary_text.delta', {
          item_id: 'r',
          output_index: 0,
          summary_index: 0,
          delta,
        }),
      ),
      responseEvent('response.reasoning_summary_text.done', {
        item_id: 'r',
        output_index: 0,
        summary_index: 0,
        text: spelled.join(''),
      }),
      responseEvent('response.completed', {
        response: responseAnswer({
          type: 'reasoning',
          id: 'r',
          summary: [{ type: 'summary_text', text: spelled.join('') }],
        }),
      }),
    ],
  ],
];

/** Every text of a stream put together: what is split over events is one word again. */
const textsOf = (body: string): string => {
  const texts: string[] = [];
  const read = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) read(inner);
  };
  for (const line of body.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const event: Json = JSON.parse(line.slice(6));
    read([
      event.choices?.map(({ delta, logprobs }: Json) => [delta, logprobs]),
      event.delta,
      event.text,
      event.response,
    ]);
  }
  return texts.join('');
};

describe('a stream', () => {
  for (const manner of ['stream_window', 'buffer_stream'] as const) {
    test.each(streams)(`is redacted in %s (%s, ${manner})`, async (_, name, events) => {
      a.script(stream(events));
      const answer = await call(name, { output_guardrails: [hideKeys({ [manner]: true })] }, { stream: true });
      const body = await answer.text();
      expect(answer.status).toBe(200);
      expect(textsOf(body)).toContain('[KEY]');
      expect(textsOf(body).replaceAll('\\u0073', 's').replaceAll('\\u0061', 'a')).not.toMatch(/s?k-a?bc/);
      expect(textsOf(body)).toContain('and more');
    });

    test.each(streams)(`is stopped in %s (%s, ${manner})`, async (_, name, events) => {
      a.script(stream(events));
      const no = { 'default.contains': { words: ['sk-abc'], operator: 'none' }, deny: true, [manner]: true };
      const answer = await call(name, { output_guardrails: [no] }, { stream: true });
      const body = await answer.text();
      expect(answer.status).toBe(manner === 'buffer_stream' ? 446 : 200);
      expect(textsOf(body)).not.toContain('and more');
      expect(textsOf(body)).not.toContain('sk-abc');
    });
  }
});

describe('what was replaced for the provider', () => {
  const restore = { 'gw.pii': { categories: ['EMAIL_ADDRESS'], redact: true, restore: true } };
  const token = '{{EMAIL_ADDRESS_1}}';
  const mail = 'anna@example.com';
  const ask = { messages: [{ role: 'user', content: `write to ${mail}` }] };

  test('comes back in text and in arguments of tools, whole', async () => {
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: `{"to":"${token}"}` } }];
    a.script(json(200, chatAnswer({ content: `to ${token}`, tool_calls })));
    const body: Json = await (await call('chat', { input_guardrails: [restore] }, ask)).json();
    expect(a.calls[0]?.json.messages[0].content).toBe(`write to ${token}`);
    const { message } = body.choices[0];
    expect([message.content, JSON.parse(message.tool_calls[0].function.arguments)]).toEqual([
      `to ${mail}`,
      { to: mail },
    ]);
  });

  test('comes back in a stream that cuts it anywhere, in text and in arguments', async () => {
    const characters = [...`to ${token}!`];
    const tool = (written: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: written } }] });
    a.script(
      stream([
        ...characters.map((content) => chunk({ content })),
        chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
        ...[...`{"to":"${token}"}`].map(tool),
        ...chatEnd,
      ]),
    );
    const answer = await call('chat', { input_guardrails: [restore] }, { ...ask, stream: true });
    const chunks: Json[] = (await answer.text())
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));
    const text = chunks.map(({ choices }) => choices[0].delta.content ?? '').join('');
    const written = chunks.map(({ choices }) => choices[0].delta.tool_calls?.[0]?.function.arguments ?? '').join('');
    expect([text, JSON.parse(written)]).toEqual([`to ${mail}!`, { to: mail }]);
  });

  test('stays replaced in thoughts, which the provider has signed', async () => {
    a.script(
      stream([
        anthropic.start,
        anthropic.blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
        anthropic.delta(0, { type: 'thinking_delta', thinking: `to ${token}` }),
        anthropic.delta(0, { type: 'signature_delta', signature: 's' }),
        anthropic.blockStop(0),
        anthropic.blockStart(1, { type: 'text', text: '' }),
        anthropic.text(`to ${token}`, 1),
        anthropic.blockStop(1),
        ...anthropic.end,
      ]),
    );
    const answer = await call('messages', { input_guardrails: [restore] }, { ...ask, stream: true });
    const text = await answer.text();
    expect(text).toContain(`"thinking":"to ${token}"`);
    expect(text).toContain(`"text":"to ${mail}"`);
  });

  test('of one request is in no other', async () => {
    a.script(openai.says(`to ${token}`));
    await call('chat', { input_guardrails: [restore] }, ask);
    const other: Json = await (await call('chat', { input_guardrails: [restore] }, {})).json();
    expect(other.choices[0].message.content).toBe(`to ${token}`);
  });
});

describe('several choices of one stream', () => {
  const of = (index: number, content: string) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index, delta: { content }, finish_reason: null }] })}\n\n`;
  const ended = [0, 1].map(
    (index) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index, delta: {}, finish_reason: 'stop' }] })}\n\n`,
  );
  /** A word that is whole only in the second choice, and one that neither has. */
  const events = [
    of(0, 'it is s'),
    of(1, 'it is s'),
    of(0, 'ome'),
    of(1, 'k-abc'),
    of(0, ' thing'),
    ...ended,
    'data: [DONE]\n\n',
  ];

  test('are looked at apart: what stands in one is found there, and pieces of two make nothing', async () => {
    a.script(stream(events));
    const answer = await call('chat', { output_guardrails: [hideKeys({ stream_window: true })] }, { stream: true });
    const texts = ['', ''];
    for (const line of (await answer.text()).split('\n')) {
      if (!line.startsWith('data: {')) continue;
      for (const { index, delta } of JSON.parse(line.slice(6)).choices) texts[index] += delta.content ?? '';
    }
    expect(texts).toEqual(['it is some thing', 'it is [KEY]']);
  });

  test('a pair of halves that is split over events stays one character', async () => {
    const [high = '', low = ''] = ['\ud83d', '\ude00'];
    a.script(stream([of(0, `a${high}`), of(0, `${low}b`), ...ended, 'data: [DONE]\n\n']));
    const answer = await call('chat', { output_guardrails: [hideKeys({ stream_window: true })] }, { stream: true });
    let text = '';
    for (const line of (await answer.text()).split('\n')) {
      if (line.startsWith('data: {')) text += JSON.parse(line.slice(6)).choices[0].delta.content ?? '';
    }
    expect(text).toBe('a\u{1f600}b');
  });
});
