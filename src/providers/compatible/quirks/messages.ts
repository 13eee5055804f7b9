/** Small differences in the messages that a provider takes. */
import { isObject, textOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import type { Quirk } from './parameters.ts';
import { eachIn, lacking } from './same.ts';

const eachMessage =
  (change: (message: JsonObject) => JsonObject): Quirk =>
  (body) =>
    eachIn(body, 'messages', change);

/** Only OpenAI's own models know the role `developer`. */
export const developerAsSystem = eachMessage((message) =>
  message.role === 'developer' ? { ...message, role: 'system' } : message,
);

/** Content that is a list of nothing but text becomes the text. */
export const textAsString = eachMessage((message) => {
  const { content } = message;
  if (!Array.isArray(content) || !content.every(isText)) return message;
  return { ...message, content: content.map((part) => part.text).join('') };
});

/** A mark for the prompt cache would be lost with the part. */
const isText = (part: unknown): part is JsonObject & { text: string } =>
  isObject(part) && part.type === 'text' && textOf(part.text) !== null && !('cache_control' in part);

export const nameOnToolsOnly = eachMessage((message) => (message.role === 'tool' ? message : lacking(message, 'name')));

/** Thoughts of earlier turns are refused, except with the tool calls of the turn that is still running. */
export const thoughtsOfRunningTurn: Quirk = (body) => {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  const lastQuestion = messages.findLastIndex((message) => isObject(message) && message.role === 'user');
  let position = -1;
  return eachIn(body, 'messages', (message) => {
    position = messages.indexOf(message, position + 1);
    const isRunning = position > lastQuestion && Array.isArray(message.tool_calls);
    return isRunning ? message : lacking(message, 'reasoning_content');
  });
};

/** Thoughts that the assistant is shown again, under the one name that the provider takes; clients know them by both. */
export const thoughtsAsReasoning = eachMessage((message) => {
  if (message.role !== 'assistant' || !('reasoning_content' in message)) return message;
  const { reasoning_content: thought, ...rest } = message;
  return textOf(rest.reasoning) || !textOf(thought) ? rest : { ...rest, reasoning: thought };
});

/** Some models are shown their thoughts inside of what they said. */
export const thoughtsInTags = (takesTags: (model: string) => boolean): Quirk => {
  const fold = eachMessage((message) => {
    if (message.role !== 'assistant' || !textOf(message.reasoning)) return message;
    const { reasoning, content, ...rest } = message;
    const thought = `<think>${textOf(reasoning)}</think>`;
    const said = Array.isArray(content)
      ? [{ type: 'text', text: thought }, ...content]
      : `${thought}${textOf(content) ?? ''}`;
    return { ...rest, content: said };
  });
  return (body, facts) => (takesTags(facts.model) ? fold(body, facts) : body);
};

const withoutMark = (holder: JsonObject): JsonObject => lacking(holder, 'cache_control');

/** Marks for a prompt cache mean nothing to most providers, and some refuse them. */
export const withoutCacheMarks: Quirk = (body) =>
  eachIn(
    eachIn(withoutMark(body), 'messages', (message) => eachIn(withoutMark(message), 'content', withoutMark)),
    'tools',
    (tool) => {
      const bare = withoutMark(tool);
      return isObject(bare.function) && 'cache_control' in bare.function
        ? { ...bare, function: withoutMark(bare.function) }
        : bare;
    },
  );
