/** What is answered otherwise: each mend sets right what differs, whole and chunk by chunk, and leaves the very same object where nothing does. */
import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import { EncodedBody } from '../../encoded-body.ts';
import { ProviderFault } from '../../faults.ts';
import type { JsonObject, ServerEvent } from '../../provider.ts';
import { functionAsCall } from '../gigachat-functions.ts';
import { minimaxFault } from '../minimax-speech.ts';
import {
  contentAsText,
  failures,
  finishReasons,
  type Mend,
  namedChunks,
  thoughtsUnderBothNames,
  wholeCalls,
} from './answers.ts';
import { callAsFunction } from './functions.ts';
import { mended, mendedFamily } from './mended.ts';
import { cacheHits, thoughtsWithin, usageIn } from './usage.ts';

const whole = (message: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: 'a',
  created: 1,
  choices: [{ index: 0, message, finish_reason: 'stop', ...more }],
});
const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: 'a',
  created: 1,
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const finished = (finish_reason: string): JsonObject => whole({ content: 'x' }, { finish_reason });

const changes: [name: string, mend: Mend, before: JsonObject, after: JsonObject][] = [
  ...Object.entries({
    eos: 'stop',
    eos_token: 'stop',
    end_turn: 'stop',
    stop_sequence: 'stop',
    model_length: 'length',
    sensitive: 'content_filter',
    network_error: 'length',
    insufficient_system_resource: 'length',
    error: 'length',
    '': 'stop',
  }).map(([word, meant]): (typeof changes)[number] => [
    `the end "${word}" is ${meant}`,
    finishReasons,
    finished(word),
    finished(meant),
  ]),
  ['an empty word inside a stream is no end', finishReasons, chunk({}, { finish_reason: '' }), chunk({})],
  [
    'thoughts are given under both names',
    thoughtsUnderBothNames,
    whole({ content: 'x', reasoning: 'hm' }),
    whole({ content: 'x', reasoning: 'hm', reasoning_content: 'hm' }),
  ],
  [
    'pieces of thoughts too',
    thoughtsUnderBothNames,
    chunk({ reasoning: 'h' }),
    chunk({ reasoning: 'h', reasoning_content: 'h' }),
  ],
  [
    'a list of thoughts and text is told apart',
    contentAsText,
    whole({
      role: 'assistant',
      content: [
        {
          type: 'thinking',
          thinking: [
            { type: 'text', text: 'h' },
            { type: 'text', text: 'm' },
          ],
        },
        { type: 'text', text: 'a' },
        { type: 'reference', reference_ids: [1] },
        { type: 'text', text: 'b' },
      ],
    }),
    whole({ role: 'assistant', content: 'ab', reasoning_content: 'hm' }),
  ],
  [
    'a summary of thoughts is told apart',
    contentAsText,
    whole({
      content: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'h' }] },
        { type: 'text', text: 'a' },
      ],
    }),
    whole({ content: 'a', reasoning_content: 'h' }),
  ],
  [
    'a piece that is a thought holds no text',
    contentAsText,
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'h' }] }] }),
    chunk({ reasoning_content: 'h' }),
  ],
  [
    'whole calls get their numbers, kinds and ids',
    wholeCalls,
    chunk({
      tool_calls: [
        { id: 'c', function: { name: 'f', arguments: '{}' } },
        { function: { name: 'g', arguments: { a: 1 } } },
      ],
    }),
    chunk({
      tool_calls: [
        { index: 0, id: 'c', function: { name: 'f', arguments: '{}' }, type: 'function' },
        { index: 1, function: { name: 'g', arguments: '{"a":1}' }, id: 'call_1', type: 'function' },
      ],
    }),
  ],
  [
    'a stream without a name gets one',
    namedChunks,
    { id: '', choices: [{ index: 0, delta: {} }] },
    { id: 'chatcmpl-1', choices: [{ index: 0, delta: {} }], created: 1_700_000_000, model: 'model-1' },
  ],
  [
    'hits of the prompt cache are cached tokens',
    cacheHits,
    { usage: { prompt_tokens: 9, prompt_cache_hit_tokens: 4 } },
    { usage: { prompt_tokens: 9, prompt_cache_hit_tokens: 4, prompt_tokens_details: { cached_tokens: 4 } } },
  ],
  [
    'thoughts counted beside the answer belong within it',
    thoughtsWithin,
    {
      usage: {
        prompt_tokens: 5,
        completion_tokens: 2,
        total_tokens: 17,
        completion_tokens_details: { reasoning_tokens: 10 },
      },
    },
    {
      usage: {
        prompt_tokens: 5,
        completion_tokens: 12,
        total_tokens: 17,
        completion_tokens_details: { reasoning_tokens: 10 },
      },
    },
  ],
  [
    'usage is taken out of the provider’s own object',
    usageIn('x_groq'),
    { x_groq: { usage: { prompt_tokens: 1 } } },
    { x_groq: { usage: { prompt_tokens: 1 } }, usage: { prompt_tokens: 1 } },
  ],
  [
    'a call of a function becomes a tool call',
    functionAsCall,
    whole({ function_call: { name: 'f', arguments: { a: 1 } } }, { finish_reason: 'function_call' }),
    whole(
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
      { finish_reason: 'tool_calls' },
    ),
  ],
  [
    'a tool call becomes the call of a function that was asked for',
    callAsFunction,
    whole({ tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] }, { finish_reason: 'tool_calls' }),
    whole({ function_call: { name: 'f', arguments: '{}' } }, { finish_reason: 'function_call' }),
  ],
];

const everyMend = [
  finishReasons,
  thoughtsUnderBothNames,
  contentAsText,
  wholeCalls,
  namedChunks,
  cacheHits,
  thoughtsWithin,
  usageIn('x_groq'),
  functionAsCall,
  callAsFunction,
  failures(minimaxFault),
];

const untouched: JsonObject[] = [
  whole({ role: 'assistant', content: 'Hello' }),
  chunk({ content: 'He' }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a' } }] }),
  { id: 'a', choices: [], created: 1, usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
  { error: { message: 'overloaded' } },
  { base_resp: { status_code: 0, status_msg: '' } },
];

describe('mends', () => {
  test.each(changes)('%s', (_, mend, before, after) => {
    const kept = structuredClone(before);
    expect(mend(callFacts())(before)).toEqual(after);
    expect(before).toEqual(kept);
  });

  test.each(untouched)('what needs no mending stays the very same object: %j', (answer) => {
    for (const mend of everyMend.filter((each) => each !== callAsFunction)) {
      expect(mend(callFacts())(answer)).toBe(answer);
    }
  });

  test('where answers need not be strict, the provider’s own words and blocks are kept', () => {
    const loose = callFacts({ strict: false });
    const content = [{ type: 'text', text: 'a' }];
    expect(finishReasons(loose)(finished('eos'))).toEqual(finished('eos'));
    expect(contentAsText(loose)(whole({ content }))).toEqual(whole({ content: 'a', content_blocks: content }));
  });

  test('calls that come one chunk after the other are numbered on', () => {
    const mend = wholeCalls(callFacts());
    const call = (id: string) =>
      chunk({ tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '' } }] });
    const numbers = [call('a'), call('b')].map((each) => JSON.stringify(mend(each)).match(/"index":(\d),"id"/)?.[1]);
    expect(numbers).toEqual(['0', '1']);
  });

  test('one name serves the whole stream', () => {
    const mend = namedChunks(callFacts());
    const ids = [{ choices: [] }, { choices: [] }].map((each) => mend(each).id);
    expect(ids).toEqual(['chatcmpl-1', 'chatcmpl-1']);
  });

  test.each([
    [1002, 429],
    [1004, 401],
    [1008, 402],
    [2013, 400],
    [1000, 500],
  ])('the failure %i of MiniMax stands for status %i', (code, status) => {
    const mend = failures(minimaxFault)(callFacts());
    const broken = () => mend({ base_resp: { status_code: code, status_msg: 'no' } });
    expect(broken).toThrow(new ProviderFault(status, 'no', { code: String(code) }));
    expect(minimaxFault({ base_resp: { status_code: code, status_msg: 'no' } })).toMatchObject({ status });
  });
});

describe('answers with their mends', () => {
  const raw = (text: string) => ({
    status: 200,
    headers: new Headers({ 'content-type': 'application/json; charset=utf-8' }),
    bytes: Buffer.from(text),
  });
  const { response, stream } = mended([thoughtsUnderBothNames]);

  test('an answer that needs none keeps its bytes and their type', () => {
    const text = ' {"choices" : [ ]}\n';
    const answer = response(JSON.parse(text), callFacts(), raw(text));
    if (!(answer instanceof EncodedBody)) throw new Error('the answer was written anew');
    expect(answer.contentType).toBe('application/json; charset=utf-8');
    expect(Buffer.from(answer.bytes).toString()).toBe(text);
  });

  test('events that need none stay as they are, [DONE] and broken ones too', () => {
    const translator = stream?.(callFacts());
    for (const data of ['[DONE]', '{"choices":[', ' {"choices":[ ]}']) {
      const event: ServerEvent = { event: null, data };
      expect(translator?.event(event)).toEqual([event]);
    }
    expect(translator?.end()).toEqual([]);
  });

  test('clients of other dialects are given the mended answer', () => {
    const family = mendedFamily([contentAsText, failures(minimaxFault)]);
    const content = [
      { type: 'thinking', thinking: [{ text: 'h' }] },
      { type: 'text', text: 'a' },
    ];
    const facts = callFacts();
    expect(family.response(whole({ content }), facts, raw('')).choices[0]?.parts).toEqual([
      { type: 'thinking', text: 'h', signature: null },
      { type: 'text', text: 'a' },
    ]);
    const reader = family.reader(facts);
    expect(reader.read({ event: null, data: JSON.stringify(chunk({ content })) })).toContainEqual({
      type: 'thinking',
      choice: 0,
      text: 'h',
    });
    const failed = { event: null, data: '{"base_resp":{"status_code":1002,"status_msg":"slow down"}}' };
    expect(() => reader.read(failed)).toThrow('slow down');
  });
});
