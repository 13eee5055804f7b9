import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { assembled, spoken } from '../../../test/families.ts';
import { events, type Said, usage, whole } from '../../../test/providers/cohere.ts';
import type { JsonObject } from '../provider.ts';
import { cohereFamily } from './family.ts';

const cohere = spoken(cohereFamily, { provider: 'cohere', now: () => 1_760_000_000 });
const lenient = spoken(cohereFamily, { strict: false });
const user = { role: 'user', content: 'Hello' };
const asked = (more: JsonObject) => cohere.asked({ model: 'command-a', messages: [user], ...more });
const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'How it is',
    parameters: { type: 'object', properties: { city: {} } },
    strict: true,
  },
};

describe('a request', () => {
  test("has Cohere's names, and nothing that was not asked for", () => {
    expect(asked({})).toEqual({ model: 'model-1', messages: [user] });
    expect(
      asked({
        max_completion_tokens: 10,
        max_tokens: 5,
        temperature: 0,
        top_p: 0,
        top_k: 3,
        stop: 'END',
        seed: 7,
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
        logprobs: true,
        top_logprobs: 3,
        stream: true,
        user: 'u',
        logit_bias: { 1: 1 },
        parallel_tool_calls: true,
      }),
    ).toEqual({
      model: 'model-1',
      messages: [user],
      max_tokens: 10,
      temperature: 0,
      p: 0,
      k: 3,
      stop_sequences: ['END'],
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      logprobs: true,
      stream: true,
    });
  });

  test("keeps system text in its place, and fields of Cohere's own", () => {
    const documents = [{ id: '1', data: { text: 'Oslo is cold' } }];
    const messages = [{ role: 'developer', content: 'Be brief' }, user, { role: 'system', content: 'And kind' }];
    expect(asked({ messages, documents, safety_mode: 'NONE' })).toMatchObject({
      messages: [{ role: 'system', content: 'Be brief' }, user, { role: 'system', content: 'And kind' }],
      documents,
      safety_mode: 'NONE',
    });
  });

  test.each([
    ['auto', undefined, 2],
    ['required', 'REQUIRED', 2],
    ['none', 'NONE', 2],
    [{ type: 'function', function: { name: 'weather' } }, 'REQUIRED', 1],
  ])('with the tool choice %j', (tool_choice, expected, count) => {
    const other = { type: 'function', function: { name: 'other' } };
    const request = asked({ tools: [weather, other], tool_choice });
    expect(request.tool_choice).toBe(expected);
    expect(request.tools).toHaveLength(count);
    expect(request.strict_tools).toBe(true);
    expect(request.tools[0]).toEqual({
      type: 'function',
      function: { name: 'weather', description: 'How it is', parameters: weather.function.parameters },
    });
  });

  test.each([
    [{ response_format: { type: 'json_object' } }, { response_format: { type: 'json_object' } }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object', $ref: '#/x' } } } },
      { response_format: { type: 'json_object', json_schema: { type: 'object', $ref: '#/x' } } },
    ],
    [{ reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    [{ reasoning_effort: 'low' }, { thinking: { type: 'enabled', token_budget: 1024 } }],
    [{ reasoning_effort: 'high' }, { thinking: { type: 'enabled' } }],
    [{ thinking: { type: 'enabled', budget_tokens: 300 } }, { thinking: { type: 'enabled', token_budget: 300 } }],
  ])('of %j', (more, expected) => {
    expect(asked(more)).toMatchObject(expected);
  });

  test('sends a turn with calls, its plan, and the results that follow', () => {
    const messages = [
      user,
      {
        role: 'assistant',
        content: 'Let me look.',
        reasoning_content: 'I need the weather.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'c2', type: 'function', function: { name: 'other', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'cold' }] },
      { role: 'tool', tool_call_id: 'c2', content: 'gone', is_error: true },
    ];
    expect(asked({ messages }).messages).toEqual([
      user,
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_plan: 'I need the weather.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'c2', type: 'function', function: { name: 'other', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'cold' },
      { role: 'tool', tool_call_id: 'c2', content: 'Error: gone' },
    ]);
  });

  test('shows images by address and by data', () => {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'data:image/png;charset=utf-8;base64,AAAA' } },
    ];
    expect(asked({ messages: [{ role: 'user', content }] }).messages[0].content).toEqual([
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ]);
  });

  const pdf = { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } };
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
  test.each([
    ['n', { n: 2 }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['web_search_options', { web_search_options: {} }],
    ['tools', { tools: [{ type: 'web_search' }] }],
    ['tool_choice', { tools: [weather], tool_choice: { type: 'function', function: { name: 'nothing' } } }],
    ['messages', { messages: [{ role: 'user', content: [pdf] }] }],
    ['messages', { messages: [{ role: 'user', content: [sound] }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] }],
  ])('for what Cohere cannot do is refused, naming %s', (field, more) => {
    expect(() => asked(more)).toThrow(expect.objectContaining({ field }));
  });
});

describe('an answer', () => {
  test('has its text, its usage and its finish', () => {
    expect(cohere.answered(whole({ text: 'Hi!' }))).toEqual({
      id: 'c14c80c3',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'model-1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi!', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 71,
        completion_tokens: 22,
        total_tokens: 93,
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cache_read_input_tokens: 16,
        cache_creation_input_tokens: 0,
      },
      provider: 'cohere',
    });
  });

  test.each([
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['TOOL_CALL', 'tool_calls'],
    ['ERROR_TOXIC', 'content_filter'],
  ])('that ends with %s ends with %s', (finish, expected) => {
    expect(cohere.answered(whole({ text: 'a', finish })).choices[0].finish_reason).toBe(expected);
    expect(lenient.answered(whole({ text: 'a', finish })).choices[0].finish_reason).toBe(finish);
    expect(assembled(cohere.streamed(events({ text: 'a', finish }).join(''))).finish_reason).toBe(expected);
  });

  test.each(['ERROR', 'TIMEOUT'])('that ends with %s is a fault, whole and streamed', (finish) => {
    expect(() => cohere.answered(whole({ text: 'a', finish }))).toThrow();
    expect(() => cohere.streamed(events({ text: 'a', finish, error: 'out of luck' }).join(''))).toThrow('out of luck');
  });

  test('is charged by what is billed where tokens are not told', () => {
    const { tokens: _, ...billed } = usage;
    expect(cohere.answered({ ...whole({ text: 'a' }), usage: billed }).usage).toMatchObject({
      prompt_tokens: 7,
      completion_tokens: 12,
    });
  });

  test('shows thoughts and the plan to clients that are not strict', () => {
    const said = { thinking: 'Hmm.', text: 'Hi!' };
    expect(cohere.answered(whole(said)).choices[0].message.reasoning_content).toBeUndefined();
    expect(lenient.answered(whole(said)).choices[0].message).toMatchObject({
      content: 'Hi!',
      reasoning_content: 'Hmm.',
    });
    const planned = { plan: 'I will look.', calls: [{ id: 'c1', name: 'weather', arguments: '{}' }] };
    expect(lenient.answered(whole(planned)).choices[0].message).toMatchObject({
      content: null,
      reasoning_content: 'I will look.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
    });
  });

  test('cites sources on the web as annotations, and all of them where answers need not be strict', () => {
    const citations = [
      {
        start: 0,
        end: 4,
        text: 'Oslo',
        sources: [{ type: 'document', id: 'd', document: { url: 'https://x.test', title: 'X' } }],
      },
      { start: 5, end: 9, text: 'cold', sources: [{ type: 'tool', id: 'c1:0', tool_output: {} }] },
    ];
    const annotations = [
      { type: 'url_citation', url_citation: { url: 'https://x.test', title: 'X', start_index: 0, end_index: 4 } },
    ];
    const strict = cohere.answered(whole({ text: 'Oslo cold', citations }));
    expect(strict.choices[0].message.annotations).toEqual(annotations);
    expect(strict.citations).toBeUndefined();
    expect(lenient.answered(whole({ text: 'Oslo cold', citations })).citations).toEqual(citations);
    const chunks = lenient.streamed(events({ text: 'Oslo cold', citations }).join(''));
    expect(chunks.flatMap((chunk) => chunk.choices?.[0]?.delta.annotations ?? [])).toEqual(annotations);
    expect(chunks.find((chunk) => chunk.citations)?.citations).toEqual(citations);
  });

  test('tells how probable its tokens are', () => {
    const logprobs = [{ text: 'Hé', token_ids: [1, 2], logprobs: [-0.5, -0.25] }];
    expect(cohere.answered({ ...whole({ text: 'Hé' }), logprobs }).choices[0].logprobs).toEqual({
      content: [{ token: 'Hé', logprob: -0.75, bytes: [72, 195, 169], top_logprobs: [] }],
      refusal: null,
    });
  });

  test('without a message is a fault', () => {
    expect(() => cohere.answered({ id: 'x' })).toThrow('no message');
  });
});

describe('a stream', () => {
  const said: Said = {
    plan: 'I wíll look.',
    text: 'Søme text — 東京',
    calls: [
      { id: 'c1', name: 'weather', arguments: '{"city":"東京"}' },
      { id: 'c2', name: 'now', arguments: '' },
    ],
  };
  const bytes = Buffer.from(events(said).join(''));

  test('gives what the whole answer gives, wherever it is cut', () => {
    const expected = lenient.streamed(bytes);
    expect(assembled(expected)).toMatchObject({
      content: said.text,
      reasoning_content: said.plan,
      tool_calls: [
        { id: 'c1', name: 'weather', arguments: '{"city":"東京"}' },
        { id: 'c2', name: 'now', arguments: '{}' },
      ],
      finish_reason: 'TOOL_CALL',
      usage: { prompt_tokens: 71, completion_tokens: 22 },
      done: true,
    });
    for (let size = 1; size <= 64; size++) expect(lenient.streamed(bytes, size)).toEqual(expected);
  });

  test('that breaks off before its end does not look complete', () => {
    const cut = events(said).slice(0, -1).join('');
    const chunks = cohere.streamed(cut);
    expect(assembled(chunks)).toMatchObject({ finish_reason: null, done: false });
  });

  test('keeps the choice at 0, whichever block speaks', () => {
    const chunks = lenient.streamed(events({ thinking: 'Hmm.', text: 'Hi!' }).join(''));
    expect(
      new Set(chunks.flatMap((chunk) => (chunk.choices ?? []).map(({ index }: { index: number }) => index))),
    ).toEqual(new Set([0]));
  });

  test("with an error inside breaks in the provider's words", () => {
    expect(() => cohere.streamed('data: {"message":"internal server error, this has been reported"}\n\n')).toThrow(
      'internal server error',
    );
    expect(() => cohere.streamed('data: oops\n\n')).toThrow('cannot be read');
  });
});

test('random conversations come back with their text, calls, arguments, ids and order', () => {
  const name = fc.stringMatching(/^[a-z_]{1,12}$/);
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((value) => value.trim() !== '');
  const call = fc.record({ id: fc.uuid(), name, arguments: fc.jsonValue().map((value) => JSON.stringify({ value })) });
  const answer = fc.oneof(
    fc.record({ text }),
    fc.record({
      text,
      plan: text,
      calls: fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, answer), { minLength: 1, maxLength: 4 }), (exchanges) => {
      const messages: JsonObject[] = [];
      for (const [question, said] of exchanges) {
        messages.push({ role: 'user', content: question });
        const whole_ = lenient.answered(whole(said)).choices[0].message;
        const streamed = assembled(lenient.streamed(events(said).join('')));
        expect(streamed.content).toBe(whole_.content);
        messages.push(whole_);
        for (const { id } of 'calls' in said ? said.calls : [])
          messages.push({ role: 'tool', tool_call_id: id, content: `result of ${id}` });
      }
      const expected = exchanges.flatMap(([question, said]): JsonObject[] => [
        { role: 'user', content: question },
        'calls' in said
          ? {
              role: 'assistant',
              content: said.text,
              tool_plan: said.plan,
              tool_calls: said.calls.map(({ id, name: called, arguments: args }) => ({
                id,
                type: 'function',
                function: { name: called, arguments: args },
              })),
            }
          : { role: 'assistant', content: said.text },
        ...('calls' in said ? said.calls : []).map(({ id }) => ({
          role: 'tool',
          tool_call_id: id,
          content: `result of ${id}`,
        })),
      ]);
      expect(asked({ messages }).messages).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});
