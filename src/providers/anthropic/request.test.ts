/** Chat requests as Anthropic gets them, row by row of the mapping; the journey tests hold the rest. */
import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { spoken } from '../../../test/families.ts';
import type { Json } from '../../../test/harness.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { anthropicFamily } from './family.ts';
import { anthropicApi } from './surface.ts';

const model = 'claude-sonnet-4-5';
const ask = (body: Json, more: Json = {}): Json =>
  spoken(anthropicFamily(), { model, ...more }).asked({ messages: [{ role: 'user', content: 'Hi' }], ...body });
const user = (content: Json) => ({ messages: [{ role: 'user', content }] });
const refused = (body: Json): Json => {
  try {
    ask(body);
  } catch (fault) {
    return fault;
  }
  return null;
};

describe('messages', () => {
  test('a conversation of nothing but system text is a user’s', () => {
    const { system, messages } = ask({ messages: [{ role: 'system', content: 'Be kind.' }] });
    expect([system, messages]).toEqual([undefined, [{ role: 'user', content: 'Be kind.' }]]);
  });

  test('text of nothing but white space is left out; a message of nothing is a dot', () => {
    expect(
      ask(
        user([
          { type: 'text', text: ' ' },
          { type: 'text', text: 'Hi' },
        ]),
      ).messages[0].content,
    ).toBe('Hi');
    expect(ask(user(' \n')).messages[0].content).toBe('.');
  });

  test('neighbours of one role are one message', () => {
    const { messages } = ask({
      messages: [
        { role: 'user', content: 'One' },
        { role: 'user', content: 'Two' },
      ],
    });
    const blocks = ['One', 'Two'].map((text) => ({ type: 'text', text }));
    expect(messages).toEqual([{ role: 'user', content: blocks }]);
  });

  test('the beginning of an answer does not end in white space, and an empty one is none', () => {
    const last = (content: string) =>
      ask({
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content },
        ],
      }).messages.slice(1);
    expect(last('It is \n')).toEqual([{ role: 'assistant', content: 'It is' }]);
    expect(last(' ')).toEqual([]);
  });

  test('documents: text as text, also where it was fetched; other types are refused', () => {
    const file = (more: Json) => user([{ type: 'file', file: more }]);
    const text = Buffer.from('hello').toString('base64');
    const source = { type: 'text', media_type: 'text/plain', data: 'hello' };
    const plain = ask(file({ file_data: `data:text/plain;base64,${text}`, filename: 'a.txt' }));
    expect(plain.messages[0].content).toEqual([{ type: 'document', source, title: 'a.txt' }]);
    const address = file({ file_url: 'https://a.test/a.md' });
    const family = anthropicFamily();
    const facts = callFacts({ model, body: address });
    expect(family.media?.(chatFront.read(facts), facts)).toEqual(['https://a.test/a.md']);
    const media = new Map([['https://a.test/a.md', { mime: 'text/markdown', base64: text }]]);
    expect(ask(address, { media }).messages[0].content).toEqual([{ type: 'document', source }]);
    const pdf = file({ file_url: 'https://a.test/a.pdf' });
    expect(family.media?.(chatFront.read(callFacts({ body: pdf })), facts)).toEqual([]);
    expect(ask(pdf).messages[0].content[0].source).toEqual({ type: 'url', url: 'https://a.test/a.pdf' });
    expect(refused(file({ file_data: 'data:application/msword;base64,aGk=' })).field).toBe('messages');
  });

  test('a PDF that is sent as an image is a document; images of other types and places are refused', () => {
    const image = (url: string) => user([{ type: 'image_url', image_url: { url } }]);
    expect(ask(image('data:application/pdf;base64,cGRm')).messages[0].content[0].type).toBe('document');
    expect(refused(image('data:image/heic;base64,aGk=')).message).toContain('image/heic');
    expect(refused(image('gs://bucket/cat.png')).message).toContain('http');
  });

  test('results of tools may show images, say that they failed, and be empty', () => {
    const result = (content: Json, more: Json = {}) =>
      ask({
        tools: [{ type: 'function', function: { name: 'f' } }],
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: 'broken' } }],
          },
          { role: 'tool', tool_call_id: 'c', content, ...more },
        ],
      }).messages;
    const [assistant, tool] = result([{ type: 'image_url', image_url: { url: 'data:image/gif;base64,aGk=' } }], {
      is_error: true,
    });
    expect(assistant.content[0].input).toEqual({});
    const source = { type: 'base64', media_type: 'image/gif', data: 'aGk=' };
    expect(tool.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'image', source }], is_error: true },
    ]);
    expect(result('')[1].content).toEqual([{ type: 'tool_result', tool_use_id: 'c' }]);
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    expect(result([{ type: 'text', text: 'ok', cache_control }])[1].content).toEqual([
      { type: 'tool_result', tool_use_id: 'c', content: 'ok', cache_control },
    ]);
  });

  test('ids with characters that are refused stay different from each other', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '' } });
    const { messages } = ask({
      messages: [
        { role: 'assistant', tool_calls: [call('a.b'), call('a:b'), call('a_b')] },
        ...['a:b', 'a.b', 'a_b'].map((tool_call_id) => ({ role: 'tool', tool_call_id, content: tool_call_id })),
      ],
    });
    const ids = messages[0].content.map(({ id }: Json) => id);
    expect(new Set(ids).size).toBe(3);
    expect(messages[1].content.map((result: Json) => [result.tool_use_id, result.content])).toEqual([
      [ids[1], 'a:b'],
      [ids[0], 'a.b'],
      [ids[2], 'a_b'],
    ]);
  });

  test('tools that only the history knows are remembered, but may not be called', () => {
    const call = { id: 'c', type: 'function', function: { name: 'gone', arguments: '{}' } };
    const { tools, tool_choice } = ask({
      messages: [
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'ok' },
      ],
    });
    expect(tools).toEqual([{ name: 'gone', input_schema: { type: 'object', properties: {} } }]);
    expect(tool_choice).toEqual({ type: 'none' });
  });
});

describe('parameters', () => {
  test.each([
    [{}, { max_tokens: 32_000 }],
    [{ max_tokens: 5, max_completion_tokens: 7 }, { max_tokens: 7 }],
    [
      { temperature: 0, top_p: 0 },
      { temperature: 0, top_p: undefined },
    ],
    [
      { top_p: 0, top_k: 3 },
      { top_p: 0, top_k: 3 },
    ],
    [{ temperature: -1 }, { temperature: 0 }],
    [{ stop: ['a', ' ', '\n'] }, { stop_sequences: ['a'] }],
    [{ stop: '\n' }, { stop_sequences: undefined }],
    [{ user: 'ann@example.com' }, { metadata: undefined }],
    [{ user: '+49 228 1234567' }, { metadata: undefined }],
    [{ safety_identifier: 'u-1' }, { metadata: { user_id: 'u-1' } }],
    [{ service_tier: 'auto' }, { service_tier: 'auto' }],
    [{ service_tier: 'flex' }, { service_tier: undefined }],
    [{ service_tier: 'fast' }, { speed: 'fast', service_tier: undefined }],
    [
      { logit_bias: { 1: 2 }, store: true, seed: 1, logprobs: true },
      { logit_bias: undefined, store: undefined },
    ],
    [
      { context_management: { edits: [] }, mcp_servers: [] },
      { context_management: { edits: [] }, mcp_servers: [] },
    ],
    [{ output_config: { effort: 'low' } }, { output_config: { effort: 'low' } }],
    [
      { anthropic_beta: 'a', anthropic_version: 'b' },
      { anthropic_beta: undefined, anthropic_version: undefined },
    ],
  ])('%j is sent as %j', (body, expected) => {
    expect(ask(body)).toEqual({ ...ask({}), ...expected });
  });

  test('what the newest models refuse is left out', () => {
    const { temperature, top_p, top_k } = ask({ temperature: 0.5, top_k: 2 }, { model: 'claude-opus-4-7' });
    expect([temperature, top_p, top_k]).toEqual([undefined, undefined, undefined]);
  });
});

describe('tools', () => {
  const tool = (more: Json, outer: Json = {}) => ({ type: 'function', function: { name: 'f', ...more }, ...outer });

  test('keep every keyword of their schema, and the fields that only this provider knows', () => {
    const parameters = { type: 'string', oneOf: [{}], $defs: { a: {} }, additionalProperties: false, minProperties: 1 };
    const extras = { defer_loading: true, input_examples: [{}], cache_control: { type: 'ephemeral', ttl: '1h' } };
    expect(ask({ tools: [tool({ parameters }, extras)] }).tools).toEqual([
      { name: 'f', input_schema: { ...parameters, type: 'object', properties: {} }, ...extras },
    ]);
    expect(ask({ tools: [tool({})] }).tools).toEqual([{ name: 'f', input_schema: { type: 'object', properties: {} } }]);
  });

  test('are held to their schema where the model can be, in the words that it knows', () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } };
    const [strict] = ask({ tools: [tool({ strict: true, parameters })] }).tools;
    expect(strict).toEqual({
      name: 'f',
      strict: true,
      input_schema: {
        type: 'object',
        properties: { n: { type: 'integer', description: '(minimum: 1)' } },
        additionalProperties: false,
      },
    });
    const [loose] = ask({ tools: [tool({ strict: true, parameters })] }, { model: 'claude-sonnet-4-0' }).tools;
    expect(loose).toEqual({ name: 'f', input_schema: parameters });
  });

  test.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
  ])('the choice %j is %j', (tool_choice, expected) => {
    expect(ask({ tools: [tool({})], tool_choice }).tool_choice).toEqual(expected);
    expect(ask({ tool_choice }).tool_choice).toBeUndefined();
  });

  test('one at a time is a choice of its own', () => {
    const { tool_choice } = ask({ tools: [tool({})], parallel_tool_calls: false });
    expect(tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
  });

  test('that the provider runs pass as they are; folded ones are unfolded; searches are translated', () => {
    const bash = { type: 'bash_20250124', name: 'bash', cache_control: { type: 'ephemeral' } };
    const computer = { type: 'computer', computer: { name: 'computer_20250124', display_width_px: 10 } };
    const search = { type: 'web_search_preview', user_location: { type: 'approximate', city: 'Bonn' } };
    expect(ask({ tools: [bash, computer, search] }).tools).toEqual([
      bash,
      { type: 'computer_20250124', name: 'computer', display_width_px: 10 },
      { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', city: 'Bonn' } },
    ]);
    expect(refused({ tools: [{ type: 'code_interpreter' }] }).field).toBe('tools');
  });

  test('that search keep to the pages that they were allowed', () => {
    const search = { type: 'web_search', filters: { allowed_domains: ['a.test'] } };
    expect(ask({ tools: [search] }).tools).toEqual([
      { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.test'] },
    ]);
    expect(refused({ tools: [{ type: 'web_search', filters: { recency: 'day' } }] }).field).toBe('tools');
  });
});

describe('structured output', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: { type: 'object' } } };
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };
  const onCloud = spoken(anthropicFamily({ ...anthropicApi, structuredOutput: 'tool' }), { model });
  const question = { messages: [{ role: 'user', content: 'Hi' }] };
  const f = { type: 'function', function: { name: 'f' } };

  test('names what it refers to, and closes every object', () => {
    expect(ask({ response_format }).output_config.format.schema).toEqual({
      type: 'object',
      properties: { a: { $ref: '#/$defs/b' } },
      $defs: { b: { type: 'object', additionalProperties: false } },
      additionalProperties: false,
    });
  });

  test('of any form is asked for in words', () => {
    const { system, output_config } = ask({ response_format: { type: 'json_object' } });
    expect([system.length, output_config]).toEqual([1, undefined]);
    expect(system[0].text).toContain('JSON');
  });

  test('by a tool: the client’s own may be called first; a model that thinks cannot be made to', () => {
    const choice = (body: Json) => onCloud.asked({ ...question, response_format, ...body }).tool_choice;
    expect(choice({})).toMatchObject({ type: 'tool', name: 'gw_answer_in_given_form' });
    expect(choice({ tools: [f] })).toMatchObject({ type: 'any' });
    expect(choice({ tools: [f], tool_choice: 'none' })).toMatchObject({
      type: 'tool',
      name: 'gw_answer_in_given_form',
    });
    expect(choice({ tools: [f], tool_choice: { type: 'function', function: { name: 'f' } } })).toEqual({
      type: 'tool',
      name: 'f',
    });
    const thinking = onCloud.asked({ ...question, response_format, reasoning_effort: 'low' });
    expect(thinking.tool_choice).toMatchObject({ type: 'auto' });
    expect(thinking.system[0].text).toContain('gw_answer_in_given_form');
  });
});

test('of more than four marks for the cache the last four stay, and none lasts longer than one before it', () => {
  const marked = (text: string, ttl?: string) => ({
    type: 'text',
    text,
    cache_control: { type: 'ephemeral', ...(ttl && { ttl }) },
  });
  const messages = [
    { role: 'system', content: [marked('a', '1h'), marked('b', '1h')] },
    { role: 'user', content: [marked('c'), marked('d', '1h'), marked('e')] },
  ];
  const ttls = (body: Json): Json[] =>
    [...body.system, ...body.messages[0].content].map(({ cache_control }) => cache_control?.ttl ?? !!cache_control);
  expect(ttls(ask({ messages }))).toEqual([false, '1h', true, '5m', true]);
  expect(ttls(ask({ messages, cache_control: { type: 'ephemeral' } }))).toEqual([false, false, true, '5m', true]);
});

test('nothing of the client’s is changed', () => {
  const body = {
    messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] }],
    tools: [
      { type: 'function', function: { name: 'f', strict: true, parameters: { type: 'object', properties: {} } } },
    ],
  };
  const before = structuredClone(body);
  ask(body);
  expect(body).toEqual(before);
});
