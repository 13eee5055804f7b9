import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import { fronted } from '../../../../test/fronts.ts';
import { RequestFault } from '../../faults.ts';
import type { JsonObject } from '../../provider.ts';
import { seal } from '../sealed.ts';
import { messagesFront } from './messages.ts';

const front = fronted(messagesFront);
const ask = (more: JsonObject) =>
  front.asked({ model: 'model-1', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...more });
const asked = (messages: readonly object[]) => ask({ messages }).messages;
const fault = (more: JsonObject): RequestFault => {
  try {
    ask(more);
  } catch (thrown) {
    if (thrown instanceof RequestFault) return thrown;
    throw thrown;
  }
  throw new Error('Nothing was refused');
};

describe('a request', () => {
  test('of plain text keeps its limit, sampling, stops and user', () => {
    expect(
      ask({ temperature: 0, top_p: 0.5, stop_sequences: ['END', '\n\n'], metadata: { user_id: 'u-1' }, stream: true }),
    ).toEqual({
      model: 'model-1',
      messages: [{ role: 'user', content: 'Hi' }],
      max_completion_tokens: 100,
      temperature: 0,
      top_p: 0.5,
      stop: ['END', '\n\n'],
      user: 'u-1',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('has its system text first, blocks on lines of their own', () => {
    const system = [
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Be kind.' },
    ];
    expect(ask({ system }).messages[0]).toEqual({ role: 'system', content: 'Be brief.\nBe kind.' });
    expect(ask({ system: 'Be brief.' }).messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
    expect(
      asked([
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Now in French.' },
      ])[1],
    ).toEqual({
      role: 'system',
      content: 'Now in French.',
    });
  });

  test('leaves out what only its own provider can heed, and hands on what nobody knows', () => {
    const own = {
      top_k: 5,
      service_tier: 'auto',
      cache_control: { type: 'ephemeral' },
      container: 'c',
      context_management: { edits: [] },
      inference_geo: 'us',
      mcp_servers: [],
      anthropic_beta: ['x'],
      speed: 'fast',
    };
    expect(ask({ ...own, something_new: { deep: 1 } })).toEqual({
      model: 'model-1',
      messages: [{ role: 'user', content: 'Hi' }],
      max_completion_tokens: 100,
      something_new: { deep: 1 },
    });
  });

  test.each([
    [{ max_tokens: undefined }, 'max_tokens', 'max_tokens is missing'],
    [{ max_tokens: 'ten' }, 'max_tokens', 'max_tokens must be a number'],
    [{ messages: [] }, 'messages', 'messages must hold at least one message'],
    [{ messages: [{ role: 'robot', content: 'Hi' }] }, 'messages[0].role', 'must be one of user, assistant, system'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content', 'messages[0].content is missing'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text', 'is missing'],
    [
      { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] },
      'messages[0].content[0].type',
      'container_upload',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'magic' } }] }] },
      'messages[0].content[0].source.type',
      'must be base64, url or file',
    ],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools', 'web_search_20250305'],
    [{ mcp_servers: [{ type: 'url', url: 'https://mcp.invalid' }] }, 'mcp_servers', 'MCP'],
    [{ tool_choice: { type: 'some' } }, 'tool_choice.type', 'must be auto, any, tool or none'],
    [{ thinking: { type: 'maybe' } }, 'thinking.type', 'must be enabled, adaptive or disabled'],
    [{ output_config: { format: { type: 'yaml' } } }, 'output_config.format.type', 'must be json_schema'],
    [{ stop_sequences: [7] }, 'stop_sequences', 'must be a string or a list of strings'],
  ])('that is wrong is refused by the path of its field: %j', (more, field, message) => {
    const thrown = fault(more);
    expect(thrown.field).toBe(field);
    expect(thrown.message).toContain(message);
  });
});

describe('content', () => {
  test('with images by data, address and file', () => {
    const content = [
      { type: 'text', text: 'Look:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://images.invalid/cat' } },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    ];
    expect(asked([{ role: 'user', content }])[0].content).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'image_url', image_url: { url: 'https://images.invalid/cat' } },
      { type: 'file', file: { file_id: 'file_1' } },
    ]);
  });

  test('with documents of each source, what they are about before them', () => {
    const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more });
    const content = [
      document(
        { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
        { title: 'a.pdf', context: 'Read it.' },
      ),
      document({ type: 'text', media_type: 'text/plain', data: 'Words.' }, { title: 'Notes' }),
      document(
        {
          type: 'content',
          content: [
            { type: 'text', text: 'One' },
            { type: 'text', text: 'Two' },
          ],
        },
        { title: 'T' },
      ),
      document({ type: 'file', file_id: 'file_2' }),
    ];
    expect(asked([{ role: 'user', content }])[0].content).toEqual([
      { type: 'text', text: 'Read it.' },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
      { type: 'text', text: 'Notes\n\nWords.' },
      { type: 'text', text: 'T' },
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Two' },
      { type: 'file', file: { file_id: 'file_2' } },
    ]);
  });

  test('with a document by address is given whole, as it was fetched', () => {
    const url = 'https://papers.invalid/a.pdf';
    const held = fronted(messagesFront, { media: new Map([[url, { mime: 'application/pdf', base64: 'JVBE' }]]) });
    const content = [{ type: 'document', title: 'Paper', source: { type: 'url', url } }];
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content }] };
    expect(held.asked(body).messages[0].content).toEqual([
      { type: 'file', file: { filename: 'Paper', file_data: 'data:application/pdf;base64,JVBE' } },
    ]);
  });

  test('with a search result is its title, source and text', () => {
    const content = [
      {
        type: 'search_result',
        title: 'Rome',
        source: 'https://rome.invalid',
        content: [{ type: 'text', text: 'Old.' }],
      },
    ];
    expect(asked([{ role: 'user', content }])[0].content).toBe('Rome\nhttps://rome.invalid\nOld.');
  });
});

describe('tools', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

  test('are functions, and each choice has its word', () => {
    const tools = [{ name: 'weather', description: 'Tells it.', input_schema: schema, strict: true }];
    const choose = (tool_choice: object) => {
      const { tool_choice: chosen, parallel_tool_calls: parallel } = ask({ tools, tool_choice });
      return [chosen, parallel];
    };
    expect(ask({ tools }).tools).toEqual([
      { type: 'function', function: { name: 'weather', description: 'Tells it.', parameters: schema, strict: true } },
    ]);
    expect(choose({ type: 'auto', disable_parallel_tool_use: true })).toEqual(['auto', false]);
    expect(choose({ type: 'any' })).toEqual(['required', undefined]);
    expect(choose({ type: 'none' })).toEqual(['none', undefined]);
    expect(choose({ type: 'tool', name: 'weather' })).toEqual([
      { type: 'function', function: { name: 'weather' } },
      undefined,
    ]);
  });

  test('with names beyond 64 characters travel shortened everywhere, each to a name of its own', () => {
    const long = `${'very_'.repeat(14)}long`;
    const twin = `${'very_'.repeat(14)}lung`;
    const body = ask({
      tools: [
        { name: long, input_schema: schema },
        { name: twin, input_schema: schema },
      ],
      tool_choice: { type: 'tool', name: long },
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: long, input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] },
      ],
    });
    const [first, second] = body.tools.map((tool: { function: { name: string } }) => tool.function.name);
    expect(first).toHaveLength(64);
    expect(first).not.toBe(second);
    expect(body.tool_choice.function.name).toBe(first);
    expect(body.messages[1].tool_calls[0].function.name).toBe(first);
  });

  test('that were called and answered keep ids and order; results come before what the user says', () => {
    const messages = [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I will look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Rome' } },
          { type: 'tool_use', id: 'toolu_2', name: 'time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [
              { type: 'text', text: 'Sunny' },
              { type: 'text', text: '20°' },
            ],
          },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'No clock', is_error: true },
          { type: 'text', text: 'And?' },
        ],
      },
    ];
    expect(asked(messages)).toEqual([
      {
        role: 'assistant',
        content: 'I will look.',
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
          { id: 'toolu_2', type: 'function', function: { name: 'time', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'Sunny\n20°' },
      { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: No clock' },
      { role: 'user', content: 'And?' },
    ]);
  });

  test('that answer with an image have it shown behind their results', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const content = [
      { type: 'tool_result', tool_use_id: 'c1', content: [image] },
      { type: 'tool_result', tool_use_id: 'c2' },
    ];
    expect(asked([{ role: 'user', content }])).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: 'The result is shown in the next message.' },
      { role: 'tool', tool_call_id: 'c2', content: '' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
    ]);
  });
});

describe('thoughts', () => {
  const history = (...blocks: object[]) =>
    asked([{ role: 'assistant', content: [...blocks, { type: 'text', text: 'So.' }] }]);

  test('go back to the family with their signature; an empty signature is none', () => {
    const read = (content: object[]) =>
      messagesFront.read(callFacts({ body: { max_tokens: 1, messages: [{ role: 'assistant', content }] } })).turns[0]
        ?.parts;
    expect(
      read([
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'thinking', thinking: 'Ah.', signature: '' },
        { type: 'redacted_thinking', data: 'blob' },
      ]),
    ).toEqual([
      { type: 'thinking', text: 'Hm.', signature: 'sig' },
      { type: 'thinking', text: 'Ah.', signature: null },
      { type: 'redacted-thinking', content: 'blob' },
    ]);
  });

  test('and what other providers did are no words of a chat server', () => {
    expect(
      history(
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'blob' },
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      ),
    ).toEqual([{ role: 'assistant', content: 'So.' }]);
  });

  test('that carry the mark of a call give it back to the call', () => {
    const mark = seal({ holds: 'call', id: 'c1', signature: 'gem' });
    const content = [
      { type: 'redacted_thinking', data: mark },
      { type: 'tool_use', id: 'c1', name: 'f', input: {} },
    ];
    expect(asked([{ role: 'assistant', content }])[0].tool_calls[0].function.thought_signature).toBe('gem');
  });

  test('are asked for by budget only of models that have them, by effort of any', () => {
    const effort = (model: string, more: JsonObject) =>
      fronted(messagesFront, { model }).asked({ max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...more })
        .reasoning_effort;
    const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });
    expect([1024, 4096, 20_000].map((tokens) => effort('gpt-5-mini', budget(tokens)))).toEqual([
      'low',
      'medium',
      'high',
    ]);
    expect(effort('llama-3.3-70b', budget(4096))).toBeUndefined();
    expect(effort('llama-3.3-70b', { output_config: { effort: 'low' } })).toBe('low');
    expect(effort('gpt-5.2', { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } })).toBe('xhigh');
    expect(effort('gpt-5.2', { thinking: { type: 'disabled' } })).toBe('none');
    expect(effort('o3', { thinking: { type: 'disabled' } })).toBeUndefined();
  });
});

describe('a structured answer', () => {
  const format = (schema: object) =>
    ask({ output_config: { format: { type: 'json_schema', schema } } }).response_format;

  test('closes its objects, and is strict where all is required', () => {
    const inner = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] };
    expect(
      format({
        type: 'object',
        properties: { a: inner, properties: { type: 'array', items: inner } },
        required: ['a', 'properties'],
      }),
    ).toEqual({
      type: 'json_schema',
      json_schema: {
        name: 'structured_output',
        strict: true,
        schema: {
          type: 'object',
          properties: {
            a: { ...inner, additionalProperties: false },
            properties: { type: 'array', items: { ...inner, additionalProperties: false } },
          },
          required: ['a', 'properties'],
          additionalProperties: false,
        },
      },
    });
  });

  test('with something optional is not strict', () => {
    expect(format({ type: 'object', properties: { a: { type: 'string' } } }).json_schema.strict).toBe(false);
  });
});
