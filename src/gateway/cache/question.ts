/** The one text of a request that may differ between two calls with the same answer, and everything else, which may not. */
import { isObject, objectsOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { keyOf } from './key.ts';

export interface Question {
  text: string;
  /** A digest of all the rest: system prompt, earlier turns, parameters, metadata. */
  partition: string;
}

const mostMessages = 4;
/** About 8,191 tokens. */
const longestText = 32_000;
const placeholder = { question: true };

/** Null where likeness is no reason for the same answer: turns of an agent always look alike. */
export function questionOf(call: AttemptContext): Question | null {
  const { shaped, context } = call;
  if (shaped.tools || shaped.functions || shaped.tool_choice) return null;
  const asked = context.matched.route.kind === 'complete' ? inPrompt(shaped) : inMessages(shaped);
  if (!asked || asked.text.trim() === '' || asked.text.length > longestText) return null;
  return { text: asked.text, partition: keyOf({ ...call, shaped: asked.rest }) };
}

interface Asked {
  text: string;
  /** The parameters without it. */
  rest: JsonObject;
}

const inPrompt = (shaped: JsonObject): Asked | null =>
  typeof shaped.prompt === 'string' ? { text: shaped.prompt, rest: { ...shaped, prompt: placeholder } } : null;

function inMessages(shaped: JsonObject): Asked | null {
  const messages = objectsOf(shaped.messages);
  const last = messages.at(-1);
  if (!last || messages.length > mostMessages || last.role !== 'user') return null;
  if (messages.some((message) => message.role === 'tool' || message.role === 'function' || message.tool_calls))
    return null;
  const text = typeof last.content === 'string' ? last.content : onlyText(last.content);
  if (text === null) return null;
  return { text, rest: { ...shaped, messages: [...messages.slice(0, -1), { ...last, content: placeholder }] } };
}

/** A message of one text; with pictures beside it, likeness of the text says little. */
function onlyText(content: unknown): string | null {
  const [part, ...others] = Array.isArray(content) ? content : [];
  return others.length === 0 && isObject(part) && part.type === 'text' && typeof part.text === 'string'
    ? part.text
    : null;
}
