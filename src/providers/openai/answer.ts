/** A chat completion, read into an answer; also in the variants of providers that nearly speak this dialect. */
import type { Annotation, AnswerChoice, AnswerPart, ChatAnswer, FinishReason } from '../chat/answer.ts';
import { finishIn, finishWithCalls } from '../chat/finish.ts';
import { ProviderFault } from '../faults.ts';
import { isObject, listOf, numberOf, objectOf, objectsOf, present, textOf } from '../json.ts';
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
    choices: choices.map((choice, index) => readChoice(choice, index, sourcesOf(body), newId)),
    usage: usageOf(body),
    extras: extrasOf(body, answerFields),
  };
}

/** Groq tells the usage of streams in an object of its own. */
export const usageOf = (body: JsonObject) => readUsage(body.usage) ?? readUsage(objectOf(body.x_groq).usage);

/** Where the whole answer comes from, where that stands beside it: pages that were found, or their bare addresses. */
export function sourcesOf({ search_results: found, citations }: JsonObject): Annotation[] {
  const pages = objectsOf(found);
  const addresses = pages.length > 0 ? pages : listOf(citations).map((url) => ({ url }));
  return addresses.flatMap(({ url, title }: JsonObject) =>
    typeof url === 'string' ? [{ type: 'url_citation', url_citation: present({ url, title }) }] : [],
  );
}

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

function readChoice(
  choice: JsonObject,
  position: number,
  sources: readonly Annotation[],
  newId: (prefix: string) => string,
): AnswerChoice {
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
    annotations: [...objectsOf(message.annotations), ...sources],
    extras: { ...extrasOf(message, messageFields), ...extrasOf(choice, choiceFields) },
  };
}

function callsOf(message: JsonObject, newId: (prefix: string) => string): AnswerPart[] {
  const legacy = isObject(message.function_call) ? [{ function: message.function_call }] : [];
  return [...objectsOf(message.tool_calls), ...legacy].filter(isCall).map((call) => {
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

/** Some servers write the field of a call into every answer, and leave it empty where nothing is called. */
export function isCall({ function: called }: JsonObject): boolean {
  const { name, arguments: given } = objectOf(called);
  return Boolean(textOf(name)) || Boolean(textOf(given)) || isObject(given);
}

/** Some servers send the arguments as an object. */
export const argumentText = (value: unknown): string =>
  typeof value === 'string' ? value || '{}' : isObject(value) ? JSON.stringify(value) : '{}';

/** What servers say besides `stop` when the model was done. */
const doneWords = Object.fromEntries(
  [
    'eos',
    'eos_token',
    'end_turn',
    'end',
    'end_of_text',
    'stop_sequence',
    'stop_token',
    'complete',
    'completed',
    'done',
    'finished',
  ].map((word) => [word, 'stop' as const]),
);

const finishes: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({
    stop: 'stop',
    length: 'length',
    tool_calls: 'tool_calls',
    function_call: 'tool_calls',
    content_filter: 'content_filter',
    model_length: 'length',
    max_tokens: 'length',
    max_output_tokens: 'length',
    sensitive: 'content_filter',
    safety: 'content_filter',
    ...doneWords,
  } satisfies Record<string, FinishReason>),
);

export const finishOf = (reason: string | null): FinishReason => finishIn(finishes, reason?.toLowerCase() ?? null);
