/** Puts a text before what a role says. */
import { z } from 'zod';
import { isObject, listOf, objectOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { defineCheck, failedCheck } from '../check.ts';
import { before } from './events.ts';

export const addPrefix = defineCheck({
  id: 'default.addPrefix',
  title: 'Add prefix',
  description: 'Puts a text before the first message of a role, or before the prompt.',
  category: 'BASIC',
  events: before,
  requestTypes: ['chatComplete', 'complete', 'messages'],
  transforms: true,
  parameters: () => ({
    prefix: z.string().max(100_000).default(''),
    applyToRole: z.enum(['user', 'system', 'assistant']).default('user'),
    addToExisting: z.boolean().default(true),
    onlyIfEmpty: z.boolean().default(false),
  }),
  example: { prefix: 'Answer in one sentence. ', applyToRole: 'user' },
  prepare(rules) {
    const { prefix, applyToRole, addToExisting, onlyIfEmpty } = rules;
    return {
      run({ request, requestType }) {
        if (prefix === '') return failedCheck('there is no prefix', true);
        const data = { prefix, requestType, applyToRole, addToExisting, onlyIfEmpty };
        const body =
          requestType === 'complete'
            ? withPrompt(request, prefix, onlyIfEmpty)
            : withMessage(request, rules, requestType);
        const explanation = body === request ? 'The request was left as it is.' : 'The prefix was added.';
        return { verdict: true, data: { ...data, explanation }, ...(body !== request && { body }) };
      },
    };
  },
});

interface Rules {
  prefix: string;
  applyToRole: string;
  addToExisting: boolean;
  onlyIfEmpty: boolean;
}

function withPrompt(body: JsonObject, prefix: string, onlyIfEmpty: boolean): JsonObject {
  const { prompt } = body;
  if (Array.isArray(prompt)) {
    const [first, ...rest] = prompt;
    if (typeof first !== 'string' || (onlyIfEmpty && first.trim() !== '')) return body;
    return { ...body, prompt: [prefix + first, ...rest] };
  }
  const text = typeof prompt === 'string' ? prompt : '';
  return onlyIfEmpty && text.trim() !== '' ? body : { ...body, prompt: prefix + text };
}

function withMessage(body: JsonObject, rules: Rules, type: string): JsonObject {
  const { prefix, applyToRole, addToExisting, onlyIfEmpty } = rules;
  // This dialect keeps the words of the system beside the messages.
  if (type === 'messages' && applyToRole === 'system') return withSystem(body, rules);
  const messages = listOf(body.messages);
  const index = messages.findIndex((message) => objectOf(message).role === applyToRole);
  const added = { role: applyToRole, content: prefix };
  if (index < 0) return { ...body, messages: applyToRole === 'system' ? [added, ...messages] : [...messages, added] };
  const message = objectOf(messages[index]);
  if (onlyIfEmpty && !isEmpty(message.content)) return body;
  const replaced = addToExisting ? [{ ...message, content: prefixed(message.content, prefix) }] : [added, message];
  return { ...body, messages: [...messages.slice(0, index), ...replaced, ...messages.slice(index + 1)] };
}

function withSystem(body: JsonObject, { prefix, addToExisting, onlyIfEmpty }: Rules): JsonObject {
  const { system } = body;
  if (onlyIfEmpty && !isEmpty(system)) return body;
  if (system === undefined) return { ...body, system: prefix };
  if (addToExisting) return { ...body, system: prefixed(system, prefix) };
  const rest = typeof system === 'string' ? [{ type: 'text', text: system }] : listOf(system);
  return { ...body, system: [{ type: 'text', text: prefix }, ...rest] };
}

const isEmpty = (content: unknown): boolean =>
  typeof content === 'string'
    ? content.trim() === ''
    : !listOf(content).some((part) => typeof objectOf(part).text === 'string' && objectOf(part).text !== '');

function prefixed(content: unknown, prefix: string): unknown {
  if (!Array.isArray(content)) return prefix + (typeof content === 'string' ? content : '');
  const index = content.findIndex((part) => isObject(part) && typeof part.text === 'string');
  if (index < 0) return [{ type: 'text', text: prefix }, ...content];
  return content.map((part, at) => (at === index ? { ...part, text: prefix + part.text } : part));
}
