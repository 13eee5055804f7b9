/** Results of a search, put into a request for the model to read. */
import { isObject, listOf, objectOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';

/** At the end of the first words of the system, or as new ones; a completion begins with it. */
export function withSearchContext(type: string, body: JsonObject, context: string): JsonObject {
  if (type === 'complete')
    return {
      ...body,
      prompt: Array.isArray(body.prompt)
        ? [`${context}\n${String(body.prompt[0] ?? '')}`, ...body.prompt.slice(1)]
        : `${context}\n${String(body.prompt ?? '')}`,
    };
  if (type === 'messages') return { ...body, system: appended(body.system, context) };
  if (type === 'createModelResponse')
    return {
      ...body,
      instructions: typeof body.instructions === 'string' ? `${body.instructions}\n${context}` : context,
    };
  const messages = listOf(body.messages);
  const index = messages.findIndex((message) => objectOf(message).role === 'system');
  if (index < 0) return { ...body, messages: [{ role: 'system', content: context }, ...messages] };
  return {
    ...body,
    messages: messages.map((message, at) =>
      at === index && isObject(message) ? { ...message, content: appended(message.content, context) } : message,
    ),
  };
}

const appended = (content: unknown, context: string): unknown => {
  if (Array.isArray(content)) return [...content, { type: 'text', text: context }];
  return typeof content === 'string' && content !== '' ? `${content}\n${context}` : context;
};
