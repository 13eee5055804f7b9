/** Attempts to get a text past guardrails: split, escaped, spelled twice, or hidden where only some readers look. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Plane } from '../gateway-deps.ts';
import { type GuardedPlane, startGuardedPlane } from '../guarded-plane.ts';
import { chatAnswer, hideKeys, noSecret, responseAnswer, type Spoken, spoken } from '../guardrail-dialects.ts';
import * as anthropic from '../providers/anthropic.ts';
import { json, type SimulatedProvider } from '../providers/simulated.ts';

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

const messageAnswer = (...content: object[]) => anthropic.message(content);

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
