import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { call, chunks, completion, fronted, plainUsage } from '../../../test/fronts.ts';
import type { AnswerEvent } from '../chat/answer.ts';
import { ProviderFault } from '../faults.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import type { JsonObject, RawAnswer } from '../provider.ts';
import { openAiFamily, openAiFamilyWith } from './family.ts';
import { reasons } from './reasoning.ts';

const raw: RawAnswer = { status: 200, headers: new Headers(), bytes: new Uint8Array() };
const answered = (answer: unknown) => openAiFamily.response(answer, callFacts(), raw);
const partsOf = (message: object, finish = 'stop') => answered(completion(message, finish)).choices[0]?.parts;
const asked = (body: JsonObject, family = openAiFamily) => {
  const facts = callFacts({ body: { messages: [{ role: 'user', content: 'Hi' }], ...body } });
  return family.request(chatFront.read(facts), facts) as JsonObject;
};

/** The steps that the data of some events are read into. */
function stepsOf(...data: (object | string)[]): AnswerEvent[] {
  const reader = openAiFamily.reader(callFacts());
  const read = data.flatMap((each) =>
    reader.read({ event: null, data: typeof each === 'string' ? each : JSON.stringify(each) }),
  );
  return [...read, ...reader.end()];
}
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason, ...more }],
});
const tool = (more: object, name: string | null, args: unknown) =>
  chunk({ tool_calls: [{ ...more, function: { ...(name !== null && { name }), arguments: args } }] });
const callsIn = (steps: readonly AnswerEvent[]) => {
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const step of steps) {
    if (step.type === 'tool-call') calls[step.call] = { id: step.id, name: step.name, arguments: '' };
    const argued = step.type === 'arguments' ? calls[step.call] : undefined;
    if (step.type === 'arguments' && argued) argued.arguments += step.text;
  }
  return calls;
};

describe('a request', () => {
  const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };

  test('of every setting', () => {
    expect(
      asked({
        max_tokens: 10,
        seed: 7,
        frequency_penalty: 0.5,
        presence_penalty: 0.25,
        n: 2,
        logprobs: true,
        top_logprobs: 2,
        service_tier: 'flex',
        metadata: { a: 'b' },
        logit_bias: { 50256: -100 },
      }),
    ).toEqual({
      model: 'model-1',
      messages: [{ role: 'user', content: 'Hi' }],
      max_completion_tokens: 10,
      seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      n: 2,
      logprobs: true,
      top_logprobs: 2,
      service_tier: 'flex',
      metadata: { a: 'b' },
      logit_bias: { 50256: -100 },
    });
  });

  test('marks the prompt cache, and gives thoughts back, only to servers that take them', () => {
    const body = {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'S', ...cached }] },
        { role: 'user', content: [{ type: 'text', text: 'U', ...cached }] },
        { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [call('c', 'f', '{}')] },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'R', ...cached }] },
      ],
      tools: [{ type: 'function', function: { name: 'f' }, ...cached }],
    };
    expect(JSON.stringify(asked(body))).not.toMatch(/cache_control|Hm\./);
    const marked = asked(body, openAiFamilyWith({ cacheMarks: true, thoughts: 'reasoning_content' }));
    expect(marked.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'S', ...cached }] },
      { role: 'user', content: [{ type: 'text', text: 'U', ...cached }] },
      { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [call('c', 'f', '{}')] },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'R', ...cached }] },
    ]);
    expect(marked.tools).toEqual([{ type: 'function', function: { name: 'f' }, ...cached }]);
  });

  test('names the addresses that must be fetched for it: those of files and sounds, not of images', () => {
    const part = (kind: string, url: string) =>
      kind === 'image' ? { type: 'image_url', image_url: { url } } : { type: 'file', file: { file_url: url } };
    const content = [
      part('image', 'https://a.invalid/x.png'),
      part('file', 'https://a.invalid/x.pdf'),
      part('file', 'https://a.invalid/x.mp3'),
      part('file', 'gs://bucket/x.pdf'),
    ];
    const facts = callFacts({ body: { messages: [{ role: 'user', content }] } });
    expect(openAiFamily.media?.(chatFront.read(facts), facts)).toEqual([
      'https://a.invalid/x.pdf',
      'https://a.invalid/x.mp3',
    ]);
  });
});

test.each([
  ['o3-mini', true],
  ['openai/gpt-oss-120b', true],
  ['gpt-5.2', true],
  ['qwen/qwen3-32b', true],
  ['deepseek-reasoner', true],
  ['Qwen3-235B-A22B-Thinking', true],
  ['gpt-4o', false],
  ['llama-3.3-70b-versatile', false],
  ['mixtral-8x7b', false],
])('whether %s thinks is known: %p', (model, does) => {
  expect(reasons(model)).toBe(does);
});

describe('a whole answer', () => {
  test('keeps what a provider adds, at the place where it adds it', () => {
    const answer = completion({ content: 'Hi', executed_tools: [1] });
    answer.citations = ['https://a.invalid'];
    answer.system_fingerprint = null;
    answer.choices[0].content_filter_results = { hate: {} };
    const { extras, choices, usage } = answered(answer);
    expect(extras).toEqual({ citations: ['https://a.invalid'] });
    expect(choices[0]?.extras).toEqual({ executed_tools: [1], content_filter_results: { hate: {} } });
    expect(usage).toMatchObject({ inputTokens: 20, cacheReadTokens: 5, reasoningTokens: 3 });
  });

  test.each([
    [{ usage: { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 } }, 4],
    [{ usage: { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 4 } }, 4],
    [{ usage: undefined, x_groq: { usage: { prompt_tokens: 9, completion_tokens: 1 } } }, 0],
  ])('counts cached tokens under each of their names: %j', (more, cached) => {
    expect(answered({ ...completion({ content: 'Hi' }), ...more }).usage).toMatchObject({
      inputTokens: 9,
      cacheReadTokens: cached,
    });
  });

  test.each([
    [{ reasoning_content: 'Hm.', content: 'Hi' }],
    [{ reasoning: 'Hm.', content: 'Hi' }],
    [
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
          { type: 'text', text: 'Hi' },
        ],
      },
    ],
  ])('tells thoughts from text: %j', (message) => {
    expect(partsOf(message)).toEqual([
      { type: 'thinking', text: 'Hm.', signature: null },
      { type: 'text', text: 'Hi' },
    ]);
  });

  test('reads calls in the older form, with arguments as an object, and without an id', () => {
    expect(partsOf({ function_call: { name: 'f', arguments: '{"a":1}' } }, 'function_call')).toMatchObject([
      { type: 'tool-call', id: 'call_1', name: 'f', arguments: '{"a":1}' },
    ]);
    expect(
      partsOf({ tool_calls: [{ function: { name: 'f', arguments: { a: 1 } } }, { id: 'x', function: { name: 'g' } }] }),
    ).toMatchObject([
      { id: 'call_1', arguments: '{"a":1}' },
      { id: 'x', arguments: '{}' },
    ]);
  });

  test('that was cut off in a call was cut off', () => {
    const calls = { tool_calls: [call('c', 'f', '{"a')] };
    expect(answered(completion(calls, 'length')).choices[0]?.finish).toBe('length');
    expect(answered(completion(calls, 'stop')).choices[0]?.finish).toBe('tool_calls');
  });

  test('reads a spoken answer as its words and its sound', () => {
    expect(partsOf({ audio: { id: 'a', data: 'UklG', transcript: 'Hello' } })).toMatchObject([
      { type: 'text', text: 'Hello' },
      { type: 'media', kind: 'audio', source: { from: 'data', base64: 'UklG' } },
    ]);
  });

  test.each([[{}], [{ choices: [] }], ['text'], [null]])('without choices is a fault of the provider: %j', (answer) => {
    expect(() => answered(answer)).toThrow(ProviderFault);
  });
});

describe('a stream', () => {
  test('starts once, tells each thing as it comes, and its figures last', () => {
    const logprobs = { content: [{ token: 'Hi', logprob: 0 }] };
    const annotations = [{ type: 'url_citation' }];
    const steps = stepsOf(
      { id: 'x', model: 'm', choices: [], prompt_filter_results: [1] },
      chunk({ role: 'assistant', reasoning: 'Hm' }),
      chunk({ content: 'Hi' }, null, { logprobs }),
      chunk({ refusal: 'No', annotations }),
      chunk({}, 'stop'),
      { choices: [], usage: plainUsage },
      '[DONE]',
    );
    expect(steps).toEqual([
      { type: 'start', id: 'x', model: 'm' },
      { type: 'thinking', choice: 0, text: 'Hm' },
      { type: 'text', choice: 0, text: 'Hi', logprobs },
      { type: 'refusal', choice: 0, text: 'No' },
      { type: 'annotations', choice: 0, annotations },
      { type: 'finish', choice: 0, reason: 'stop', providerReason: 'stop', stopSequence: null },
      { type: 'extras', fields: { prompt_filter_results: [1] } },
      {
        type: 'usage',
        usage: expect.objectContaining({ inputTokens: 20, outputTokens: 10, cacheReadTokens: 5, reasoningTokens: 3 }),
      },
    ]);
  });

  test.each([
    [
      'in order',
      [
        tool({ index: 0, id: 'a' }, 'f', ''),
        tool({ index: 0 }, null, '{"x":1}'),
        tool({ index: 1, id: 'b' }, 'g', '{}'),
      ],
    ],
    ['whole, without index', [tool({ id: 'a' }, 'f', '{"x":1}'), tool({ id: 'b' }, 'g', '{}')]],
    ['all with the same index', [tool({ index: 0, id: 'a' }, 'f', '{"x":1}'), tool({ index: 0, id: 'b' }, 'g', '{}')]],
    ['without index, in pieces', [tool({ id: 'a' }, 'f', '{"x"'), tool({}, null, ':1}'), tool({ id: 'b' }, 'g', '')]],
    [
      'with arguments before the name',
      [tool({ index: 0, id: 'a' }, null, '{"x"'), tool({ index: 0 }, 'f', ':1}'), tool({ index: 1, id: 'b' }, 'g', '')],
    ],
    [
      'with the name in every piece',
      [
        tool({ index: 0, id: 'a' }, 'f', '{"x"'),
        tool({ index: 0, id: 'a' }, 'f', ':1}'),
        tool({ index: 1, id: 'b' }, 'g', {}),
      ],
    ],
    ['numbered from 1', [tool({ index: 1, id: 'a' }, 'f', '{"x":1}'), tool({ index: 2, id: 'b' }, 'g', '{}')]],
  ])('of calls that come %s gives the same calls', (_, pieces) => {
    expect(callsIn(stepsOf(...pieces, chunk({}, 'tool_calls')))).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  test('of calls without id or index gives each an id', () => {
    expect(callsIn(stepsOf(tool({}, 'f', '{}'), tool({}, 'g', '{}'), chunk({}, 'stop')))).toEqual([
      { id: 'call_1', name: 'f', arguments: '{}' },
      { id: 'call_2', name: 'g', arguments: '{}' },
    ]);
  });

  test('of a call in the older form', () => {
    const steps = stepsOf(
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{}' } }),
      chunk({}, 'function_call'),
    );
    expect(callsIn(steps)).toEqual([{ id: 'call_1', name: 'f', arguments: '{}' }]);
    expect(steps.at(-1)).toMatchObject({ type: 'finish', reason: 'tool_calls' });
  });

  test('that called a tool waits for it, whatever the server says', () => {
    expect(stepsOf(tool({ index: 0, id: 'a' }, 'f', '{}'), chunk({}, 'eos')).at(-1)).toMatchObject({
      reason: 'tool_calls',
    });
  });

  test.each([[''], [null]])('whose finish is %j is finished by its terminator alone', (reason) => {
    const said = [chunk({ content: 'Hi' }), chunk({}, reason)];
    expect(stepsOf(...said).some(({ type }) => type === 'finish')).toBe(false);
    expect(stepsOf(...said, '[DONE]').at(-1)).toMatchObject({ type: 'finish', reason: 'stop', providerReason: null });
  });

  test('finishes each choice once', () => {
    const both = { choices: [0, 1].map((index) => ({ index, delta: { content: 'Hi' }, finish_reason: 'stop' })) };
    expect(stepsOf(both, both, '[DONE]').filter(({ type }) => type === 'finish')).toHaveLength(2);
  });

  test('reads the figures in Groq’s own object, and messages in place of deltas', () => {
    const steps = stepsOf(
      { choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] },
      { choices: [], x_groq: { usage: plainUsage } },
    );
    expect(steps[1]).toEqual({ type: 'text', choice: 0, text: 'Hi' });
    expect(steps.at(-1)).toMatchObject({ type: 'usage', usage: { inputTokens: 20 } });
  });

  test.each([
    [{ error: { message: 'Overloaded', code: 503 } }, 503, 'Overloaded'],
    [{ error: { message: 'Bad', code: 'weird' } }, 502, 'Bad'],
    [{ error: 'Plain' }, 502, 'Plain'],
    ['not json', 502, 'cannot be read'],
  ])('that reports %j breaks with the status of it', (event, status, message) => {
    try {
      stepsOf(chunk({ content: 'Hi' }), event);
      throw new Error('Nothing broke');
    } catch (fault) {
      expect(fault).toBeInstanceOf(ProviderFault);
      expect(fault).toMatchObject({ status, message: expect.stringContaining(message) });
    }
  });

  test('cut at every byte gives the same', () => {
    const front = fronted(chatFront);
    const bytes = chunks(
      [{ content: 'Grüße 👋' }, { tool_calls: [{ index: 0, ...call('c', 'f', '{"é":"→"}') }] }],
      'tool_calls',
    );
    const whole = front.streamed(bytes);
    for (let size = 1; size < 40; size++) expect(front.streamed(bytes, {}, size)).toEqual(whole);
  });
});

describe('the field of the older calls', () => {
  const empty = [{}, { name: '', arguments: '' }, { name: null, arguments: null }];

  test.each(empty)('that holds nothing is no call: %p', (function_call) => {
    const { choices } = answered(completion({ content: 'Hello', function_call }));
    expect(choices[0]).toMatchObject({ parts: [{ type: 'text', text: 'Hello' }], finish: 'stop' });
    const steps = stepsOf(chunk({ content: 'Hello', function_call }), chunk({ function_call }, 'stop'), '[DONE]');
    expect(callsIn(steps)).toEqual([]);
    expect(steps.find(({ type }) => type === 'finish')).toMatchObject({ reason: 'stop' });
  });

  test('that holds a call is one', () => {
    const function_call = { name: 'f', arguments: '{"a":1}' };
    expect(partsOf({ function_call }, 'function_call')).toMatchObject([{ type: 'tool-call', name: 'f' }]);
  });
});

describe('sources beside the answer', () => {
  const search_results = [
    { title: 'A', url: 'https://a.test', date: '2026-01-01' },
    { title: 'B', url: 'https://b.test' },
  ];
  const cited = (url: string, title?: string) => ({
    type: 'url_citation',
    url_citation: { url, ...(title !== undefined && { title }) },
  });

  test('are annotations of a whole answer: pages with their titles, else bare addresses', () => {
    const answer = completion({ content: 'Hello' });
    const citations = ['https://a.test', 'https://b.test'];
    expect(answered({ ...answer, search_results, citations }).choices[0]?.annotations).toEqual([
      cited('https://a.test', 'A'),
      cited('https://b.test', 'B'),
    ]);
    expect(answered({ ...answer, citations }).choices[0]?.annotations).toEqual(citations.map((url) => cited(url)));
  });

  test('of a stream are told once, whichever chunks they stand beside', () => {
    const steps = stepsOf(
      { ...chunk({ content: 'Hel' }), search_results: search_results.slice(0, 1) },
      { ...chunk({ content: 'lo' }), search_results },
      { ...chunk({}, 'stop'), search_results },
      '[DONE]',
    );
    expect(steps.flatMap((step) => (step.type === 'annotations' ? step.annotations : []))).toEqual([
      cited('https://a.test', 'A'),
      cited('https://b.test', 'B'),
    ]);
  });
});

test.each([
  ['eos', 'stop'],
  ['STOP', 'stop'],
  ['max_tokens', 'length'],
  ['network_error', 'length'],
  ['some_new_word', 'length'],
  [null, 'stop'],
])('the end "%s" is read as %s', (word, finish) => {
  expect(answered(completion({ content: 'Hello' }, word as string)).choices[0]?.finish).toBe(finish as 'stop');
});
