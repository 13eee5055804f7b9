/** The parts of Gemini's content, one by one, in the words of an answer. */
import type { AnsweredCall, ForeignBlock } from '../chat/answer.ts';
import type { MediaPart } from '../chat/conversation.ts';
import { kindOfMime } from '../chat/media.ts';
import { isObject, objectOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

/** A part as it was said. `signature` belongs to it, or, where it is empty, to what came before. */
export type SaidPart =
  | { type: 'text'; text: string; signature: string | null }
  | { type: 'thinking'; text: string; signature: string | null }
  | AnsweredCall
  | MediaPart
  | ForeignBlock;

export function readPart(part: JsonObject, newId: (prefix: string) => string): SaidPart | null {
  const signature = textOf(part.thoughtSignature);
  if (isObject(part.functionCall)) return callOf(part.functionCall, signature, newId);
  const text = textOf(part.text);
  if (text !== null || (signature !== null && Object.keys(part).length === 1)) {
    return { type: part.thought === true ? 'thinking' : 'text', text: text ?? '', signature };
  }
  // What is drawn while thinking is a draft.
  if (part.thought === true) return blockOf(part);
  if (isObject(part.inlineData))
    return mediaOf(part.inlineData.mimeType, { base64: textOf(part.inlineData.data) ?? '' });
  if (isObject(part.fileData)) return mediaOf(part.fileData.mimeType, { url: textOf(part.fileData.fileUri) ?? '' });
  return blockOf(part);
}

const callOf = (call: JsonObject, signature: string | null, newId: (prefix: string) => string): AnsweredCall => ({
  type: 'tool-call',
  id: textOf(call.id) || newId('call_'),
  name: textOf(call.name) ?? '',
  arguments: JSON.stringify(objectOf(call.args)),
  signature,
});

function mediaOf(type: unknown, at: { base64: string } | { url: string }): MediaPart {
  const mime = textOf(type);
  const source = 'base64' in at ? ({ from: 'data', ...at } as const) : ({ from: 'url', ...at } as const);
  return { type: 'media', kind: kindOfMime(mime), mime, source, name: null, detail: null, cache: null };
}

/** Code that ran and tools that Google called: `executableCode` becomes a block of the type `executable_code`. */
function blockOf(part: JsonObject): ForeignBlock | null {
  const field = Object.keys(part).find((name) => isObject(part[name]));
  if (field === undefined) return null;
  const type = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { type: 'block', block: { type, [type]: part[field] } };
}
