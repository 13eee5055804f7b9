/** A host that speaks OpenAI's chat completions and nothing else: it refuses what such hosts refuse, and answers from a script, whole or streamed. */
import type { Json } from '../harness.ts';
import { refusalOf } from './chat-rules.ts';
import { type Behaviour, json, stream } from './simulated.ts';

export interface ChatScript {
  content?: string;
  reasoning?: string;
  /** The same under the other name in use. */
  reasoning_content?: string;
  refusal?: string;
  tool_calls?: readonly { id: string; name: string; arguments: string }[];
  annotations?: readonly Json[];
  finish_reason?: string;
  usage?: Json;
}

export const chatUsage = {
  prompt_tokens: 25,
  completion_tokens: 15,
  total_tokens: 40,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

const head = (object: string, model: string) => ({ id: 'chatcmpl-9', object, created: 1_760_000_000, model });
const finishOf = ({ finish_reason, tool_calls }: ChatScript): string =>
  finish_reason ?? (tool_calls ? 'tool_calls' : 'stop');

export const failure = (status: number, message: string, type: string, code: string | null = null): Behaviour =>
  json(status, { error: { message, type, param: null, code } }, { 'x-request-id': 'req_9' });

export const guarded =
  (answer: Behaviour): Behaviour =>
  (call, response) => {
    if (call.path !== '/v1/chat/completions')
      return failure(
        404,
        `Unknown request URL: ${call.method} ${call.path}.`,
        'invalid_request_error',
        'unknown_url',
      )(call, response);
    if (!/^Bearer sk-(?!wrong)/.test(call.headers.authorization ?? ''))
      return failure(401, 'Invalid API Key', 'invalid_request_error', 'invalid_api_key')(call, response);
    const refusal = refusalOf(call.json);
    return (refusal === null ? answer : failure(400, refusal, 'invalid_request_error'))(call, response);
  };

/** This answer, in the way that the call wants it. */
export const answers = (script: ChatScript): Behaviour =>
  guarded((call, response) =>
    call.json.stream
      ? stream(chunksOf(script, call.json))(call, response)
      : json(200, completionOf(script, call.json.model))(call, response),
  );

export const says = (content: string): Behaviour => answers({ content });

export function completionOf(script: ChatScript, model: string): Json {
  const { content, reasoning, reasoning_content, refusal, tool_calls, annotations, usage = chatUsage } = script;
  const message = {
    role: 'assistant',
    content: content ?? null,
    ...(reasoning && { reasoning }),
    ...(reasoning_content && { reasoning_content }),
    ...(refusal && { refusal }),
    ...(annotations && { annotations }),
    ...(tool_calls && {
      tool_calls: tool_calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
    }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(script) };
  return { ...head('chat.completion', model), choices: [choice], usage };
}

const piecesOf = (text: string): string[] => text.match(/[\s\S]{1,6}/g) ?? [];

/** Words in pieces, calls opened and then filled, the figures last and only where they were asked for. */
export function chunksOf(script: ChatScript, { model, stream_options }: Json): string[] {
  const {
    content = '',
    reasoning = '',
    reasoning_content = '',
    refusal = '',
    tool_calls = [],
    annotations,
    usage = chatUsage,
  } = script;
  const deltas = [
    { role: 'assistant', content: '' },
    ...piecesOf(reasoning).map((piece) => ({ reasoning: piece })),
    ...piecesOf(reasoning_content).map((piece) => ({ reasoning_content: piece })),
    ...piecesOf(content).map((piece) => ({ content: piece })),
    ...piecesOf(refusal).map((piece) => ({ refusal: piece })),
    ...(annotations ? [{ annotations }] : []),
    ...tool_calls.flatMap(({ id, name, arguments: args }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...piecesOf(args).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
  const choices = [
    ...deltas.map((delta) => ({ index: 0, delta, logprobs: null, finish_reason: null })),
    { index: 0, delta: {}, logprobs: null, finish_reason: finishOf(script) },
  ];
  const chunks = [
    ...choices.map((choice) => ({ choices: [choice] })),
    ...(stream_options?.include_usage ? [{ choices: [], usage }] : []),
  ];
  return [
    ...chunks.map((chunk) => `data: ${JSON.stringify({ ...head('chat.completion.chunk', model), ...chunk })}\n\n`),
    'data: [DONE]\n\n',
  ];
}

/** The stream of an answer that fails after this many events. */
export const breaksAfter = (events: number, script: ChatScript, error: Json): Behaviour =>
  guarded((call, response) =>
    stream([...chunksOf(script, call.json).slice(0, events), `data: ${JSON.stringify({ error })}\n\n`])(call, response),
  );

/** The stream of an answer whose connection ends after this many events. */
export const endsAfter = (events: number, script: ChatScript): Behaviour =>
  guarded((call, response) => stream(chunksOf(script, call.json).slice(0, events))(call, response));
