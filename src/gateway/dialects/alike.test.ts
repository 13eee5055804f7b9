import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ServerEvent } from '../../providers/provider.ts';
import { AlikeEvents } from './alike.ts';
import { chatDialect } from './chat.ts';
import { type Dialect, newStreamState } from './dialect.ts';
import { messagesDialect } from './messages.ts';

const chat = (fields: object, rest: object = {}): ServerEvent => ({
  event: null,
  data: JSON.stringify({ id: 'c1', model: 'm', choices: [{ index: 0, delta: fields, finish_reason: null }], ...rest }),
});
const delta = (fields: object): ServerEvent => ({
  event: 'content_block_delta',
  data: JSON.stringify({ type: 'content_block_delta', index: 0, delta: fields }),
});

/** What is known after these events, each read by itself or with what the ones before it taught. */
function read(dialect: Dialect, events: readonly ServerEvent[], learning: boolean) {
  const state = newStreamState();
  const meanings = events.map((event) => {
    if (!learning) state.alike = new AlikeEvents();
    return dialect.read(event, state);
  });
  const { alike: _, ...seen } = state;
  return { meanings, seen };
}

const texts = fc.oneof(
  fc.constantFrom(
    'c1',
    'm',
    'content',
    ' word',
    '',
    '"',
    '\\',
    '\n',
    'é',
    '漢字',
    '"},"finish_reason":"stop"',
    '\ud83d',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const chatEvents = fc.oneof(
  { weight: 6, arbitrary: texts.map((content) => chat({ content })) },
  fc.constantFrom(
    chat({ role: 'assistant', content: '' }),
    chat({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }),
    chat({ content: 'word', refusal: 'no' }),
    chat({ content: 'word' }, { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }),
    { event: null, data: '{"choices":[{"index":1,"delta":{"content":"other"}}]}' },
    { event: null, data: '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}' },
    { event: null, data: '{"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"cut' },
    { event: null, data: '[DONE]' },
  ),
);
const messageEvents = fc.oneof(
  { weight: 6, arbitrary: texts.map((text) => delta({ type: 'text_delta', text })) },
  fc.constantFrom(
    delta({ type: 'thinking_delta', thinking: 'hm' }),
    delta({ type: 'input_json_delta', partial_json: '{' }),
    { event: 'content_block_stop', data: '{"type":"content_block_stop","index":0}' },
    {
      event: 'content_block_delta',
      data: '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a',
    },
  ),
);

test('what is read of a stream is the same whether or not events are recognised', () => {
  fc.assert(
    fc.property(
      fc.array(chatEvents, { maxLength: 20 }),
      fc.array(messageEvents, { maxLength: 20 }),
      (chats, messages) => {
        expect(read(chatDialect, chats, true)).toEqual(read(chatDialect, chats, false));
        expect(read(messagesDialect, messages, true)).toEqual(read(messagesDialect, messages, false));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('an event that is alike is recognised by what stands around its text', () => {
  const alike = new AlikeEvents();
  const textOf = ({ data }: ServerEvent) => (JSON.parse(data) as { t: string }).t;
  const event = (data: string): ServerEvent => ({ event: null, data });
  alike.learn(event('{"id":"x","t":"one","n":1}'), 'one', textOf);
  expect(alike.textIn(event('{"id":"x","t":"two","n":1}'))).toBe('two');
  expect(alike.textIn(event('{"id":"y","t":"two","n":1}'))).toBeNull();
  expect(alike.textIn(event('{"id":"x","t":"two","n":2}'))).toBeNull();
  expect(alike.textIn(event('{"id":"x","t":"","n":1}'))).toBeNull();
  expect(alike.textIn(event('{"id":"x","t":"a","u":"b","n":1}'))).toBeNull();
  expect(alike.textIn({ event: 'other', data: '{"id":"x","t":"two","n":1}' })).toBeNull();
});

test('a text that stands in another place too is no example', () => {
  const alike = new AlikeEvents();
  const data = '{"t":"\\u006fne","model":"one"}';
  alike.learn({ event: null, data }, 'one', (event) => (JSON.parse(event.data) as { t: string }).t);
  expect(alike.textIn({ event: null, data: '{"t":"\\u006fne","model":"two"}' })).toBeNull();
});

test('a provider that puts something new into every event is not looked at for ever', () => {
  const alike = new AlikeEvents();
  let looks = 0;
  for (let index = 0; index < 20; index++) {
    alike.learn({ event: null, data: `{"t":"word","nonce":${index}}` }, 'word', (event) => {
      looks++;
      return (JSON.parse(event.data) as { t: string }).t;
    });
  }
  expect(looks).toBe(4);
});
