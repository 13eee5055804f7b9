/** A chat completion, read into an answer; also in the variants of providers that nearly speak this dialect. */
import type { AnswerChoice, AnswerPart, ChatAnswer, FinishReason } from '../chat/answer.ts';
import { ProviderFault } from '../faults.ts';
import { isObject, listOf, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { readUsage } from '../usage.ts';

export function readAnswer(answer: unknown, newId: (prefix: string) => string): ChatAnswer {
  const body = objectOf(answer);
  if (!Array.isArray(body.choices)) {
    throw new ProviderFault(502, `the answer has no choices: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  return {
    id: textOf(body.id),
    model: textOf(body.model),
    created: numberOf(body.created),
    choices: objectsOf(body.choices).map((choice, index) => readChoice(choice, index, newId)),
    usage: readUsage(body.usage),
    extras: {},
  };
}

function readChoice(choice: JsonObject, position: number, newId: (prefix: string) => string): AnswerChoice {
  const message = objectOf(choice.message);
  const calls = callsOf(message, newId);
  const providerFinish = textOf(choice.finish_reason);
  return {
    index: numberOf(choice.index) ?? position,
    parts: [...thoughtOf(message), ...saidIn(message), ...calls],
    finish: calls.length > 0 ? 'tool_calls' : finishOf(providerFinish),
    providerFinish,
    stopSequence: null,
    logprobs: choice.logprobs ?? null,
    annotations: objectsOf(message.annotations),
    extras: {},
  };
}

/** The model's thoughts, in either of the names that providers use. */
export const thoughtText = (message: JsonObject): string =>
  textOf(message.reasoning_content) ?? textOf(message.reasoning) ?? '';

function thoughtOf(message: JsonObject): AnswerPart[] {
  const text = thoughtText(message);
  return text === '' ? [] : [{ type: 'thinking', text, signature: null }];
}

function saidIn(message: JsonObject): AnswerPart[] {
  const text =
    isObject(message.content) || Array.isArray(message.content) ? listedText(message.content) : textOf(message.content);
  const refusal = textOf(message.refusal);
  return [
    ...(text ? [{ type: 'text', text } as const] : []),
    ...(refusal ? [{ type: 'refusal', text: refusal } as const] : []),
  ];
}

const listedText = (content: unknown): string =>
  listOf(content)
    .map((part) => textOf(objectOf(part).text) ?? '')
    .join('');

function callsOf(message: JsonObject, newId: (prefix: string) => string): AnswerPart[] {
  const legacy = isObject(message.function_call) ? [{ function: message.function_call }] : [];
  return [...objectsOf(message.tool_calls), ...legacy].map((call) => {
    const called = objectOf(objectOf(call).function);
    return {
      type: 'tool-call',
      id: textOf(objectOf(call).id) || newId('call_'),
      name: textOf(called.name) ?? '',
      arguments: argumentText(called.arguments),
      signature: textOf(called.thought_signature),
    };
  });
}

/** Some servers send the arguments as an object. */
export const argumentText = (value: unknown): string =>
  typeof value === 'string' ? value || '{}' : isObject(value) ? JSON.stringify(value) : '{}';

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  model_length: 'length',
  max_tokens: 'length',
  sensitive: 'content_filter',
};

/** Words that are not OpenAI's all mean that the model was done: `eos`, `end_turn`, `stop_sequence`. */
export const finishOf = (reason: string | null): FinishReason => finishes[reason ?? ''] ?? 'stop';
