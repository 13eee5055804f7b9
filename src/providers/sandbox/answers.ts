/** The sandbox's words in each dialect: an echo of the question, with ids and usage that depend on the question alone. */

import { createHash } from 'node:crypto';
import { wordOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import type { Knobs } from './knobs.ts';

/** Fixed, so that the same question gets the same bytes. */
const created = 1_735_689_600;

interface Reply {
  text: string;
  model: string;
  id: string;
  inputTokens: number;
  outputTokens: number;
}

const tokens = (text: string): number => Math.max(1, Math.ceil(text.length / 4));

function replyTo(body: JsonObject, knobs: Knobs): Reply {
  const question = lastQuestion(body);
  const text = knobs.words
    ? Array.from({ length: knobs.words }, (_, index) => `word${index + 1}`).join(' ')
    : `You said: ${question}`;
  return {
    text,
    model: typeof body.model === 'string' ? body.model : 'echo',
    id: createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 24),
    inputTokens: tokens(JSON.stringify(body.messages ?? body.input ?? '')),
    outputTokens: tokens(text),
  };
}

/** The text of the last message, in any dialect. */
function lastQuestion(body: JsonObject): string {
  if (typeof body.input === 'string') return body.input;
  const list = Array.isArray(body.messages) ? body.messages : Array.isArray(body.input) ? body.input : [];
  const last = list.at(-1) as { content?: unknown } | undefined;
  return textOf(last?.content);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

/** The reply cut into pieces: as many as asked for, else word by word. */
function pieces(text: string, knobs: Knobs): string[] {
  if (!knobs.chunks) return text.match(/\s*\S+/g) ?? [text];
  const size = Math.max(1, Math.ceil(text.length / knobs.chunks));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, value: object): string => `event: ${type}\n${data({ type, ...value })}`;

const chatUsage = ({ inputTokens, outputTokens }: Reply) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

export function chatAnswer(body: JsonObject, knobs: Knobs): object {
  const reply = replyTo(body, knobs);
  return {
    id: `chatcmpl-${reply.id}`,
    object: 'chat.completion',
    created,
    model: reply.model,
    choices: [{ index: 0, message: { role: 'assistant', content: reply.text }, logprobs: null, finish_reason: 'stop' }],
    usage: chatUsage(reply),
  };
}

export function chatChunks(body: JsonObject, knobs: Knobs): string[] {
  const reply = replyTo(body, knobs);
  const head = { id: `chatcmpl-${reply.id}`, object: 'chat.completion.chunk', created, model: reply.model };
  const choice = (delta: object, finish_reason: string | null = null) =>
    data({ ...head, choices: [{ index: 0, delta, finish_reason }] });
  const wantsUsage = (body.stream_options as { include_usage?: unknown } | undefined)?.include_usage === true;
  return [
    choice({ role: 'assistant', content: '' }),
    ...pieces(reply.text, knobs).map((content) => choice({ content })),
    choice({}, 'stop'),
    ...(wantsUsage ? [data({ ...head, choices: [], usage: chatUsage(reply) })] : []),
    'data: [DONE]\n\n',
  ];
}

const messageUsage = ({ inputTokens, outputTokens }: Reply) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
});

export function messageAnswer(body: JsonObject, knobs: Knobs): object {
  const reply = replyTo(body, knobs);
  return {
    id: `msg_${reply.id}`,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: [{ type: 'text', text: reply.text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: messageUsage(reply),
  };
}

export function messageEvents(body: JsonObject, knobs: Knobs): string[] {
  const reply = replyTo(body, knobs);
  const message = {
    ...messageAnswer(body, knobs),
    content: [],
    stop_reason: null,
    usage: { ...messageUsage(reply), output_tokens: 1 },
  };
  return [
    named('message_start', { message }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...pieces(reply.text, knobs).map((text) =>
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    named('content_block_stop', { index: 0 }),
    named('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: reply.outputTokens },
    }),
    named('message_stop', {}),
  ];
}

export function responseAnswer(body: JsonObject, knobs: Knobs): object {
  const reply = replyTo(body, knobs);
  return responseObject(reply, 'completed', [outputItem(reply, reply.text, 'completed')]);
}

const responseObject = (reply: Reply, status: string, output: object[]) => ({
  id: `resp_${reply.id}`,
  object: 'response',
  created_at: created,
  status,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model: reply.model,
  output,
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  usage:
    status === 'completed'
      ? {
          input_tokens: reply.inputTokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: reply.outputTokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: reply.inputTokens + reply.outputTokens,
        }
      : null,
});

const outputText = (text: string) => ({ type: 'output_text', text, annotations: [] });

const outputItem = (reply: Reply, text: string | null, status: string) => ({
  id: `msg_${reply.id}`,
  type: 'message',
  status,
  role: 'assistant',
  content: text === null ? [] : [outputText(text)],
});

export function responseEvents(body: JsonObject, knobs: Knobs): string[] {
  const reply = replyTo(body, knobs);
  const place = { item_id: `msg_${reply.id}`, output_index: 0, content_index: 0 };
  const done = outputItem(reply, reply.text, 'completed');
  const events: [string, object][] = [
    ['response.created', { response: responseObject(reply, 'in_progress', []) }],
    ['response.in_progress', { response: responseObject(reply, 'in_progress', []) }],
    ['response.output_item.added', { output_index: 0, item: outputItem(reply, null, 'in_progress') }],
    ['response.content_part.added', { ...place, part: outputText('') }],
    ...pieces(reply.text, knobs).map((delta): [string, object] => ['response.output_text.delta', { ...place, delta }]),
    ['response.output_text.done', { ...place, text: reply.text }],
    ['response.content_part.done', { ...place, part: outputText(reply.text) }],
    ['response.output_item.done', { output_index: 0, item: done }],
    ['response.completed', { response: responseObject(reply, 'completed', [done]) }],
  ];
  return events.map(([type, value], sequence_number) => named(type, { ...value, sequence_number }));
}

const dimensions = 8;

/** Vectors that depend on the text alone; near texts are not near here, since nothing is learnt. */
export function embeddingsAnswer(body: JsonObject): object {
  const inputs = Array.isArray(body.input) ? body.input : [body.input];
  const total = inputs.reduce<number>((sum, input) => sum + tokens(wordOf(input)), 0);
  return {
    object: 'list',
    data: inputs.map((input, index) => ({ object: 'embedding', index, embedding: vectorOf(wordOf(input)) })),
    model: body.model ?? 'echo',
    usage: { prompt_tokens: total, total_tokens: total },
  };
}

function vectorOf(text: string): number[] {
  const digest = createHash('sha256').update(text).digest();
  return Array.from({ length: dimensions }, (_, index) => (digest[index] ?? 0) / 127.5 - 1);
}
