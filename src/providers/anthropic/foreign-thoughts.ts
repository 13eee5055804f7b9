/** What another model thought, in a history that goes to Claude as it came: it refuses what it did not sign itself, so that stays here. */
import { unseal } from '../fronts/sealed.ts';
import { isObject, listOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { isOwnThought } from './blocks.ts';

type IsForeign = (block: JsonObject) => boolean;

/** A carrier of a call's mark, which only the front that wrote it understands. */
const isOurMark: IsForeign = ({ type, data }) => type === 'redacted_thinking' && unseal(textOf(data) ?? '') !== null;

/** Also a thought that we told without a signature, or with one that is marked as another provider's. */
const isForeign: IsForeign = (block) => {
  const signature = textOf(block.signature);
  if (block.type !== 'thinking' || signature === null) return isOurMark(block);
  return !isOwnThought({ type: 'thinking', text: '', signature });
};

/** For Claude. The very same body where nothing is foreign in it. */
export const withoutForeignThoughts = (body: Readonly<JsonObject>): Readonly<JsonObject> => without(body, isForeign);

/** For hosts of other models, whose thoughts may have any signature. */
export const withoutOurMarks = (body: Readonly<JsonObject>): Readonly<JsonObject> => without(body, isOurMark);

function without(body: Readonly<JsonObject>, foreign: IsForeign): Readonly<JsonObject> {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some((message) => isTouched(message, foreign))) return body;
  const left = messages.flatMap((message) => (isTouched(message, foreign) ? cleared(message, foreign) : [message]));
  if (!breaksOffThoughts(body, messages, foreign)) return { ...body, messages: left };
  const { thinking: _, ...rest } = body;
  return { ...rest, messages: left };
}

const isTouched = (message: unknown, foreign: IsForeign): boolean =>
  answersOf(message).some((block) => foreign(block) || isCitedByUs(block));

const answersOf = (message: unknown): readonly JsonObject[] =>
  isObject(message) && message.role === 'assistant' ? objectsOf(message.content) : [];

/** A message of nothing but foreign thoughts is none. */
function cleared(message: JsonObject, foreign: IsForeign): JsonObject[] {
  const content = listOf(message.content).flatMap((block) => {
    if (!isObject(block)) return [block];
    return foreign(block) ? [] : [withoutOurSources(block)];
  });
  return content.length > 0 ? [{ ...message, content }] : [];
}

/** Claude's own web searches are cited with an index that it encrypts. */
const isOurSource = ({ encrypted_index }: JsonObject): boolean => encrypted_index === '';

const isCitedByUs = ({ type, citations }: JsonObject): boolean =>
  type === 'text' && objectsOf(citations).some(isOurSource);

function withoutOurSources(block: JsonObject): JsonObject {
  if (!isCitedByUs(block)) return block;
  const { citations, ...rest } = block;
  const left = objectsOf(citations).filter((citation) => !isOurSource(citation));
  return left.length > 0 ? { ...rest, citations: left } : rest;
}

/** A budget for thoughts is refused where those before the last calls, or before the beginning of an answer, are missing. */
function breaksOffThoughts({ thinking }: JsonObject, messages: readonly unknown[], foreign: IsForeign): boolean {
  if (objectOf(thinking).type !== 'enabled') return false;
  const last = messages.findLast((message) => answersOf(message).length > 0);
  const blocks = answersOf(last);
  const bound = last === messages.at(-1) || blocks.some(({ type }) => type === 'tool_use');
  const isThought = ({ type }: JsonObject): boolean => type === 'thinking' || type === 'redacted_thinking';
  return bound && blocks.some(foreign) && !blocks.some((block) => isThought(block) && !foreign(block));
}
