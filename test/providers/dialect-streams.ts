/** Short streams of the dialects that providers speak, event by event: a word, a tool call, and the end. */
import { bytesFrame, eventFrame } from './event-stream.ts';

export type StreamDialect = 'openai' | 'anthropic' | 'gemini' | 'cohere' | 'bedrock' | 'payload' | 'lines';

/** One event: what it is called, where the framing has names for events, and what it says. */
export interface Said {
  event: string | null;
  json: unknown;
}

interface DialectStream {
  contentType: string;
  said: readonly Said[];
  /** The number of events before the first that says that the model is done. */
  unfinished: number;
  framed(said: Said): Uint8Array;
  end: string;
}

const data = ({ event, json }: Said): Uint8Array =>
  Buffer.from(`${event === null ? '' : `event: ${event}\n`}data: ${JSON.stringify(json)}\n\n`);

const sse = 'text/event-stream';
const plain = (json: object): Said => ({ event: null, json });
const named = (json: { type: string } & Record<string, unknown>): Said => ({ event: json.type, json });

const chunk = (delta: object, finish_reason: string | null = null): Said =>
  plain({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });

const openai: DialectStream = {
  contentType: sse,
  said: [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Hm' }),
    chunk({ content: 'Hello' }),
    chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Paris"}' } }] }),
    chunk({}, 'tool_calls'),
    plain({ id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }),
  ],
  unfinished: 5,
  framed: data,
  end: 'data: [DONE]\n\n',
};

const anthropic: DialectStream = {
  contentType: sse,
  said: [
    named({
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 3 } },
    }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } }),
    named({ type: 'content_block_stop', index: 0 }),
    named({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }),
    named({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello' } }),
    named({ type: 'content_block_stop', index: 1 }),
    named({
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
    }),
    named({
      type: 'content_block_delta',
      index: 2,
      delta: { type: 'input_json_delta', partial_json: '{"city":"Paris"}' },
    }),
    named({ type: 'content_block_stop', index: 2 }),
    named({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 2 },
    }),
    named({ type: 'message_stop' }),
  ],
  unfinished: 11,
  framed: data,
  end: '',
};

const record = (parts: object[], more: object = {}): Said =>
  plain({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], modelVersion: 'm', responseId: 'r' });

const gemini: DialectStream = {
  contentType: sse,
  said: [
    record([{ text: 'Hm', thought: true }]),
    record([{ text: 'Hello' }]),
    record([{ functionCall: { name: 'look', args: { city: 'Paris' } }, thoughtSignature: 'c2ln' }]),
    record([{ text: '' }], { finishReason: 'STOP' }),
  ],
  unfinished: 3,
  framed: data,
  end: '',
};

const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } };

const cohere: DialectStream = {
  contentType: sse,
  said: [
    named({ id: 'c-1', type: 'message-start', delta: { message: { role: 'assistant', content: [] } } }),
    named({ type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } }),
    named({ type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hello' } } } }),
    named({ type: 'content-end', index: 0 }),
    named({ type: 'tool-plan-delta', delta: { message: { tool_plan: 'I look.' } } }),
    named({ type: 'tool-call-start', index: 0, delta: { message: { tool_calls: call } } }),
    named({
      type: 'tool-call-delta',
      index: 0,
      delta: { message: { tool_calls: { function: { arguments: '{"city":"Paris"}' } } } },
    }),
    named({ type: 'tool-call-end', index: 0 }),
    named({
      type: 'message-end',
      delta: { finish_reason: 'TOOL_CALL', usage: { tokens: { input_tokens: 3, output_tokens: 2 } } },
    }),
  ],
  unfinished: 8,
  framed: data,
  end: '',
};

const frame = (event: string, json: object): Said => ({ event, json });

const bedrock: DialectStream = {
  contentType: 'application/vnd.amazon.eventstream',
  said: [
    frame('messageStart', { role: 'assistant' }),
    frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm' } } }),
    frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'c2ln' } } }),
    frame('contentBlockStop', { contentBlockIndex: 0 }),
    frame('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Hello' } }),
    frame('contentBlockStop', { contentBlockIndex: 1 }),
    frame('contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'look' } } }),
    frame('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"city":"Paris"}' } } }),
    frame('contentBlockStop', { contentBlockIndex: 2 }),
    frame('messageStop', { stopReason: 'tool_use' }),
    frame('metadata', { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } }),
  ],
  unfinished: 9,
  framed: ({ event, json }) => eventFrame(event ?? '', json),
  end: '',
};

/** OpenAI's stream inside frames of AWS. */
const payload: DialectStream = {
  ...openai,
  contentType: bedrock.contentType,
  framed: (said) => bytesFrame('PayloadPart', Buffer.from(data(said))),
  end: '',
};

const lines: DialectStream = {
  contentType: 'application/x-ndjson',
  said: [
    plain({ model: 'm', message: { role: 'assistant', content: '', thinking: 'Hm' }, done: false }),
    plain({ model: 'm', message: { role: 'assistant', content: 'Hello' }, done: false }),
    plain({
      model: 'm',
      message: { role: 'assistant', content: '', tool_calls: [{ function: { name: 'look', arguments: { a: 1 } } }] },
      done: false,
    }),
    plain({ model: 'm', message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', eval_count: 2 }),
  ],
  unfinished: 3,
  framed: ({ json }) => Buffer.from(`${JSON.stringify(json)}\n`),
  end: '',
};

export const dialectStreams: Readonly<Record<StreamDialect, DialectStream>> = {
  openai,
  anthropic,
  gemini,
  cohere,
  bedrock,
  payload,
  lines,
};
