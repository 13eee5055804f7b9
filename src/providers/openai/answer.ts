/** A chat completion, read into an answer; also in the variants of providers that nearly speak this dialect. */
import type { AnswerChoice, AnswerPart, ChatAnswer, FinishReason } from '../chat/answer.ts';
import { finishWithCalls } from '../chat/finish.ts';
import { ProviderFault } from '../faults.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { readUsage } from '../usage.ts';
import { mediaOf, saidIn } from './message.ts';

export function readAnswer(answer: unknown, newId: (prefix: string) => string): ChatAnswer {
  const body = objectOf(answer);
  const choices = objectsOf(body.choices);
  if (choices.length === 0) {
    throw new ProviderFault(502, `the answer has no choices: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  return {
    id: textOf(body.id) || null,
    model: textOf(body.model) || null,
    created: numberOf(body.created),
    choices: choices.map((choice, index) => readChoice(choice, index, newId)),
    usage: usageOf(body),
    extras: extrasOf(body, answerFields),
  };
}

/** Groq tells the usage of streams in an object of its own. */
export const usageOf = (body: JsonObject) => readUsage(body.usage) ?? readUsage(objectOf(body.x_groq).usage);

const answerFields = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'provider']);
const choiceFields = new Set(['index', 'message', 'delta', 'finish_reason', 'logprobs', 'text']);
const messageFields = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'audio',
  'images',
  'reasoning',
  'reasoning_content',
]);

/** What a provider adds of its own. */
export const extrasOf = (holder: JsonObject, known: ReadonlySet<string> = answerFields): JsonObject =>
  Object.fromEntries(Object.entries(holder).filter(([name, value]) => !known.has(name) && value !== null));

function readChoice(choice: JsonObject, position: number, newId: (prefix: string) => string): AnswerChoice {
  const message = objectOf(choice.message);
  const calls = callsOf(message, newId);
  const providerFinish = textOf(choice.finish_reason) || null;
  const said = saidIn(message);
  const parts: AnswerPart[] = [
    ...(said.thought === '' ? [] : [{ type: 'thinking', text: said.thought, signature: null } as const]),
    ...(said.text === '' ? [] : [{ type: 'text', text: said.text } as const]),
    ...(said.refusal === '' ? [] : [{ type: 'refusal', text: said.refusal } as const]),
    ...mediaOf(message),
    ...calls,
  ];
  return {
    index: numberOf(choice.index) ?? position,
    parts,
    finish: finishWithCalls(finishOf(providerFinish), calls.length > 0),
    providerFinish,
    stopSequence: null,
    logprobs: choice.logprobs ?? null,
    annotations: objectsOf(message.annotations),
    extras: { ...extrasOf(message, messageFields), ...extrasOf(choice, choiceFields) },
  };
}

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

const finishes: ReadonlyMap<string | null, FinishReason> = new Map(
  Object.entries({
    stop: 'stop',
    length: 'length',
    tool_calls: 'tool_calls',
    function_call: 'tool_calls',
    content_filter: 'content_filter',
    model_length: 'length',
    max_tokens: 'length',
    sensitive: 'content_filter',
  } as const),
);

/** Words that are not OpenAI's all mean that the model was done: `eos`, `end_turn`, `stop_sequence`. */
export const finishOf = (reason: string | null): FinishReason => finishes.get(reason) ?? 'stop';
