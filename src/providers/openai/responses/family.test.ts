import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { callFacts } from '../../../../test/call-facts.ts';
import { checkedMessage } from '../../../../test/event-grammar.ts';
import { fronted } from '../../../../test/fronts.ts';
import type { Json } from '../../../../test/harness.ts';
import { modelResponse, responseEvents } from '../../../../test/providers/responses.ts';
import { ProviderFault, RequestFault } from '../../faults.ts';
import { chatFront } from '../../fronts/chat/chat.ts';
import { messagesFront } from '../../fronts/messages/messages.ts';
import { responsesFront } from '../../fronts/responses/responses.ts';
import type { JsonObject } from '../../provider.ts';
import { openai } from '../openai.ts';
import { responsesFamily } from './family.ts';

const front = fronted(messagesFront, { model: 'gpt-5-pro' }, responsesFamily);
const ask = (more: JsonObject) =>
  front.asked({ max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...more });
const proof = 'rs_1.gAAAA.encrypted';
const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'One.' },
    { type: 'summary_text', text: 'Two.' },
  ],
  encrypted_content: 'gAAAA.encrypted',
};
const called = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'c1',
  name: 'f',
  arguments: '{"a":1}',
  status: 'completed',
};

describe('a request', () => {
  test('is for a response that is not kept', () => {
    expect(
      ask({
        system: 'Be brief.',
        temperature: 1,
        thinking: { type: 'enabled', budget_tokens: 2048 },
        tools: [{ name: 'f', input_schema: { type: 'object' } }],
        tool_choice: { type: 'tool', name: 'f' },
        output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: {} } } },
        stream: true,
      }),
    ).toEqual({
      model: 'gpt-5-pro',
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }],
      tool_choice: { type: 'function', name: 'f' },
      max_output_tokens: 100,
      temperature: 1,
      reasoning: { effort: 'medium', summary: 'auto' },
      text: {
        format: {
          type: 'json_schema',
          name: 'structured_output',
          schema: { type: 'object', properties: {}, additionalProperties: false },
          strict: true,
        },
      },
      store: false,
      include: ['reasoning.encrypted_content'],
      stream: true,
    });
  });

  test('gives turns back item by item, thoughts with their proof', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: proof },
          { type: 'thinking', thinking: 'Of another.', signature: 'EqoB' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'No', is_error: true },
          { type: 'text', text: 'And?' },
        ],
      },
    ];
    expect(ask({ messages }).input).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'gAAAA.encrypted',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
      },
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'Error: No' },
      { role: 'user', content: 'And?' },
    ]);
  });

  test('for what the API has no word for is refused', () => {
    expect(() => ask({ stop_sequences: ['END'] })).toThrow(RequestFault);
    expect(() => ask({ tools: [{ type: 'web_search_20250305', name: 'w' }] })).toThrow(RequestFault);
  });
});

describe('an answer', () => {
  test('is read whole: thoughts, text, calls, usage', () => {
    const answer = { ...modelResponse('Hello'), output: [reasoning, ...modelResponse('Hello').output, called] };
    expect(front.answered(answer)).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'One.\n\nTwo.', signature: proof },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 12, output_tokens: 6, output_tokens_details: { thinking_tokens: 2 } },
    });
  });

  test.each([
    ['max_output_tokens', 'max_tokens'],
    ['content_filter', 'refusal'],
  ])('that is incomplete for %s stopped for %s', (reason, stop) => {
    const answer = { ...modelResponse('Hel'), status: 'incomplete', incomplete_details: { reason } };
    expect(front.answered(answer).stop_reason).toBe(stop);
  });

  test('that failed, or is none, is a fault of the provider', () => {
    expect(() =>
      front.answered({ ...modelResponse(''), status: 'failed', error: { code: 'server_error', message: 'Oh' } }),
    ).toThrow('Oh');
    expect(() => front.answered({})).toThrow(ProviderFault);
  });
});

describe('a stream', () => {
  test('is read as its own API sends it', () => {
    const message = checkedMessage(front.streamed(responseEvents(['Hel', 'lo']).join('')));
    expect(message).toMatchObject({
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: { output_tokens: 6 },
    });
  });

  test('that fails breaks, and one that is cut off has no end', () => {
    const failed = { type: 'response.failed', response: { error: { code: 'server_error', message: 'Oh' } } };
    expect(() => front.streamed(`data: ${JSON.stringify(failed)}\n\n`)).toThrow('Oh');
    expect(() => front.streamed('data: {"type":"error","message":"Ah","code":null}\n\n')).toThrow('Ah');
    expect(front.streamed(responseEvents(['Hel']).slice(0, 5).join('')).at(-1)?.event).toBe('content_block_delta');
  });

  test('of whatever a client of that API would be told reads as the same', () => {
    const words = fc.string({ minLength: 1, maxLength: 8 });
    const part = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: words }),
      fc.record({ type: fc.constant('thinking' as const), text: words, signature: fc.constant(null) }),
      fc.record({ type: fc.constant('refusal' as const), text: words }),
      fc.record({
        type: fc.constant('tool-call' as const),
        id: words,
        name: words,
        arguments: fc.constantFrom('{}', '{"a":[1]}'),
        signature: fc.constant(null),
      }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const facts = callFacts();
        const choice = {
          index: 0,
          parts,
          finish: 'stop',
          providerFinish: null,
          stopSequence: null,
          logprobs: null,
          annotations: [],
          extras: {},
        } as const;
        const answer = { id: null, model: null, created: null, choices: [choice], usage: null, extras: {} };
        const whole = responsesFamily.response(responsesFront.write(answer, facts), facts, {
          status: 200,
          headers: new Headers(),
          bytes: new Uint8Array(),
        });
        const again = responsesFront.write({ ...whole, id: null }, callFacts());
        const once = responsesFront.write(answer, callFacts());
        expect(withoutIds(again)).toEqual(withoutIds(once));
      }),
      { numRuns: 200 },
    );
  });
});

const withoutIds = (response: Json): Json =>
  JSON.parse(JSON.stringify(response).replace(/"(?:resp|msg|rs|fc)_\d+"/g, '"id"'));

describe('a chat completion', () => {
  const chatting = fronted(chatFront, { model: 'o3-deep-research' }, responsesFamily);
  const asked = (more: JsonObject) => chatting.asked({ messages: [{ role: 'user', content: 'Hi' }], ...more });

  test('has its settings in their places', () => {
    const { input: _, ...rest } = asked({
      max_tokens: 9,
      reasoning_effort: 'high',
      verbosity: 'low',
      response_format: { type: 'json_object' },
      logit_bias: { 1: 2 },
      prediction: { type: 'content', content: 'x' },
      modalities: ['text'],
      prompt_cache_key: 'k',
      store: true,
      logprobs: true,
      top_logprobs: 2,
    });
    expect(rest).toEqual({
      model: 'o3-deep-research',
      max_output_tokens: 9,
      reasoning: { effort: 'high' },
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      prompt_cache_key: 'k',
      store: true,
      top_logprobs: 2,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    });
  });

  test('may use the tools that OpenAI runs, and search the web by a setting', () => {
    const user_location = { type: 'approximate', approximate: { city: 'Oslo' } };
    const { tools } = asked({
      tools: [{ type: 'web_search_preview' }, { type: 'mcp', server_label: 'm', server_url: 'https://m.test' }],
      web_search_options: { search_context_size: 'low', user_location },
    });
    expect(tools).toEqual([
      { type: 'web_search_preview' },
      { type: 'mcp', server_label: 'm', server_url: 'https://m.test' },
      { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Oslo' } },
    ]);
  });

  test.each([
    ['tools', { tools: [{ type: 'web_search_20250305' }] }],
    ['modalities', { modalities: ['text', 'audio'], audio: { voice: 'x' } }],
    ['frequency_penalty', { frequency_penalty: 0.5 }],
    ['presence_penalty', { presence_penalty: -1 }],
    ['stop', { stop: 'END' }],
    ['n', { n: 2 }],
  ])('is refused for what its model cannot do, naming %s', (field, more) => {
    expect(() => asked(more)).toThrow(expect.objectContaining({ field }));
  });

  test.each([
    ['gpt-5-pro', '/responses'],
    ['o1-pro', '/responses'],
    ['o4-mini-deep-research-2025-06-26', '/responses'],
    ['gpt-5', null],
    ['gpt-4o', null],
  ])('of %s goes to %s', (model, path) => {
    const { chatComplete } = openai.endpoints;
    const endpoint = typeof chatComplete === 'function' ? chatComplete(callFacts({ model })) : chatComplete;
    expect<unknown>(endpoint?.path ?? null).toBe(path);
  });
});

describe('messages at OpenAI', () => {
  const { messages } = openai.endpoints;
  const path = (model: string, beta: string | null = null) => {
    const endpoint =
      typeof messages === 'function' ? messages(callFacts({ model, clientHeader: () => beta })) : messages;
    return endpoint?.path ?? null;
  };

  test.each(['gpt-5-pro', 'o3-pro-2025-06-10', 'gpt-5.1-codex-max', 'codex-mini-latest'])(
    'are responses for %s, which has no chat',
    (model) => {
      expect(path(model)).toBe('/responses');
    },
  );

  test('are chat for other models, unless the client asks otherwise', () => {
    expect([path('gpt-5'), path('gpt-4o'), path('o3')]).toEqual([null, null, null]);
    expect(path('gpt-4o', 'other, use-responses-api-2026-07-30')).toBe('/responses');
  });
});

test('a stream may end as chat does', () => {
  const stream = `${responseEvents(['Hello']).join('')}data: [DONE]\n\n`;
  expect(checkedMessage(front.streamed(stream)).content).toMatchObject([{ type: 'text', text: 'Hello' }]);
});
