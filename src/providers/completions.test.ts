import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../test/call-facts.ts';
import { cut } from '../../test/cut.ts';
import type { Json } from '../../test/harness.ts';
import { generationLines } from '../../test/providers/cohere.ts';
import { cohere } from './cohere/cohere.ts';
import { mistralAi } from './compatible/mistral-ai.ts';
import { ProviderFault } from './faults.ts';
import { triton } from './own/triton.ts';
import type { JsonObject, Provider, ProviderEndpoint } from './provider.ts';
import { watsonx } from './watsonx/watsonx.ts';
import { workersAi } from './workers-ai/workers-ai.ts';

function endpointOf({ endpoints }: Provider): ProviderEndpoint {
  const { complete } = endpoints;
  const endpoint = typeof complete === 'function' ? complete(callFacts()) : complete;
  if (!endpoint) throw new Error('It completes nothing');
  return endpoint;
}

/** The pieces that a client gets of these bytes, read in pieces of this size. */
function streamed(provider: Provider, text: string, size = Number.POSITIVE_INFINITY, told = true): Json[] {
  const { framing = 'sse', translation } = endpointOf(provider);
  const translator = translation?.stream?.(callFacts({ stream: true }));
  const said = cut(text, framing, size).flatMap((event) => translator?.event(event) ?? []);
  const pieces = [...said, ...(translator?.end(told) ?? [])];
  return pieces.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)));
}

const assembled = (pieces: Json[]): Json => {
  const found = pieces.filter((piece) => piece !== '[DONE]');
  return {
    text: found.map(({ choices }) => choices[0].text).join(''),
    finish: found.at(-1)?.choices[0].finish_reason,
    tokens: found.at(-1)?.usage?.total_tokens ?? null,
    done: pieces.at(-1) === '[DONE]',
  };
};

const events = (...pieces: object[]): string => pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join('');
const generation = (generated_text: string, stop_reason: string, counts: object = {}) => ({
  results: [{ generated_text, stop_reason, ...counts }],
});
const watson = events(
  generation('', 'not_finished', { input_token_count: 7 }),
  generation('Grüße ', 'not_finished', { generated_token_count: 2, input_token_count: 0 }),
  generation('👋', 'MAX_TOKENS', { generated_token_count: 3, input_token_count: 0 }),
);

describe.each<[string, Provider, string, Json]>([
  ['Cohere', cohere, generationLines().join(''), { text: ' upon a time', finish: 'stop', tokens: 5, done: true }],
  ['watsonx.ai', watsonx, watson, { text: 'Grüße 👋', finish: 'length', tokens: 10, done: true }],
  [
    'Triton',
    triton,
    events({ text_output: 'Grüße ' }, { text_output: '👋' }),
    { text: 'Grüße 👋', finish: 'stop', tokens: null, done: true },
  ],
  [
    'Workers AI',
    workersAi,
    `${events({ response: 'Grüße ' }, { response: '👋', usage: { prompt_tokens: 2, completion_tokens: 1 } })}data: [DONE]\n\n`,
    { text: 'Grüße 👋', finish: 'stop', tokens: 3, done: true },
  ],
])('a completion of %s', (_, provider, bytes, expected) => {
  test('gives what was said, wherever its stream is cut', () => {
    for (const size of [Number.POSITIVE_INFINITY, 1, 2, 3, 5, 7, 11, 13, 17, 64]) {
      expect(assembled(streamed(provider, bytes, size))).toEqual(expected);
    }
  });
});

test.each([
  ['Cohere', cohere, generationLines().slice(0, -1).join('')],
  ['watsonx.ai', watsonx, events(generation('a', 'not_finished'))],
  ['Triton, whose end nothing marks,', triton, events({ text_output: 'a' })],
])('a completion of %s that breaks off does not look complete', (_, provider, bytes) => {
  expect(assembled(streamed(provider, bytes, 9, false))).toMatchObject({ finish: null, done: false });
});

test('a stream of Triton without a word is none', () => {
  expect(streamed(triton, '')).toEqual([]);
});

test.each([
  ['of Cohere', cohere, '{"is_finished":true,"event_type":"stream-error","err":"overloaded"}\n', 502, 'overloaded'],
  ['that Cohere never sends', cohere, 'what?\n', 502, 'cannot be read'],
  [
    'of watsonx.ai',
    watsonx,
    'event: error\ndata: {"errors":[{"code":"x","message":"slow down"}],"status_code":429}\n\n',
    429,
    'slow down',
  ],
  ['of the model on watsonx.ai', watsonx, events(generation('', 'error')), 502, 'failed'],
  ['of whoever cancelled on watsonx.ai', watsonx, events(generation('', 'cancelled')), 499, 'cancelled'],
  ['of Triton', triton, events({ error: 'out of memory' }), 502, 'out of memory'],
])('an error in a stream is told: %s', (_, provider, bytes, status, words) => {
  const reading = () => streamed(provider, bytes);
  expect(reading).toThrow(ProviderFault);
  expect(reading).toThrow(expect.objectContaining({ status, message: expect.stringContaining(words) }));
});

test('several completions of Cohere are told apart', () => {
  const said = (text: string, index: number) => `${JSON.stringify({ text, index, is_finished: false })}\n`;
  const generations = [{ finish_reason: 'COMPLETE' }, { finish_reason: 'MAX_TOKENS' }];
  const end = `${JSON.stringify({ is_finished: true, response: { generations } })}\n`;
  const pieces = streamed(cohere, said('a', 0) + said('b', 1) + end).slice(0, -1);
  expect(pieces.map(({ choices }) => choices)).toMatchObject([
    [{ index: 0, text: 'a' }],
    [{ index: 1, text: 'b' }],
    [
      { index: 0, finish_reason: 'stop' },
      { index: 1, finish_reason: 'length' },
    ],
  ]);
});

describe('what a provider cannot do is refused by its name', () => {
  const asked = (provider: Provider, body: JsonObject) => {
    const fields = { watsonx_project_id: 'p' };
    return endpointOf(provider).translation?.request?.(callFacts({ fields, body: { prompt: 'Hi', ...body } }));
  };
  const severalThings: [string, JsonObject][] = [
    ['n', { n: 2 }],
    ['best_of', { best_of: 2 }],
  ];
  const others: [string, JsonObject][] = [
    ['stop', { stop: 'END' }],
    ['stop', { stop: ['END'] }],
    ['echo', { echo: true }],
    ['suffix', { suffix: 'x' }],
    ['logprobs', { logprobs: 2 }],
  ];

  test.each([...severalThings, ...others])('by Workers AI: %s in %j', (field, body) => {
    expect(() => asked(workersAi, body)).toThrow(expect.objectContaining({ field }));
  });

  test.each([
    ['Triton', triton],
    ['watsonx.ai', watsonx],
    ['Mistral', mistralAi],
  ])('by %s: more than one completion', (_, provider) => {
    for (const [field, body] of severalThings) {
      expect(() => asked(provider, body)).toThrow(expect.objectContaining({ field }));
    }
  });

  test('by Mistral: the prompt before its completion', () => {
    expect(() => asked(mistralAi, { echo: true })).toThrow(expect.objectContaining({ field: 'echo' }));
  });

  test('but not where nothing is asked for by it', () => {
    const nothing = { n: 1, best_of: 1, stop: [], echo: false, suffix: '', logprobs: null };
    expect(asked(workersAi, { ...nothing, max_tokens: 5, seed: 7 })).toEqual({ prompt: 'Hi', max_tokens: 5, seed: 7 });
    expect(asked(triton, { n: 1, best_of: 1 })).toEqual({ text_input: 'Hi' });
  });
});

describe('an answer of Workers AI', () => {
  const answered = (result: unknown): Json =>
    endpointOf(workersAi).translation?.response({ result, success: true }, callFacts(), {
      status: 200,
      headers: new Headers(),
      bytes: new Uint8Array(),
    });

  test('may hold its text in either of its forms', () => {
    expect(answered({ response: 'Hello' }).choices).toMatchObject([{ text: 'Hello', finish_reason: 'stop' }]);
    expect(answered({ response: '' }).choices).toMatchObject([{ text: '' }]);
    expect(answered({ response: { a: 1 } }).choices).toMatchObject([{ text: '{"a":1}' }]);
    const choices = [{ index: 0, text: 'Hel', finish_reason: 'length' }];
    expect(answered({ choices }).choices).toMatchObject([{ text: 'Hel', finish_reason: 'length' }]);
  });

  test('without a text is no answer', () => {
    for (const result of [{}, { response: null }, { usage: { prompt_tokens: 1 } }, { choices: [] }, null]) {
      expect(() => answered(result)).toThrow(expect.objectContaining({ status: 502 }));
    }
  });

  test('that streams in the newer form gives the same', () => {
    const pieces = [
      { choices: [{ index: 0, text: 'Hel', finish_reason: null }] },
      { choices: [{ index: 0, text: 'lo', finish_reason: 'length' }] },
      { choices: [], usage: { prompt_tokens: 2, completion_tokens: 1 } },
    ];
    expect(assembled(streamed(workersAi, `${events(...pieces)}data: [DONE]\n\n`))).toEqual({
      text: 'Hello',
      finish: 'length',
      tokens: 3,
      done: true,
    });
  });
});
