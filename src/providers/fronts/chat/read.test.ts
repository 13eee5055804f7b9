import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import type { Conversation, Turn } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import type { JsonObject } from '../../provider.ts';
import { chatFront } from './chat.ts';

const read = (more: JsonObject): Conversation =>
  chatFront.read(callFacts({ body: { messages: [{ role: 'user', content: 'Hi' }], ...more } }));
const turns = (...messages: object[]): readonly Turn[] => read({ messages }).turns;
const parts = (content: unknown, role = 'user') => turns({ role, content })[0]?.parts;
const media = { type: 'media', name: null, detail: null, cache: null };

describe('settings', () => {
  test('are taken up, and what is not known is kept apart', () => {
    const conversation = read({
      max_tokens: 5,
      max_completion_tokens: 7,
      temperature: 0,
      top_p: 0,
      top_k: 3,
      seed: 1,
      stop: 'END',
      n: 2,
      logprobs: true,
      user: 'u',
      stream_options: { include_usage: true },
      prediction: { type: 'content' },
    });
    expect(conversation).toMatchObject({
      limit: 7,
      temperature: 0,
      topP: 0,
      topK: 3,
      seed: 1,
      stop: ['END'],
      count: 2,
      logprobs: { top: 0 },
      streamUsage: true,
      extras: { prediction: { type: 'content' } },
    });
  });

  test.each([
    [{ reasoning_effort: 'low' }, { mode: 'effort', effort: 'low' }, null],
    [{ reasoning_effort: 'none' }, { mode: 'off' }, null],
    [
      { thinking: { type: 'enabled', budget_tokens: 2048 }, reasoning_effort: 'low' },
      { mode: 'budget', tokens: 2048 },
      null,
    ],
    [
      { thinking: { type: 'adaptive', display: 'omitted' }, reasoning_effort: 'low' },
      { mode: 'adaptive', effort: 'low' },
      false,
    ],
    [{ thinking: { type: 'disabled' } }, { mode: 'off' }, null],
    [{ thinking: { type: 'enabled', include_thoughts: true } }, { mode: 'adaptive', effort: null }, true],
  ])('thinking of %j is read', (more, reasoning, showReasoning) => {
    expect(read(more)).toMatchObject({ reasoning, showReasoning });
  });

  test('formats of the answer', () => {
    const schema = { type: 'object' };
    expect(read({ response_format: { type: 'json_object' } }).format).toEqual({ type: 'json' });
    expect(read({ response_format: { type: 'text' } }).format).toEqual({ type: 'text' });
    expect(
      read({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } } }).format,
    ).toEqual({
      type: 'schema',
      name: 'n',
      description: null,
      schema,
      strict: true,
    });
  });
});

describe('content', () => {
  test.each([
    [
      { type: 'image_url', image_url: { url: 'data:image/png;charset=utf-8;base64,AAAA', detail: 'low' } },
      { kind: 'image', mime: 'image/png', detail: 'low', source: { from: 'data', base64: 'AAAA' } },
    ],
    [
      { type: 'image_url', image_url: 'https://a.invalid/x' },
      { kind: 'image', mime: null, source: { from: 'url', url: 'https://a.invalid/x' } },
    ],
    [
      { type: 'image_url', image_url: { url: 'gs://b/x', mime_type: 'image/heic' } },
      { kind: 'image', mime: 'image/heic', source: { from: 'url', url: 'gs://b/x' } },
    ],
    [
      { type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBE' } },
      { kind: 'document', mime: 'application/pdf', source: { from: 'data', base64: 'JVBE' } },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
      { kind: 'audio', mime: 'audio/wav', source: { from: 'data', base64: 'UklG' } },
    ],
    [
      { type: 'file', file: { file_data: 'JVBE' } },
      { kind: 'document', mime: 'application/pdf', source: { from: 'data', base64: 'JVBE' } },
    ],
    [
      { type: 'file', file: { file_data: 'data:text/plain;base64,SGk=', filename: 'a.txt' } },
      { kind: 'document', mime: 'text/plain', name: 'a.txt', source: { from: 'data', base64: 'SGk=' } },
    ],
    [
      { type: 'file', file: { file_id: 'file-1' } },
      { kind: 'document', mime: null, source: { from: 'file', id: 'file-1' } },
    ],
    [
      { type: 'file', file: { file_url: 'https://a.invalid/x.mp4' } },
      { kind: 'video', mime: 'video/mp4', source: { from: 'url', url: 'https://a.invalid/x.mp4' } },
    ],
  ])('%j is read as media', (part, expected) => {
    expect(parts([part])).toEqual([{ ...media, ...expected }] as never);
  });

  test('keeps cache marks with their ttl, one on the message behind its last part', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    expect(
      turns({
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        cache_control,
      })[0]?.parts,
    ).toEqual([
      { type: 'text', text: 'a', cache: null },
      { type: 'text', text: 'b', cache: cache_control },
    ]);
  });

  test('of assistants may hold thoughts, in the content or beside it', () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' };
    const redacted = { type: 'redacted_thinking', data: 'blob' };
    const expected = [
      { type: 'thinking', text: 'Hm.', signature: 's' },
      { type: 'redacted-thinking', content: 'blob' },
      { type: 'text', text: 'So.', cache: null },
    ];
    expect(parts([thinking, redacted, { type: 'text', text: 'So.' }], 'assistant')).toEqual(expected as never);
    expect(
      turns({
        role: 'assistant',
        content: 'So.',
        content_blocks: [thinking, redacted, { type: 'text', text: 'So.' }],
      })[0]?.parts,
    ).toEqual(expected as never);
    expect(turns({ role: 'assistant', content: 'So.', reasoning_content: 'Hm.' })[0]?.parts[0]).toEqual({
      type: 'thinking',
      text: 'Hm.',
      signature: null,
    });
  });
});

describe('tools', () => {
  const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' }, strict: true } };

  test('of each form: functions, older functions, free text, and those that a provider runs', () => {
    const { tools, hostedTools } = read({
      tools: [
        { ...weather, defer_loading: true },
        { type: 'custom', custom: { name: 'run' } },
        { type: 'web_search_20250305', name: 'w' },
      ],
      functions: [{ name: 'old' }],
    });
    expect(tools.map(({ name, extras }) => [name, extras])).toEqual([
      ['weather', { defer_loading: true }],
      ['run', {}],
      ['old', {}],
    ]);
    expect(hostedTools).toEqual([{ type: 'web_search_20250305', name: 'w' }]);
  });

  test.each([
    ['auto', { mode: 'auto' }],
    ['any', { mode: 'required' }],
    [
      { type: 'function', function: { name: 'f' } },
      { mode: 'tool', name: 'f' },
    ],
    [
      { type: 'custom', custom: { name: 'run' } },
      { mode: 'tool', name: 'run' },
    ],
  ])('are chosen by %j', (tool_choice, expected) => {
    expect(read({ tool_choice }).toolChoice).toEqual(expected as never);
  });

  test('that are not allowed are not offered', () => {
    const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'weather' } }] };
    const { tools, toolChoice } = read({
      tools: [weather, { type: 'function', function: { name: 'time' } }],
      tool_choice: { type: 'allowed_tools', allowed_tools },
    });
    expect(tools.map(({ name }) => name)).toEqual(['weather']);
    expect(toolChoice).toEqual({ mode: 'required' });
  });

  test('in the older form are called one at a time, and their results find their call', () => {
    const conversation = read({
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
      messages: [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'ok' },
      ],
    });
    expect(conversation).toMatchObject({ parallelToolCalls: false, toolChoice: { mode: 'tool', name: 'f' } });
    const [called, result] = conversation.turns.map(({ parts }) => parts[0]);
    expect(called).toMatchObject({ type: 'tool-call', id: 'call_f' });
    expect(result).toMatchObject({ type: 'tool-result', callId: 'call_f', name: 'f' });
  });

  test('that were called keep ids, marks and the name for their results', () => {
    const called = {
      id: 'c1',
      type: 'function',
      function: { name: 'f', arguments: '{"a":1}', thought_signature: 'gem' },
    };
    const custom = { id: 'c2', type: 'custom', custom: { name: 'run', input: 'ls' } };
    const [assistant, result] = turns(
      { role: 'assistant', content: null, tool_calls: [called, custom] },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: [{ type: 'text', text: 'ok', cache_control: { type: 'ephemeral' } }],
      },
    );
    expect(assistant?.parts).toEqual([
      { type: 'tool-call', id: 'c1', name: 'f', arguments: '{"a":1}', signature: 'gem', cache: null },
      { type: 'tool-call', id: 'c2', name: 'run', arguments: '{"input":"ls"}', signature: null, cache: null },
    ]);
    expect(result?.parts).toEqual([
      {
        type: 'tool-result',
        callId: 'c1',
        name: 'f',
        content: [{ type: 'text', text: 'ok', cache: null }],
        isError: false,
        cache: { type: 'ephemeral' },
      },
    ]);
  });
});

test.each([
  [{ messages: undefined }, 'messages'],
  [{ messages: [] }, 'messages'],
  [{ messages: ['Hi'] }, 'messages[0]'],
  [{ messages: [{ content: 'Hi' }] }, 'messages[0].role'],
  [{ messages: [{ role: 'robot', content: 'Hi' }] }, 'messages[0].role'],
  [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
  [{ messages: [{ role: 'user', content: [{ type: 'smell' }] }] }, 'messages[0].content[0].type'],
  [{ messages: [{ role: 'user', content: [{ type: 'thinking', thinking: 'Hm' }] }] }, 'messages[0].content[0]'],
  [
    { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: 'https://a.invalid' }] }] },
    'messages[0].content[0]',
  ],
  [{ messages: [{ role: 'tool', content: 'ok' }] }, 'messages[0].tool_call_id'],
  [{ messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }, 'messages[0].content[0].file'],
  [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
  [{ tool_choice: 'sometimes' }, 'tool_choice'],
  [{ temperature: 'hot' }, 'temperature'],
  [{ response_format: { type: 'yaml' } }, 'response_format.type'],
  [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
])('%j is refused by the path of its field', (more, field) => {
  try {
    read(more);
    throw new Error('Nothing was refused');
  } catch (fault) {
    expect(fault).toBeInstanceOf(RequestFault);
    expect((fault as RequestFault).field).toBe(field);
  }
});
