/** Messages of each dialect in the form of OpenTelemetry's conventions. */
import { describe, expect, test } from 'bun:test';
import { inputMessages, outputMessages, systemInstructions } from './messages.ts';

const text = (content: string) => ({ type: 'text', content });
const call = { type: 'tool_call', id: 'c1', name: 'mail', arguments: { to: 'a' } };

describe('requests', () => {
  test('of chat, with tools and their results', () => {
    expect(
      inputMessages({
        messages: [
          { role: 'developer', content: 'Be brief' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'mail', arguments: '{"to":"a"}' } }],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'sent' },
          {
            role: 'user',
            content: [text('x'), { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
          },
        ],
      }),
    ).toEqual([
      { role: 'system', parts: [text('Be brief')] },
      { role: 'assistant', parts: [call] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'sent' }] },
      { role: 'user', parts: [{ type: 'text' }, { type: 'image_url' }] },
    ]);
  });

  test('of messages, responses, completions and embeddings', () => {
    const use = { type: 'tool_use', id: 'c1', name: 'mail', input: { to: 'a' } };
    expect(inputMessages({ messages: [{ role: 'assistant', content: [use] }] })).toEqual([
      { role: 'assistant', parts: [call] },
    ]);
    expect(
      inputMessages({
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
          { type: 'function_call', call_id: 'c1', name: 'mail', arguments: '{"to":"a"}' },
        ],
      }),
    ).toEqual([
      { role: 'user', parts: [text('hi')] },
      { role: 'assistant', parts: [call] },
    ]);
    expect(inputMessages({ prompt: 'hi' })).toEqual([{ role: 'user', parts: [text('hi')] }]);
    expect(inputMessages({ input: ['a', 'b'] })).toEqual([{ role: 'user', parts: [text('a'), text('b')] }]);
    expect(inputMessages({ input: 7 })).toEqual([]);
  });

  test('have their instructions apart', () => {
    expect(systemInstructions({ system: [{ type: 'text', text: 'Be brief' }] })).toEqual([text('Be brief')]);
    expect(systemInstructions({ instructions: 'Be brief' })).toEqual([text('Be brief')]);
    expect(systemInstructions({})).toEqual([]);
  });
});

describe('answers', () => {
  test('that come whole', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'length' }];
    expect(outputMessages([{ choices }])).toEqual([
      { role: 'assistant', parts: [text('hi')], finish_reason: 'length' },
    ]);
    expect(outputMessages([{ content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn' }])).toEqual([
      { role: 'assistant', parts: [text('hi')], finish_reason: 'stop' },
    ]);
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] }];
    expect(outputMessages([{ object: 'response', status: 'completed', output }])).toEqual([
      { role: 'assistant', parts: [text('hi')], finish_reason: 'stop' },
    ]);
    expect(outputMessages([{ choices: [{ text: 'hi', finish_reason: 'stop' }] }])).toEqual([
      { role: 'assistant', parts: [text('hi')], finish_reason: 'stop' },
    ]);
  });

  test('that come as streams are put together', () => {
    const piece = (delta: object, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] });
    const begun = { index: 0, id: 'c1', function: { name: 'mail', arguments: '{"to"' } };
    expect(
      outputMessages([
        piece({ role: 'assistant', content: 'h' }),
        piece({ content: 'i' }),
        piece({ tool_calls: [begun] }),
        piece({ tool_calls: [{ index: 0, function: { arguments: ':"a"}' } }] }),
        piece({}, { finish_reason: 'tool_calls' }),
      ]),
    ).toEqual([{ role: 'assistant', parts: [text('hi'), call], finish_reason: 'tool_call' }]);
    expect(
      outputMessages([
        { type: 'message_start', message: { content: [] } },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'c1', name: 'mail', input: {} },
        },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"to":"a"}' } },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      ]),
    ).toEqual([{ role: 'assistant', parts: [call], finish_reason: 'tool_call' }]);
  });
});
