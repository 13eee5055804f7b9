/** Requests that are cheap to write and must be cheap to read: sizes at which anything but work in proportion to the length never comes to an end. */
import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../test/call-facts.ts';
import { spoken } from '../../test/families.ts';
import type { Json } from '../../test/harness.ts';
import { anthropicFamily } from './anthropic/family.ts';
import { documentNames } from './bedrock/media.ts';
import type { AnswerEvent } from './chat/answer.ts';
import { mimeOfName } from './chat/media.ts';
import { hoisted } from './chat/turns.ts';
import { chatFront } from './fronts/chat/chat.ts';
import { messagesFront } from './fronts/messages/messages.ts';
import { responsesFront } from './fronts/responses/responses.ts';
import { geminiFamily } from './google/family.ts';
import { openApiSchema } from './google/schema.ts';
import { ollamaFamily } from './ollama/family.ts';
import { cohereRequest } from './oracle/cohere-request.ts';
import type { JsonObject } from './provider.ts';

const many = 200_000;
const times = <T>(count: number, made: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => made(i));

const chat = (messages: readonly unknown[], more: JsonObject = {}) =>
  chatFront.read(callFacts({ body: { messages, ...more } }));
const responses = (input: readonly unknown[]) => responsesFront.read(callFacts({ body: { input } }));

describe('a conversation of very many', () => {
  test('messages of one role is one turn', () => {
    const { turns } = hoisted(chat(times(many, () => ({ role: 'user', content: 'a' }))));
    expect(turns.map(({ role, parts }) => [role, parts.length])).toEqual([['user', many]]);
  });

  test('items of one assistant is one turn', () => {
    const { turns } = responses(times(many, () => ({ role: 'assistant', content: 'a' })));
    expect(turns.map(({ parts }) => parts.length)).toEqual([many]);
  });

  test('outputs of tools is one turn', () => {
    const outputs = times(many, (index) => ({ type: 'function_call_output', call_id: `c${index}`, output: 'a' }));
    expect(responses(outputs).turns.map(({ parts }) => parts.length)).toEqual([many]);
  });

  const called = (count: number): JsonObject[] => [
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      tool_calls: times(count, (index) => ({ id: `c${index}`, function: { name: `f${index}`, arguments: '{}' } })),
    },
    ...times(count, (index) => ({ role: 'tool', tool_call_id: `c${count - 1 - index}`, content: 'a' })),
  ];

  test('results of tools is told to Gemini in the order of the calls', () => {
    const { contents } = spoken(geminiFamily('studio'), { model: 'gemini-2.5-pro' }).asked({ messages: called(many) });
    const names = contents.at(-1).parts.map(({ functionResponse }: Json) => functionResponse.name);
    expect([names.length, names.at(0), names.at(-1)]).toEqual([many, 'f0', `f${many - 1}`]);
  });

  test('results of tools is told to Cohere on OCI', () => {
    expect(cohereRequest(chat(called(20_000))).toolResults).toHaveLength(20_000);
  });

  test('turns with results of tools is told to Ollama', () => {
    const turns = times(20_000, (index) => [
      { role: 'assistant', tool_calls: [{ id: `c${index}`, function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: `c${index}`, content: 'a' },
    ]).flat();
    expect(ollamaFamily.request(chat(turns), callFacts())).toMatchObject({ messages: { length: 40_000 } });
  });
});

describe('a stream of calls beside each other, in very many pieces', () => {
  const opened = (call: number): AnswerEvent => {
    return { type: 'tool-call', choice: 0, call, id: `c${call}`, name: 'f', signature: null };
  };
  const argued = (call: number, text: string): AnswerEvent => ({ type: 'arguments', choice: 0, call, text });
  const steps: AnswerEvent[] = [
    { type: 'start', id: null, model: null },
    opened(0),
    opened(1),
    argued(0, '{"a":"'),
    ...times(many, () => argued(0, '0123456789')),
    argued(1, '{}'),
    argued(0, '"}'),
    { type: 'finish', choice: 0, reason: 'tool_calls', providerReason: null, stopSequence: null },
  ];

  test.each([
    ['chat', chatFront],
    ['messages', messagesFront],
    ['responses', responsesFront],
  ] as const)('is told as %s', (_, front) => {
    const writer = front.writer(callFacts({ stream: true }));
    const events = [...steps.flatMap((step) => writer.write(step)), ...writer.end()];
    expect(events.filter(({ data }) => data.includes('0123456789')).length).toBeGreaterThanOrEqual(many);
  });
});

test('a name with very many dots and question marks has a type or none', () => {
  expect(mimeOfName(`${'.a?'.repeat(many)}\n\n`)).toBeNull();
  expect(mimeOfName(`https://x.test/${'.'.repeat(many)}png`)).toBe('image/png');
});

test('a user’s id of very many signs is sent on or held back', () => {
  const user = '@'.repeat(many);
  const facts = callFacts({ model: 'claude-sonnet-4-5' });
  const request = anthropicFamily().request(chat([{ role: 'user', content: 'a' }], { user }), facts);
  expect(request).toMatchObject({ metadata: { user_id: user } });
});

test('documents of one name have names of their own', () => {
  const named = documentNames();
  const names = times(20_000, () => named('a'));
  expect([names[0], names[1], names.at(-1)]).toEqual(['a', 'a (2)', 'a (20000)']);
});

describe('a schema whose references', () => {
  /** Each holds the one before it twice. */
  const doubled = (count: number): JsonObject => {
    const definitions: JsonObject = { d0: { type: 'string' } };
    for (let index = 1; index <= count; index++) {
      const before = { $ref: `#/$defs/d${index - 1}` };
      definitions[`d${index}`] = { type: 'object', properties: { a: before, b: before } };
    }
    return { $ref: `#/$defs/d${count}`, $defs: definitions };
  };

  test('would never be written out is refused', () => {
    expect(openApiSchema(doubled(5))).toMatchObject({ type: 'object' });
    expect(() => openApiSchema(doubled(60))).toThrow('written out');
  });

  test('lead through a very long chain is refused', () => {
    const chain: JsonObject = {};
    for (let index = 0; index < 50_000; index++) chain[`d${index}`] = { $ref: `#/$defs/d${index + 1}` };
    expect(() => openApiSchema({ $ref: '#/$defs/d0', $defs: chain })).toThrow('written out');
  });

  test('cannot be decoded lead nowhere', () => {
    expect(openApiSchema({ $ref: '#/%' })).toEqual({ type: 'object' });
  });
});
