import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { assembled, spoken } from '../../../test/families.ts';
import { events, type Said, whole } from '../../../test/providers/oracle.ts';
import type { JsonObject } from '../provider.ts';
import { oracleFamily } from './oracle.ts';

const fields = { oracle_compartment_id: 'ocid1.compartment' };
const generic = spoken(oracleFamily, { fields, model: 'meta.llama-3.3', strict: false });
const openai = spoken(oracleFamily, { fields, model: 'openai.gpt-5' });
const cohere = spoken(oracleFamily, { fields, model: 'cohere.command-r' });
const user = { role: 'user', content: 'Hello' };
const asked = (more: JsonObject = {}) => generic.asked({ messages: [user], ...more }).chatRequest;
const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'How it is',
    parameters: { type: 'object', properties: { city: { type: 'string', description: 'Where' } }, required: ['city'] },
  },
};

describe('a request in the general format', () => {
  test('says who pays and how the model is served', () => {
    expect(generic.asked({ messages: [user] })).toEqual({
      compartmentId: 'ocid1.compartment',
      servingMode: { servingType: 'ON_DEMAND', modelId: 'meta.llama-3.3' },
      chatRequest: {
        apiFormat: 'GENERIC',
        messages: [{ role: 'USER', content: [{ type: 'TEXT', text: 'Hello' }] }],
        maxTokens: 4000,
      },
    });
    const dedicated = spoken(oracleFamily, {
      fields: { ...fields, oracle_serving_mode: 'DEDICATED' },
      model: 'ocid1.endpoint',
    });
    expect(dedicated.asked({ messages: [user] }).servingMode).toEqual({
      servingType: 'DEDICATED',
      endpointId: 'ocid1.endpoint',
    });
  });

  test.each([
    ['xai.grok-4', { thinking: { type: 'enabled', budget_tokens: 1_000 } }, 'LOW'],
    ['xai.grok-4', { thinking: { type: 'enabled', budget_tokens: 9_000 } }, 'HIGH'],
    ['xai.grok-4', { reasoning_effort: 'xhigh' }, 'HIGH'],
    ['xai.grok-4', { reasoning_effort: 'none' }, 'NONE'],
    ['openai.gpt-5', { reasoning_effort: 'none' }, undefined],
    ['meta.llama-3.3', { thinking: { type: 'enabled', budget_tokens: 9_000 } }, undefined],
  ])('tells %s how hard to think, given %j', (model, reasoning, effort) => {
    const { chatRequest } = spoken(oracleFamily, { fields, model }).asked({ messages: [user], ...reasoning });
    expect(chatRequest.reasoningEffort).toBe(effort);
  });

  test("has OCI's names", () => {
    expect(
      asked({
        max_tokens: 9,
        temperature: 0,
        top_p: 0.5,
        top_k: 4,
        seed: 1,
        stop: ['a'],
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
        n: 2,
        reasoning_effort: 'high',
        verbosity: 'low',
        logit_bias: { 1: 2 },
        store: true,
        parallel_tool_calls: false,
        tools: [weather],
        tool_choice: { type: 'function', function: { name: 'weather' } },
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' }, strict: true } },
        stream: true,
      }),
    ).toMatchObject({
      maxTokens: 9,
      temperature: 0,
      topP: 0.5,
      topK: 4,
      seed: 1,
      stop: ['a'],
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      numGenerations: 2,
      reasoningEffort: 'HIGH',
      verbosity: 'LOW',
      logitBias: { 1: 2 },
      isParallelToolCalls: false,
      tools: [{ type: 'FUNCTION', name: 'weather', description: 'How it is', parameters: weather.function.parameters }],
      toolChoice: { type: 'FUNCTION', name: 'weather' },
      responseFormat: { type: 'JSON_SCHEMA', jsonSchema: { name: 'x', schema: { type: 'object' }, isStrict: true } },
      isStream: true,
      streamOptions: { isIncludeUsage: true },
    });
    expect(openai.asked({ messages: [user], max_tokens: 9 }).chatRequest.maxCompletionTokens).toBe(9);
  });

  test('shows media and keeps text beside calls', () => {
    const image = { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'high' } };
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } };
    const messages = [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: [{ type: 'text', text: 'Look' }, image] },
      { role: 'assistant', content: 'Let me see.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'cold' },
    ];
    expect(asked({ messages }).messages).toEqual([
      { role: 'SYSTEM', content: [{ type: 'TEXT', text: 'Be brief' }] },
      {
        role: 'USER',
        content: [
          { type: 'TEXT', text: 'Look' },
          { type: 'IMAGE', imageUrl: { url: 'https://x.test/a.png', detail: 'HIGH' } },
        ],
      },
      {
        role: 'ASSISTANT',
        content: [{ type: 'TEXT', text: 'Let me see.' }],
        toolCalls: [{ id: 'c1', type: 'FUNCTION', name: 'weather', arguments: '{}' }],
      },
      { role: 'TOOL', toolCallId: 'c1', content: [{ type: 'TEXT', text: 'cold' }] },
    ]);
  });
});

describe("a request in Cohere's format", () => {
  test('sets the last message apart', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
    const messages = [
      { role: 'system', content: 'Be brief' },
      user,
      { role: 'assistant', content: 'Let me see.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'cold' },
    ];
    expect(cohere.asked({ messages, tools: [weather] }).chatRequest).toEqual({
      apiFormat: 'COHERE',
      message: '',
      chatHistory: [
        { role: 'USER', message: 'Hello' },
        { role: 'CHATBOT', message: 'Let me see.', toolCalls: [{ name: 'weather', parameters: { city: 'Oslo' } }] },
      ],
      preambleOverride: 'Be brief',
      tools: [
        {
          name: 'weather',
          description: 'How it is',
          parameterDefinitions: { city: { type: 'string', description: 'Where', isRequired: true } },
        },
      ],
      toolResults: [{ call: { name: 'weather', parameters: { city: 'Oslo' } }, outputs: [{ result: 'cold' }] }],
      maxTokens: 4000,
    });
  });

  test.each([
    ['n', { n: 2 }],
    ['tool_choice', { tools: [weather], tool_choice: 'required' }],
    [
      'messages',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a' } }] }] },
    ],
    [
      'messages',
      {
        messages: [
          user,
          { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }] },
          {
            role: 'tool',
            tool_call_id: 'c1',
            content: [{ type: 'image_url', image_url: { url: 'https://x.test/a' } }],
          },
        ],
      },
    ],
  ])('refuses what it cannot do, naming %s', (field, more) => {
    expect(() => cohere.asked({ messages: [user], ...more })).toThrow(expect.objectContaining({ field }));
  });

  test('is answered with text and calls', () => {
    const said = { text: 'Cold.', calls: [{ id: '', name: 'weather', arguments: '{"city":"Oslo"}' }] };
    expect(cohere.answered(whole(said, 'COHERE')).choices[0]).toMatchObject({
      message: {
        content: 'Cold.',
        tool_calls: [{ id: 'call_1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
      },
      finish_reason: 'tool_calls',
    });
    expect(assembled(cohere.streamed(events({ text: 'Cold and wet.' }, 'COHERE').join('')))).toMatchObject({
      content: 'Cold and wet.',
      finish_reason: 'stop',
      done: true,
    });
  });
});

describe('an answer', () => {
  const said: Said = {
    thinking: 'Hmm, Tokyo…',
    text: 'Søme text — 東京',
    calls: [
      { id: 'c1', name: 'weather', arguments: '{"city":"東京"}' },
      { id: 'c2', name: 'now', arguments: '' },
    ],
  };

  test('has text, thoughts, calls and usage', () => {
    expect(generic.answered(whole(said))).toMatchObject({
      created: 1_760_000_000,
      choices: [
        {
          message: {
            content: said.text,
            reasoning_content: said.thinking,
            tool_calls: [
              { id: 'c1', function: { name: 'weather', arguments: '{"city":"東京"}' } },
              { id: 'c2', function: { name: 'now', arguments: '{}' } },
            ],
          },
        },
      ],
      usage: {
        prompt_tokens: 40,
        completion_tokens: 12,
        prompt_tokens_details: { cached_tokens: 8 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    });
  });

  test.each([
    ['stop', 'stop'],
    ['COMPLETE', 'stop'],
    ['length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['ERROR_TOXIC', 'content_filter'],
  ])('that ends with %s ends with %s', (finish, expected) => {
    const strict = spoken(oracleFamily, { fields });
    expect(strict.answered(whole({ text: 'a', finish })).choices[0].finish_reason).toBe(expected);
    expect(assembled(strict.streamed(events({ text: 'a', finish }).join(''))).finish_reason).toBe(expected);
  });

  test.each([
    ['stop', 'tool_calls'],
    ['length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['ERROR_TOXIC', 'content_filter'],
  ])('with calls that ends with %s ends with %s', (finish, expected) => {
    const strict = spoken(oracleFamily, { fields });
    const calls = [{ id: 'c1', name: 'f', arguments: '{"a":' }];
    expect(strict.answered(whole({ calls, finish })).choices[0].finish_reason).toBe(expected);
    expect(assembled(strict.streamed(events({ calls, finish }).join(''))).finish_reason).toBe(expected);
  });

  test('that the model did not finish is none, also where it called a tool', () => {
    const calls = [{ id: 'c1', name: 'f', arguments: '{}' }];
    expect(() => generic.answered(whole({ calls, finish: 'ERROR' }))).toThrow('ERROR');
    expect(() => generic.streamed(events({ calls, finish: 'ERROR' }).join(''))).toThrow('ERROR');
  });

  test('in Cohere’s format may repeat its calls at its end: they are told once', () => {
    const toolCalls = [{ name: 'weather', parameters: { city: 'Oslo' } }];
    const records = [{ toolCalls }, { text: '', toolCalls, finishReason: 'COMPLETE' }]
      .map((fields) => `data: ${JSON.stringify({ apiFormat: 'COHERE', ...fields })}\n\n`)
      .join('');
    expect(assembled(cohere.streamed(records)).tool_calls).toEqual([
      { id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
    ]);
  });

  test('streamed is the same, wherever it is cut, and its last record counts', () => {
    const bytes = Buffer.from(events(said).join(''));
    const expected = generic.streamed(bytes);
    expect(assembled(expected)).toMatchObject({
      content: said.text,
      reasoning_content: said.thinking,
      tool_calls: [
        { id: 'c1', name: 'weather', arguments: '{"city":"東京"}' },
        { id: 'c2', name: 'now', arguments: '{}' },
      ],
      usage: { prompt_tokens: 40 },
      done: true,
    });
    for (let size = 1; size <= 48; size++) expect(generic.streamed(bytes, size)).toEqual(expected);
    expect(assembled(generic.streamed(events(said).slice(0, -2).join('')))).toMatchObject({
      finish_reason: null,
      done: false,
    });
  });

  test("with a fault in its stream breaks in OCI's words", () => {
    expect(() => generic.streamed('data: {"code":"429","message":"Too many requests"}\n\n')).toThrow(
      'Too many requests',
    );
    expect(() => generic.answered({ id: 1 })).toThrow('no choices');
  });
});

test('random conversations come back with their text, calls, arguments, ids and order', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((value) => value.trim() !== '');
  const call = fc.record({
    id: fc.uuid(),
    name: fc.stringMatching(/^[a-z_]{1,9}$/),
    arguments: fc.jsonValue().map((value) => JSON.stringify({ value })),
  });
  const answer = fc.record({
    text,
    calls: fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
  });
  fc.assert(
    fc.property(text, answer, (question, said) => {
      const message = generic.answered(whole(said)).choices[0].message;
      const streamed = assembled(generic.streamed(events(said).join('')));
      expect(streamed.tool_calls).toEqual(said.calls);
      const results = said.calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: `result of ${id}` }));
      expect(asked({ messages: [{ role: 'user', content: question }, message, ...results] }).messages).toEqual([
        { role: 'USER', content: [{ type: 'TEXT', text: question }] },
        {
          role: 'ASSISTANT',
          content: [{ type: 'TEXT', text: said.text }],
          toolCalls: said.calls.map((made) => ({ ...made, type: 'FUNCTION' })),
        },
        ...said.calls.map(({ id }) => ({
          role: 'TOOL',
          toolCallId: id,
          content: [{ type: 'TEXT', text: `result of ${id}` }],
        })),
      ]);
    }),
    { numRuns: 60 },
  );
});
