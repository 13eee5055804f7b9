import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { assembled } from '../../../test/families.ts';
import type { Json } from '../../../test/harness.ts';
import { eventsOf, messageOf } from '../../../test/providers/anthropic-api.ts';
import { anthropicFamily } from '../anthropic/family.ts';
import { anthropicApi } from '../anthropic/surface.ts';
import { converse } from '../bedrock/converse.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import type { JsonObject, ServerEvent } from '../provider.ts';
import { answerTool } from './answer-tool.ts';
import { type ChatFamily, translate } from './family.ts';

const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } };

const anthropicBlock = (block: Json): Json => ('name' in block ? { type: 'tool_use', id: 'c1', ...block } : block);
const converseBlock = ({ type, text, ...toolUse }: Json): Json =>
  type === 'text' ? { text } : { toolUse: { toolUseId: 'c1', ...toolUse } };

interface Dialect {
  family: ChatFamily;
  model: string;
  whole(blocks: Json[], reason: string): unknown;
  events(blocks: Json[], reason: string): ServerEvent[];
}

/** The same message in both dialects. */
const dialects: Record<string, Dialect> = {
  anthropic: {
    family: anthropicFamily({ ...anthropicApi, structuredOutput: 'tool' }),
    model: 'claude-sonnet-4-5',
    whole: (blocks, stop_reason) => messageOf('m', { content: blocks.map(anthropicBlock), stop_reason }),
    events: (blocks, stop_reason) =>
      eventsOf(messageOf('m', { content: blocks.map(anthropicBlock), stop_reason })).map((event) => ({
        event: null,
        data: event.slice(event.indexOf('data: ') + 6).trim(),
      })),
  },
  bedrock: {
    family: converse,
    model: 'meta.llama3-1-70b-instruct-v1:0',
    whole: (blocks, stopReason) => ({
      output: { message: { role: 'assistant', content: blocks.map(converseBlock) } },
      stopReason,
      usage: {},
    }),
    events: (blocks, stopReason) =>
      [
        ['messageStart', { role: 'assistant' }],
        ...blocks.flatMap(({ type, text, input, ...toolUse }, contentBlockIndex) => [
          ...(type === 'text' ? [] : [['contentBlockStart', { contentBlockIndex, start: { toolUse } }]]),
          [
            'contentBlockDelta',
            { contentBlockIndex, delta: type === 'text' ? { text } : { toolUse: { input: JSON.stringify(input) } } },
          ],
          ['contentBlockStop', { contentBlockIndex }],
        ]),
        ['messageStop', { stopReason }],
      ].map(([event, body]) => ({ event: String(event), data: JSON.stringify(body) })),
  },
};

describe.each(Object.entries(dialects))('an answer by tool of %s', (_, { family, model, whole, events }) => {
  const said = (blocks: Json[], reason = 'tool_use', asked: JsonObject = { response_format }): Json[] => {
    const body = { messages: [{ role: 'user', content: 'Hi' }], ...asked };
    const raw = { status: 200, headers: new Headers(), bytes: new Uint8Array() };
    const { response, stream } = translate(chatFront, family);
    const answer: Json = response(whole(blocks, reason), callFacts({ model, body }), raw);
    const translator = stream?.(callFacts({ model, body, stream: true }));
    if (!translator) throw new Error('The family does not stream');
    const chunks = [...events(blocks, reason).flatMap((event) => translator.event(event)), ...translator.end()];
    const [choice] = answer.choices;
    const streamed = assembled(chunks.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data))));
    return [
      { content: choice.message.content, calls: choice.message.tool_calls?.length ?? 0, finish: choice.finish_reason },
      { content: streamed.content, calls: streamed.tool_calls.length, finish: streamed.finish_reason },
    ];
  };
  const text = (words: string) => ({ type: 'text', text: words });
  const form = { name: answerTool, input: { a: 1 } };
  const call = { name: 'f', input: { b: 2 } };
  const twice = <T>(one: T): T[] => [one, one];

  test('is the content, without what the model says around it', () => {
    expect(said([text('Here it is:'), form, text('Anything else?')])).toEqual(
      twice({ content: '{"a":1}', calls: 0, finish: 'stop' }),
    );
  });

  test('is given once, also where the model calls the tool again', () => {
    expect(said([form, form])).toEqual(twice({ content: '{"a":1}', calls: 0, finish: 'stop' }));
  });

  test('that the model gives in words stays what it is', () => {
    expect(said([text('{"a":'), text('1}')], 'end_turn')).toEqual(
      twice({ content: '{"a":1}', calls: 0, finish: 'stop' }),
    );
  });

  test('that was cut off says so', () => {
    expect(said([form], 'max_tokens')).toEqual(twice({ content: '{"a":1}', calls: 0, finish: 'length' }));
  });

  test('waits for the results of the client’s tools, with what was said before them', () => {
    const [answer, streamed] = said([text('Let me look.'), call]);
    expect(streamed).toEqual({ content: 'Let me look.', calls: 1, finish: 'tool_calls' });
    expect(answer).toEqual(streamed);
  });

  test('that nobody asked for holds nothing back', () => {
    const { stream } = translate(chatFront, family);
    const translator = stream?.(callFacts({ model, body: { messages: [{ role: 'user', content: 'Hi' }] } }));
    const [start, ...rest] = events([text('Hello')], 'end_turn');
    if (!start || !translator) throw new Error('There is no stream');
    translator.event(start);
    const first = rest.flatMap((event) => translator.event(event)).map(({ data }) => data);
    expect(first.join('')).toContain('"content":"Hello"');
  });
});
