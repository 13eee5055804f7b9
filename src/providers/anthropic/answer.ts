/** A message, read into an answer. */
import type { Annotation, AnswerPart, ChatAnswer, FinishReason } from '../chat/answer.ts';
import { unfolded } from '../chat/answer-tool.ts';
import { finishIn } from '../chat/finish.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { isObject, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { readUsage } from '../usage.ts';
import { readCitations } from './citations.ts';

export function readMessage(answer: unknown): ChatAnswer {
  const message = objectOf(answer);
  if (!Array.isArray(message.content)) {
    throw message.type === 'error' && isObject(message.error)
      ? (faultOf(message) ?? notAMessage(answer))
      : notAMessage(answer);
  }
  const blocks = objectsOf(message.content);
  const parts = partsOf(blocks);
  const providerFinish = textOf(message.stop_reason);
  const { annotations, others } = citationsIn(blocks);
  const read: ChatAnswer = {
    id: textOf(message.id),
    model: textOf(message.model),
    created: null,
    choices: [
      {
        index: 0,
        parts,
        finish: finishOf(providerFinish),
        providerFinish,
        stopSequence: textOf(message.stop_sequence),
        logprobs: null,
        annotations,
        extras: others.length > 0 ? { citations: others } : {},
      },
    ],
    usage: readUsage(message.usage),
    extras: extrasOf(message),
  };
  return parts.some(({ type }) => type === 'tool-call') ? unfolded(read) : read;
}

const notAMessage = (answer: unknown): ProviderFault =>
  new ProviderFault(502, `the answer is no message: ${JSON.stringify(answer).slice(0, 500)}`);

/** Where the model worked, what of its context was removed, why it refused. */
export const extrasOf = ({ container, context_management, stop_details }: JsonObject): JsonObject =>
  (container ?? context_management ?? stop_details ?? null) === null
    ? {}
    : present({ container, context_management, stop_details });

function partsOf(blocks: readonly JsonObject[]): AnswerPart[] {
  const parts: AnswerPart[] = [];
  for (const block of blocks) {
    const part = partOf(block);
    if (part) parts.push(part);
  }
  return parts;
}

function partOf(block: JsonObject): AnswerPart | null {
  switch (block.type) {
    case 'text': {
      const text = textOf(block.text);
      return text ? { type: 'text', text } : null;
    }
    case 'thinking':
      return { type: 'thinking', text: textOf(block.thinking) ?? '', signature: textOf(block.signature) };
    case 'redacted_thinking':
      return { type: 'redacted-thinking', content: textOf(block.data) ?? '' };
    case 'tool_use': {
      const [id, name] = [textOf(block.id) ?? '', textOf(block.name) ?? ''];
      return { type: 'tool-call', id, name, arguments: JSON.stringify(objectOf(block.input)), signature: null };
    }
    default:
      return { type: 'block', block };
  }
}

function citationsIn(blocks: readonly JsonObject[]): { annotations: Annotation[]; others: JsonObject[] } {
  const annotations: Annotation[] = [];
  const others: JsonObject[] = [];
  let from = 0;
  for (const block of blocks) {
    const length = block.type === 'text' ? (textOf(block.text) ?? '').length : 0;
    if (Array.isArray(block.citations)) {
      const read = readCitations(objectsOf(block.citations), { from, to: from + length });
      annotations.push(...read.annotations);
      others.push(...read.others);
    }
    from += length;
  }
  return { annotations, others };
}

const finishes: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({
    end_turn: 'stop',
    stop_sequence: 'stop',
    pause_turn: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    compaction: 'length',
    tool_use: 'tool_calls',
    refusal: 'content_filter',
  }),
);

export const finishOf = (reason: string | null): FinishReason => finishIn(finishes, reason);

const statuses: ReadonlyMap<string, number> = new Map(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  }),
);

/** The fault that an error in place of an answer, or inside a stream, tells of, with the status that it has by itself. */
export function faultOf(event: JsonObject): ProviderFault | null {
  return faultIn(statuses.get(textOf(objectOf(event.error).type) ?? '') ?? 502, event);
}
