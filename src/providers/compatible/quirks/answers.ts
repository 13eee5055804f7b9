/** Sets right where the answers of a provider differ from OpenAI's in ways that its clients do not know. */
import type { ProviderFault } from '../../faults.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../../json.ts';
import { argumentText, finishOf } from '../../openai/answer.ts';
import type { CallFacts, JsonObject } from '../../provider.ts';
import { eachIn, inside } from './same.ts';

/** Made anew for each answer. It is given the whole answer, or one chunk after the other, and hands the very same object back where nothing differs. */
export type Mend = (facts: CallFacts) => (answer: JsonObject) => JsonObject;

const eachChoice =
  (change: (choice: JsonObject) => JsonObject) =>
  (answer: JsonObject): JsonObject =>
    eachIn(answer, 'choices', change);

/** What was said: all of it, or the next piece. */
const said = (choice: JsonObject, change: (message: JsonObject) => JsonObject): JsonObject =>
  inside(inside(choice, 'message', change), 'delta', change);

const known = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/** Words that OpenAI's clients do not know become those they do; where answers need not be strict, the provider's own stay. */
export const finishReasons: Mend = ({ strict }) =>
  eachChoice((choice) => {
    const reason = textOf(choice.finish_reason);
    if (reason === null || known.has(reason)) return choice;
    if (reason === '') return { ...choice, finish_reason: 'delta' in choice ? null : 'stop' };
    return strict ? { ...choice, finish_reason: finishOf(reason) } : choice;
  });

/** Thoughts under the name that most clients look for, besides the provider's own. */
export const thoughtsUnderBothNames: Mend = () =>
  eachChoice((choice) =>
    said(choice, (message) => {
      const thought = textOf(message.reasoning);
      return thought && !('reasoning_content' in message) ? { ...message, reasoning_content: thought } : message;
    }),
  );

/** Content that is a list of texts and thoughts is told apart. */
export const contentAsText: Mend = ({ strict }) =>
  eachChoice((choice) =>
    said(choice, (message) => {
      const { content, ...rest } = message;
      if (!Array.isArray(content)) return message;
      const parts = objectsOf(content);
      const text = parts.map((part) => (part.type === 'text' ? (textOf(part.text) ?? '') : '')).join('');
      const thought = parts.map(thoughtIn).join('');
      return {
        ...rest,
        ...((text !== '' || 'message' in choice) && { content: text }),
        ...(thought !== '' && { reasoning_content: thought }),
        ...(!strict && { content_blocks: content }),
      };
    }),
  );

/** `{type: 'thinking', thinking: [{text}]}`, or `{type: 'reasoning', summary: [{text}]}`. */
const thoughtIn = ({ type, thinking, summary }: JsonObject): string =>
  type === 'thinking' || type === 'reasoning'
    ? (textOf(thinking) ??
      objectsOf(thinking ?? summary)
        .map((part) => textOf(part.text) ?? '')
        .join(''))
    : '';

/** Calls that come whole, without their number, kind or id, or with arguments that are no text. */
export const wholeCalls: Mend = ({ newId }) => {
  const counted = new Map<unknown, number>();
  return eachChoice((choice) =>
    said(choice, (message) =>
      eachIn(message, 'tool_calls', (call) => {
        const called = objectOf(call.function);
        const opens = textOf(called.name) !== null;
        const next = counted.get(choice.index) ?? 0;
        const index = numberOf(call.index) ?? (opens ? next : Math.max(0, next - 1));
        if (opens) counted.set(choice.index, Math.max(next, index + 1));
        const plain = inside(call, 'function', (each) =>
          isObject(each.arguments) ? { ...each, arguments: argumentText(each.arguments) } : each,
        );
        const numbered = 'delta' in choice && call.index !== index ? { index, ...plain } : plain;
        if (!opens || (textOf(call.id) && call.type === 'function')) return numbered;
        return { ...numbered, id: textOf(call.id) || newId('call_'), type: 'function' };
      }),
    ),
  );
};

/** One id, time and model for the whole stream, where the provider leaves them out. */
export const namedChunks: Mend = ({ newId, now, model }) => {
  let id: string | null = null;
  return (answer) => {
    if (!Array.isArray(answer.choices) || (textOf(answer.id) && numberOf(answer.created) !== null)) return answer;
    id ??= textOf(answer.id) || newId('chatcmpl-');
    return { ...answer, id, created: numberOf(answer.created) ?? now(), model: textOf(answer.model) ?? model };
  };
};

/** A failure that is answered with status 200: how its code is read is the provider's. */
export const failures =
  (read: (answer: JsonObject) => ProviderFault | null): Mend =>
  () =>
  (answer) => {
    const fault = read(answer);
    if (fault) throw fault;
    return answer;
  };
