/** Anthropic's API as far as it can be told from outside: it refuses what the real one refuses, and answers from a script, whole or streamed. */
import type { Json } from '../harness.ts';
import { blockStart, blockStop, delta, event, failure, ping } from './anthropic.ts';
import { refusalOf } from './anthropic-rules.ts';
import { type Behaviour, json, stream } from './simulated.ts';

export interface Scripted {
  content: readonly Json[];
  stop_reason?: string;
  stop_sequence?: string;
  usage?: Json;
  container?: Json;
}

const requestId = { 'request-id': 'req_011' };

const plainUsage = {
  input_tokens: 25,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 15,
  service_tier: 'standard',
};

export const messageOf = (model: string, { content, usage, ...more }: Scripted) => ({
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason: more.stop_reason ?? 'end_turn',
  stop_sequence: more.stop_sequence ?? null,
  usage: { ...plainUsage, ...usage },
  ...(more.container && { container: more.container }),
});

/** Who calls with the wrong key or without a version is refused, and so is a request that the real API would refuse. */
export const guarded =
  (answer: Behaviour): Behaviour =>
  (call, response) => {
    const { 'x-api-key': key, authorization, 'anthropic-version': version } = call.headers;
    const signed = key || authorization;
    if (!signed) return failure(401, 'authentication_error', 'x-api-key header is required')(call, response);
    if (key === 'sk-wrong') return failure(401, 'authentication_error', 'invalid x-api-key')(call, response);
    if (!version) return invalid('anthropic-version: header is required')(call, response);
    const refusal = call.path.split('?')[0] === '/v1/messages' ? refusalOf(call) : null;
    return (refusal === null ? answer : invalid(refusal))(call, response);
  };

const invalid = (message: string): Behaviour => failure(400, 'invalid_request_error', message);

/** A message of these blocks, in the way that the call wants it. */
export const answers = (scripted: Scripted): Behaviour =>
  guarded((call, response) => {
    const message = messageOf(call.json.model, scripted);
    return call.json.stream ? stream(eventsOf(message))(call, response) : json(200, message, requestId)(call, response);
  });

export const says = (text: string, usage?: Json): Behaviour => answers({ content: [{ type: 'text', text }], usage });

/** The message as the API streams it: usage of the input first, blocks in pieces, the reason to stop last. */
export function eventsOf({ content, stop_reason, stop_sequence, usage, container, ...head }: Json): string[] {
  const { output_tokens, output_tokens_details, server_tool_use, ...input } = usage;
  const opened = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...input, output_tokens: 1 },
  };
  return [
    event('message_start', { message: opened }),
    ping,
    ...content.flatMap(blockEvents),
    event('message_delta', {
      delta: { stop_reason, stop_sequence, ...(container && { container }) },
      usage: {
        output_tokens,
        ...(output_tokens_details && { output_tokens_details }),
        ...(server_tool_use && { server_tool_use }),
      },
    }),
    event('message_stop'),
  ];
}

const piece = 7;
const piecesOf = (text: string): string[] => text.match(new RegExp(`[\\s\\S]{1,${piece}}`, 'g')) ?? [];

function blockEvents(block: Json, index: number): string[] {
  const { begun, deltas } = pieces(block);
  return [blockStart(index, begun), ...deltas.map((change) => delta(index, change)), blockStop(index)];
}

function pieces(block: Json): { begun: Json; deltas: Json[] } {
  switch (block.type) {
    case 'text':
      return {
        begun: { type: 'text', text: '', ...(block.citations && { citations: [] }) },
        deltas: [
          ...(block.citations ?? []).map((citation: Json) => ({ type: 'citations_delta', citation })),
          ...piecesOf(block.text).map((text) => ({ type: 'text_delta', text })),
        ],
      };
    case 'thinking':
      return {
        begun: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...piecesOf(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      };
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return {
        begun: { ...block, input: {} },
        deltas: [
          { type: 'input_json_delta', partial_json: '' },
          ...piecesOf(isEmpty(block.input) ? '' : JSON.stringify(block.input)).map((partial_json) => ({
            type: 'input_json_delta',
            partial_json,
          })),
        ],
      };
    default:
      return { begun: block, deltas: [] };
  }
}

const isEmpty = (input: Json): boolean => Object.keys(input).length === 0;
