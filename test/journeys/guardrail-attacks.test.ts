/** Attempts to get a text past guardrails: split, escaped, spelled twice, or hidden where only some readers look. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { guardInput } from '../../src/gateway/guardrails/guard-input.ts';
import { guardOutput } from '../../src/gateway/guardrails/guard-output.ts';
import { reportHooks } from '../../src/gateway/guardrails/report.ts';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import { hideKeys, noSecret, type Spoken, spoken } from '../guardrail-dialects.ts';
import type { Json } from '../harness.ts';
import * as anthropic from '../providers/anthropic.ts';
import * as openai from '../providers/openai.ts';
import { modelResponse } from '../providers/responses.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';

let plane: Plane;
let a: SimulatedProvider;

beforeAll(async () => {
  a = await startProvider();
  plane = startPlane();
  plane.deps.steps = { send: [guardInput], answer: [guardOutput, reportHooks] };
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
  plane.providers.set('claude', savedProvider('claude', { provider: 'anthropic', customHost: a.url }));
});
afterAll(async () => {
  await plane.stop();
  await a.stop();
});
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

describe('a field that is written twice', () => {
  test.each(['chat', 'messages', 'responses'])('is sent as it was checked (%s)', async (name) => {
    const dialect = spoken[name] as Spoken;
    a.script(dialect.says('fine'));
    const hidden = JSON.stringify(dialect.ask('a secret'));
    const shown = JSON.stringify(dialect.ask('hello'));
    const twice = `${hidden.slice(0, -1)},${shown.slice(1)}`;
    const answer = await call(name, { input_guardrails: [noSecret({ deny: true })] }, {}, twice);
    expect(answer.status).toBe(200);
    expect(a.calls[0]?.body.toString()).not.toContain('secret');
    const turned = `${shown.slice(0, -1)},${hidden.slice(1)}`;
    expect((await call(name, { input_guardrails: [noSecret({ deny: true })] }, {}, turned)).status).toBe(446);
    expect(a.calls).toHaveLength(1);
  });
});

describe('input', () => {
  const hidden: [string, string, object][] = [
    [
      'a document',
      'messages',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a secret' } },
    ],
    [
      'blocks of a document',
      'messages',
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a secret' }] } },
    ],
    ['the title of a document', 'messages', { type: 'document', title: 'a secret', source: { type: 'url', url: 'x' } }],
    [
      'a result of a search',
      'messages',
      { type: 'search_result', source: 'x', title: 'y', content: [{ type: 'text', text: 'a secret' }] },
    ],
    [
      'a result of a tool',
      'messages',
      { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'a secret' }] },
    ],
    ['a part of text', 'responses', { type: 'input_text', text: 'a secret' }],
  ];
  test.each(hidden)('in %s is looked at (%s)', async (_, name, part) => {
    const message = { role: 'user', content: [part] };
    const body = name === 'responses' ? { input: [message] } : { messages: [message] };
    const answer = await call(name, { input_guardrails: [noSecret({ deny: true })] }, body);
    expect([answer.status, a.calls.length]).toEqual([446, 0]);
  });

  test('in the output of a function is looked at', async () => {
    const input = [{ type: 'function_call_output', call_id: 'c', output: 'a secret' }];
    expect((await call('responses', { input_guardrails: [noSecret({ deny: true })] }, { input })).status).toBe(446);
  });
});

const chatAnswer = (message: object, more: object = {}) => ({
  ...openai.completion(''),
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine', ...message }, finish_reason: 'stop', ...more }],
});
const messageAnswer = (...content: object[]) => anthropic.message(content);
const responseAnswer = (...output: object[]) => ({ ...modelResponse('fine'), output });

const hiddenAnswers: [string, string, object][] = [
  ['reasoning', 'chat', chatAnswer({ reasoning_content: 'sk-abc' })],
  ['reasoning under its other name', 'chat', chatAnswer({ reasoning: 'sk-abc' })],
  ['a refusal', 'chat', chatAnswer({ refusal: 'sk-abc' })],
  ['the words of a sound', 'chat', chatAnswer({ audio: { id: 'x', transcript: 'sk-abc' } })],
  ['the older form of a call', 'chat', chatAnswer({ function_call: { name: 'f', arguments: '{"a":"sk-abc"}' } })],
  [
    'escapes of an argument',
    'chat',
    chatAnswer({
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"\\u0073k-abc"}' } }],
    }),
  ],
  ['a thought', 'messages', messageAnswer({ type: 'thinking', thinking: 'sk-abc', signature: 's' })],
  [
    'a citation',
    'messages',
    messageAnswer({ type: 'text', text: 'fine', citations: [{ type: 'char_location', cited_text: 'sk-abc' }] }),
  ],
  [
    'a tool of the provider',
    'messages',
    messageAnswer({ type: 'server_tool_use', id: 't', name: 'x', input: { q: 'sk-abc' } }),
  ],
  [
    'a summary of reasoning',
    'responses',
    responseAnswer({ type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'sk-abc' }] }),
  ],
  [
    'reasoning',
    'responses',
    responseAnswer({ type: 'reasoning', id: 'r', summary: [], content: [{ type: 'reasoning_text', text: 'sk-abc' }] }),
  ],
  [
    'a refusal',
    'responses',
    responseAnswer({ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'refusal', refusal: 'sk-abc' }] }),
  ],
  ['code', 'responses', responseAnswer({ type: 'code_interpreter_call', id: 'c', code: 'print("sk-abc")' })],
];

describe('an answer', () => {
  test.each(hiddenAnswers)('in %s is denied and redacted (%s)', async (_, name, answer) => {
    a.script(json(200, answer));
    const no = { 'default.contains': { words: ['sk-'], operator: 'none' }, deny: true };
    expect((await call(name, { output_guardrails: [no] }, {})).status).toBe(446);
    const redacted = await call(name, { output_guardrails: [hideKeys()] }, {});
    const text = await redacted.text();
    expect(redacted.status).toBe(200);
    const { hook_results: _results, ...told } = JSON.parse(text);
    expect(JSON.stringify(told)).not.toMatch(/sk-abc|0073k-abc/);
    expect(JSON.stringify(told)).toContain('[KEY]');
  });

  test('is measured without its reasoning', async () => {
    a.script(json(200, chatAnswer({ reasoning_content: 'one two three four five' })));
    const counted = { 'default.wordCount': { minWords: 1, maxWords: 1 }, deny: true };
    expect((await call('chat', { output_guardrails: [counted] }, {})).status).toBe(200);
  });

  test('that was redacted does not spell itself in log probabilities', async () => {
    const logprobs = { content: [{ token: 'sk-abc', logprob: -0.1, bytes: null, top_logprobs: [] }] };
    a.script(json(200, chatAnswer({ content: 'it is sk-abc' }, { logprobs })));
    expect(await (await call('chat', { output_guardrails: [hideKeys()] }, {})).text()).not.toContain('sk-abc');
  });
});

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
