/** Answers of OCI in both of its formats, read into ours. */
import type { AnswerChoice, AnswerPart, ChatAnswer, FinishReason } from '../chat/answer.ts';
import { finishIn, finishWithCalls } from '../chat/finish.ts';
import { ProviderFault } from '../faults.ts';
import { countOf, isObject, listOf, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject, Usage } from '../provider.ts';
import { noUsage } from '../usage.ts';

type NewId = (prefix: string) => string;

export function readAnswer(answer: unknown, newId: NewId): ChatAnswer {
  const body = objectOf(answer);
  const response = objectOf(body.chatResponse);
  const choices = isObject(body.chatResponse) ? choicesIn(response, newId) : [];
  if (choices.length === 0) {
    throw new ProviderFault(502, `the answer has no choices: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  const created = Date.parse(textOf(response.timeCreated) ?? '');
  return {
    id: null,
    model: textOf(body.modelId),
    created: Number.isNaN(created) ? null : Math.floor(created / 1000),
    choices,
    usage: readUsage(response.usage),
    extras: {},
  };
}

const choicesIn = (response: JsonObject, newId: NewId): AnswerChoice[] =>
  Array.isArray(response.choices)
    ? objectsOf(response.choices).map((choice, position) => choiceOf(choice, position, newId))
    : [
        choiceOf(
          { message: { ...response, content: [{ text: response.text }] }, finishReason: response.finishReason },
          0,
          newId,
        ),
      ];

function choiceOf(choice: JsonObject, position: number, newId: NewId): AnswerChoice {
  const message = objectOf(choice.message);
  const calls = callsIn(message.toolCalls).map(
    (call): AnswerPart => ({
      type: 'tool-call',
      id: call.id ?? newId('call_'),
      name: call.name ?? '',
      arguments: call.arguments || '{}',
      signature: null,
    }),
  );
  const providerFinish = textOf(choice.finishReason);
  const [thought, text] = [textOf(message.reasoningContent), textIn(message)];
  return {
    index: numberOf(choice.index) ?? position,
    parts: [
      ...(thought ? [{ type: 'thinking', text: thought, signature: null } as const] : []),
      ...(text ? [{ type: 'text', text } as const] : []),
      ...calls,
    ],
    finish: finishWithCalls(finishOf(providerFinish), calls.length > 0),
    providerFinish,
    stopSequence: null,
    logprobs: null,
    annotations: [],
    extras: {},
  };
}

export const textIn = (message: JsonObject): string =>
  listOf(message.content)
    .map((part) => textOf(objectOf(part).text) ?? '')
    .join('');

export interface ReadCall {
  id: string | null;
  name: string | null;
  arguments: string;
}

/** One format has arguments as text, the other parameters as an object. */
export const callsIn = (raw: unknown): ReadCall[] =>
  objectsOf(raw).map((call) => ({
    id: textOf(call.id),
    name: textOf(call.name),
    arguments: textOf(call.arguments) ?? (isObject(call.parameters) ? JSON.stringify(call.parameters) : ''),
  }));

const finishes: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({
    stop: 'stop',
    complete: 'stop',
    stop_sequence: 'stop',
    end_turn: 'stop',
    length: 'length',
    max_tokens: 'length',
    tool_calls: 'tool_calls',
    tool_call: 'tool_calls',
    content_filter: 'content_filter',
    error_toxic: 'content_filter',
  }),
);

/** An answer that the model did not finish is none. */
export function finishOf(reason: string | null): FinishReason {
  const said = reason?.toLowerCase() ?? '';
  if (said === 'error' || said === 'error_limit') throw new ProviderFault(502, `the model stopped with ${reason}`);
  return finishIn(finishes, said);
}

export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  return {
    ...noUsage,
    inputTokens: countOf(raw.promptTokens),
    outputTokens: countOf(raw.completionTokens),
    cacheReadTokens: countOf(objectOf(raw.promptTokensDetails).cachedTokens),
    reasoningTokens: countOf(objectOf(raw.completionTokensDetails).reasoningTokens),
  };
}
