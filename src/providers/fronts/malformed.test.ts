import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { callFacts } from '../../../test/call-facts.ts';
import { call, chunks, completion, fronted } from '../../../test/fronts.ts';
import type { Json } from '../../../test/harness.ts';
import { spoiled } from '../../../test/spoiled.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { openAiFamily } from '../openai/family.ts';
import { chatFront } from './chat/chat.ts';
import { messagesFront } from './messages/messages.ts';
import { responsesFront } from './responses/responses.ts';

const image = 'data:image/png;base64,AAAA';
const sound = { data: 'UklG', format: 'wav' };
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const cache_control = { type: 'ephemeral' };

/** Requests that use all that each dialect has. */
const requests: Record<'chat' | 'messages' | 'responses', Json> = {
  chat: {
    messages: [
      { role: 'system', content: 'S' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'U', cache_control },
          { type: 'image_url', image_url: { url: image } },
          { type: 'input_audio', input_audio: sound },
          { type: 'file', file: { file_data: 'JVBE', filename: 'a.pdf' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('c', 'f', '{}')],
        content_blocks: [{ type: 'thinking', thinking: 'T', signature: 's' }],
      },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'R' }] },
    ],
    tools: [
      { type: 'function', function: { name: 'f', parameters: schema } },
      {
        type: 'custom',
        custom: { name: 'g', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
      },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    thinking: { type: 'enabled', budget_tokens: 9 },
    stop: ['a'],
    stream_options: { include_usage: true },
  },
  messages: {
    max_tokens: 9,
    system: [{ type: 'text', text: 'S', cache_control }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          {
            type: 'document',
            title: 'T',
            context: 'C',
            source: { type: 'content', content: [{ type: 'text', text: 'D' }] },
          },
          { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'R' }] },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'T', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'R' }], is_error: true }],
      },
    ],
    tools: [{ name: 'f', input_schema: schema }],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
    metadata: { user_id: 'u' },
  },
  responses: {
    instructions: 'I',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'U' },
          { type: 'input_image', image_url: image },
          { type: 'input_file', file_data: 'JVBE' },
          { type: 'input_audio', input_audio: sound },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'T' }], encrypted_content: 'x' },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'A' },
          { type: 'refusal', refusal: 'N' },
        ],
      },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'R' }] },
      { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'x' },
    ],
    tools: [
      { type: 'function', name: 'f', parameters: schema },
      { type: 'custom', name: 'g' },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    text: { format: { type: 'json_schema', name: 'n', schema } },
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['message.output_text.logprobs'],
  },
};

const fronts = { chat: chatFront, messages: messagesFront, responses: responsesFront };

describe.each(['chat', 'messages', 'responses'] as const)('%s', (kind) => {
  const under = fronted(fronts[kind]);

  test('is read whole', () => {
    expect(under.asked(requests[kind]).messages.length).toBeGreaterThan(2);
  });

  test('with anything wrong anywhere is taken or refused by a field, never broken', () => {
    fc.assert(
      fc.property(spoiled(requests[kind]), (text) => {
        try {
          under.asked(JSON.parse(text));
        } catch (fault) {
          if (!(fault instanceof RequestFault)) throw fault;
          expect(fault.message).toContain(fault.field.split(/[.[]/, 1)[0] ?? '');
        }
      }),
      { numRuns: 1_500 },
    );
  });

  test('tells any answer of a provider, or that it is none', () => {
    const answer = completion({
      content: [
        { type: 'thinking', thinking: [{ text: 'T' }] },
        { type: 'text', text: 'A' },
      ],
      annotations: [{ type: 'url_citation', url_citation: { url: 'u', start_index: 0, end_index: 1 } }],
      images: [{ image_url: { url: image } }],
      audio: { data: 'UklG' },
      tool_calls: [call('c', 'f', '{}')],
    });
    const events = chunks([{ content: 'A' }, { tool_calls: [{ index: 0, ...call('c', 'f', '{}') }] }])
      .split('\n\n')
      .filter((event) => event.startsWith('data: {'))
      .map((event) => JSON.parse(event.slice(6)));
    const tolerant = (act: () => unknown): void => {
      try {
        act();
      } catch (fault) {
        if (!(fault instanceof ProviderFault)) throw fault;
      }
    };
    fc.assert(
      fc.property(spoiled(answer), spoiled(events), (whole, stream) => {
        tolerant(() => under.answered(JSON.parse(whole)));
        const broken: Json[] = JSON.parse(stream);
        tolerant(() => under.streamed(broken.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')));
      }),
      { numRuns: 800 },
    );
  });
});

test('what is read is left as it was', () => {
  for (const kind of ['chat', 'messages', 'responses'] as const) {
    const body = requests[kind];
    const before = JSON.stringify(body);
    const facts = callFacts({ body });
    openAiFamily.request(fronts[kind].read(facts), facts);
    expect(JSON.stringify(body)).toBe(before);
  }
});
