import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import { fronted } from '../../../../test/fronts.ts';
import { RequestFault } from '../../faults.ts';
import type { JsonObject } from '../../provider.ts';
import { seal } from '../sealed.ts';
import { responsesFront } from './responses.ts';

const front = fronted(responsesFront);
const ask = (more: JsonObject) => front.asked({ model: 'model-1', input: 'Hi', ...more });
const asked = (...input: object[]) => ask({ input }).messages;
const turns = (...input: object[]) => responsesFront.read(callFacts({ body: { input } })).turns;
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
  test('of plain text is one user message, instructions before it', () => {
    expect(ask({ instructions: 'Be brief.', max_output_tokens: 50, temperature: 0, top_p: 1, user: 'u' })).toEqual({
      model: 'model-1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      max_completion_tokens: 50,
      temperature: 0,
      top_p: 1,
      user: 'u',
    });
  });

  test('keeps what both dialects know and what neither does; what only concerns keeping is left out', () => {
    expect(
      ask({
        store: true,
        truncation: 'auto',
        max_tool_calls: 3,
        include: ['reasoning.encrypted_content'],
        stream_options: { include_obfuscation: false },
        text: { verbosity: 'low' },
        background: false,
        previous_response_id: null,
        metadata: { team: 'a' },
        service_tier: 'flex',
        parallel_tool_calls: false,
        safety_identifier: 's',
        prompt_cache_key: 'k',
        something_new: 1,
      }),
    ).toEqual({
      model: 'model-1',
      messages: [{ role: 'user', content: 'Hi' }],
      parallel_tool_calls: false,
      metadata: { team: 'a' },
      service_tier: 'flex',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      something_new: 1,
    });
  });

  test('for log probabilities, effort, and each format', () => {
    expect(ask({ include: ['message.output_text.logprobs'], top_logprobs: 3 })).toMatchObject({
      logprobs: true,
      top_logprobs: 3,
    });
    expect(ask({ include: ['message.output_text.logprobs'] })).toMatchObject({ logprobs: true, top_logprobs: 0 });
    expect(ask({ top_logprobs: 0 }).logprobs).toBeUndefined();
    expect(ask({ reasoning: { effort: 'low', summary: 'auto' } }).reasoning_effort).toBe('low');
    expect(ask({ text: { format: { type: 'text' } } }).response_format).toBeUndefined();
    expect(ask({ text: { format: { type: 'json_object' } } }).response_format).toEqual({ type: 'json_object' });
    const spec = { name: 'city', schema: { type: 'object' }, strict: true, description: 'A city.' };
    expect(ask({ text: { format: { type: 'json_schema', ...spec } } }).response_format).toEqual({
      type: 'json_schema',
      json_schema: spec,
    });
  });

  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id', 'keeps no responses'],
    [{ conversation: 'conv_1' }, 'conversation', 'keeps no responses'],
    [{ prompt: { id: 'p' } }, 'prompt', 'keeps no prompts'],
    [{ background: true }, 'background', 'while the client waits'],
    [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input[0].type', 'keeps no responses'],
    [{ input: [{ type: 'computer_call_output', call_id: 'c' }] }, 'input[0].type', 'computer_call_output'],
    [{ input: [] }, 'input', 'at least one item'],
    [{ input: undefined }, 'input', 'is missing'],
    [{ input: [{ role: 'robot', content: 'Hi' }] }, 'input[0].role', 'must be one of'],
    [{ input: [{ role: 'user', content: [{ type: 'video' }] }] }, 'input[0].content[0].type', 'video'],
    [{ input: [{ type: 'function_call', name: 'f' }] }, 'input[0].call_id', 'is missing'],
    [{ tools: [{ type: 'web_search' }] }, 'tools', 'web_search'],
    [{ tool_choice: { type: 'web_search_preview' } }, 'tool_choice.type', 'cannot run'],
    [{ tool_choice: 'maybe' }, 'tool_choice', 'must be auto, none or required'],
    [{ text: { format: { type: 'yaml' } } }, 'text.format.type', 'must be text, json_object or json_schema'],
    [{ text: { format: { type: 'json_schema', schema: {} } } }, 'text.format.name', 'is missing'],
  ])('that cannot be served is refused by the path of its field: %j', (more, field, message) => {
    const thrown = fault(more);
    expect(thrown.field).toBe(field);
    expect(thrown.message).toContain(message);
  });
});

describe('input', () => {
  test('of every kind of content', () => {
    const content = [
      { type: 'input_text', text: 'Look:' },
      { type: 'input_image', image_url: 'https://images.invalid/a.png', detail: 'low' },
      { type: 'input_image', file_id: 'file_1', detail: 'auto' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
      { type: 'input_file', file_id: 'file_2' },
      { type: 'input_audio', input_audio: { data: 'UklG', format: 'mp3' } },
    ];
    expect(asked({ role: 'user', content })[0].content).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'https://images.invalid/a.png', detail: 'low' } },
      { type: 'file', file: { file_id: 'file_1' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
      { type: 'file', file: { file_id: 'file_2' } },
      { type: 'input_audio', input_audio: { data: 'UklG', format: 'mp3' } },
    ]);
  });

  test('of what the model did in one turn is one message; outputs follow in order', () => {
    expect(
      asked(
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
        { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'gAAAA-of-another' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.', annotations: [] }] },
        { type: 'web_search_call', id: 'ws', status: 'completed' },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Rome"}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'run', input: 'ls -l' },
        { type: 'function_call_output', call_id: 'c1', output: 'Sunny' },
        {
          type: 'custom_tool_call_output',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 'seen' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          ],
        },
        { role: 'user', content: 'And?' },
      ),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
          { id: 'c2', type: 'function', function: { name: 'run', arguments: '{"input":"ls -l"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Sunny' },
      { role: 'tool', tool_call_id: 'c2', content: 'seen' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
      { role: 'user', content: 'And?' },
    ]);
  });

  test('of thoughts that we sealed gives them back; those of others are left out', () => {
    const reasoning = (more: object) => ({ type: 'reasoning', id: 'rs', summary: [], ...more });
    expect(
      turns(
        reasoning({
          summary: [{ type: 'summary_text', text: 'Hm.' }],
          encrypted_content: seal({ holds: 'signature', signature: 'sig' }),
        }),
        reasoning({ encrypted_content: seal({ holds: 'thought', content: 'blob' }) }),
        reasoning({ summary: [{ type: 'summary_text', text: 'Plain.' }] }),
        reasoning({ encrypted_content: seal({ holds: 'call', id: 'c1', signature: 'gem' }) }),
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      ),
    ).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'thinking', text: 'Hm.', signature: 'sig' },
          { type: 'redacted-thinking', content: 'blob' },
          { type: 'thinking', text: 'Plain.', signature: null },
          { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}', signature: 'gem', cache: null },
        ],
      },
    ]);
  });

  test('of an image that the model made is its own, and refused where a server takes none', () => {
    const made = { type: 'image_generation_call', id: 'ig', status: 'completed', result: 'AAAA' };
    expect(turns(made)[0]?.parts[0]).toMatchObject({ type: 'media', kind: 'image', mime: 'image/png' });
    expect(fault({ input: [made] }).message).toContain("image in an assistant's message");
  });
});

describe('tools', () => {
  const weather = { type: 'function', name: 'weather', description: 'W', parameters: { type: 'object' }, strict: true };
  const time = { type: 'function', name: 'time', parameters: { type: 'object' } };

  test('are functions; a custom one takes a single text, and is told of its grammar', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' };
    const { tools } = ask({ tools: [weather, { type: 'custom', name: 'run', description: 'Runs.', format }] });
    expect(tools).toEqual([
      {
        type: 'function',
        function: { name: 'weather', description: 'W', parameters: { type: 'object' }, strict: true },
      },
      {
        type: 'function',
        function: {
          name: 'run',
          description: 'Runs.\n\nThe input follows this lark grammar:\nstart: "a"',
          parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
        },
      },
    ]);
  });

  test('are chosen by mode, by name, and from those allowed', () => {
    const choose = (tool_choice: unknown) => {
      const body = ask({ tools: [weather, time], tool_choice });
      return [body.tool_choice, body.tools.map((tool: { function: { name: string } }) => tool.function.name)];
    };
    expect(choose('required')).toEqual(['required', ['weather', 'time']]);
    expect(choose({ type: 'function', name: 'time' })).toEqual([
      { type: 'function', function: { name: 'time' } },
      ['weather', 'time'],
    ]);
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'time' }] };
    expect(choose(allowed)).toEqual(['required', ['time']]);
  });
});
