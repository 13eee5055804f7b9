/** Streams of the dialects that clients speak, and what a client of each relies on. */
import { checkedResponse } from './event-grammar.ts';
import type { Json } from './harness.ts';
import * as anthropic from './providers/anthropic.ts';
import * as openai from './providers/openai.ts';
import { responseEvents } from './providers/responses.ts';

export interface StreamDialect {
  path: string;
  whole(words: readonly string[], id?: string): string[];
  textOf(json: Json): string;
  errorOf(json: Json): unknown;
  isEnd(data: string): boolean;
  /** What a client of this dialect relies on. */
  isSound(events: { event: string | null; data: string }[]): boolean;
}

const completionChunk = (text: string, finish_reason: string | null, id: string) =>
  `data: ${JSON.stringify({ id, object: 'text_completion', model: 'm', choices: [{ index: 0, text, finish_reason }] })}\n\n`;

/** With a ping in it, as the real one has. */
export const messageEvents = (words: readonly string[], id = 'msg_01'): string[] => {
  const [start = '', ...rest] = anthropic.wholeStream(words);
  return [start.replace('msg_01', id), anthropic.ping, ...rest];
};

const count = (data: string[], pattern: RegExp) => data.filter((item) => pattern.test(item)).length;

/** One finish, one terminator, and one id. */
const isSoundChat = (events: { data: string }[]): boolean => {
  const data = events.map((event) => event.data);
  const ids = new Set(data.flatMap((item) => (item === '[DONE]' ? [] : [JSON.parse(item).id])));
  return count(data, /"finish_reason":"/) === 1 && count(data, /^\[DONE\]$/) === 1 && ids.size === 1;
};

const errorOf = ({ error }: Json): unknown => error;

export const dialects: Record<'chat' | 'completions' | 'messages' | 'responses', StreamDialect> = {
  chat: {
    path: '/v1/chat/completions',
    whole: (words, id = 'chatcmpl-Bq1') => openai.wholeStream(words).map((event) => event.replace('chatcmpl-Bq1', id)),
    textOf: (json) => json.choices?.[0]?.delta?.content ?? '',
    errorOf,
    isEnd: (data) => data === '[DONE]',
    isSound: isSoundChat,
  },
  completions: {
    path: '/v1/completions',
    whole: (words, id = 'cmpl-1') => [
      ...words.map((word) => completionChunk(word, null, id)),
      completionChunk('', 'stop', id),
      'data: [DONE]\n\n',
    ],
    textOf: (json) => json.choices?.[0]?.text ?? '',
    errorOf,
    isEnd: (data) => data === '[DONE]',
    isSound: isSoundChat,
  },
  messages: {
    path: '/v1/messages',
    whole: messageEvents,
    textOf: (json) => json.delta?.text ?? '',
    errorOf,
    isEnd: (data) => data.includes('"message_stop"'),
    isSound(events) {
      const names = events
        .map((event) => event.event)
        .filter((name) => name !== 'ping' && name !== 'content_block_delta');
      const open = events.findIndex((event) => event.event === 'content_block_start');
      const first = events.findIndex((event) => event.event === 'content_block_delta');
      const order = ['message_start', 'content_block_start', 'content_block_stop', 'message_delta', 'message_stop'];
      return names.join() === order.join() && open < first;
    },
  },
  responses: {
    path: '/v1/responses',
    whole: (words, id = 'resp_1') =>
      responseEvents(words).map((event) => event.replaceAll('resp_1', id).replaceAll('msg_1', `msg_of_${id}`)),
    textOf: ({ type, delta }) => (type === 'response.output_text.delta' ? delta : ''),
    errorOf: ({ response }) => response?.error,
    isEnd: (data) => data.includes('"response.completed"'),
    isSound: (events) => events.at(-1)?.event === 'response.completed' && Boolean(checkedResponse(events, 'joined')),
  },
};
