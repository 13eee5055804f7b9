/** What a message, or a piece of one, says: text, thoughts, a refusal, and what it shows, under each of the names in use. */
import type { MediaPart } from '../chat/conversation.ts';
import { mediaAt } from '../chat/media.ts';
import { isObject, objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

export interface Said {
  thought: string;
  text: string;
  refusal: string;
}

export function saidIn(message: JsonObject): Said {
  const parts = objectsOf(isObject(message.content) ? [message.content] : message.content);
  return {
    thought: thoughtIn(message) + parts.map(thoughtOfPart).join(''),
    text: textOf(message.content) ?? (parts.map(textOfPart).join('') || transcriptIn(message)),
    refusal: textOf(message.refusal) ?? '',
  };
}

/** The model's thoughts, in either of the names that providers use. */
export const thoughtIn = (message: JsonObject): string =>
  textOf(message.reasoning_content) || textOf(message.reasoning) || '';

const textOfPart = ({ type, text }: JsonObject): string =>
  type === undefined || type === 'text' || type === 'output_text' ? (textOf(text) ?? '') : '';

/** `{type: 'thinking', thinking}`, whose thought is a text or a list of them. */
const thoughtOfPart = ({ type, thinking }: JsonObject): string =>
  type === 'thinking' ? (textOf(thinking) ?? objectsOf(thinking).map(textOfPart).join('')) : '';

/** A spoken answer has its words beside the sound. */
const transcriptIn = (message: JsonObject): string => textOf(objectOf(message.audio).transcript) ?? '';

const spokenMime = 'audio/wav';

export function mediaOf(message: JsonObject): MediaPart[] {
  const sound = textOf(objectOf(message.audio).data);
  const images = objectsOf(message.images).flatMap((image) => {
    const url = textOf(image.image_url) ?? textOf(objectOf(image.image_url).url);
    return url === null ? [] : [mediaAt(url, { kind: 'image' })];
  });
  if (!sound) return images;
  const source = { from: 'data', base64: sound } as const;
  const spoken = {
    type: 'media',
    kind: 'audio',
    mime: spokenMime,
    source,
    name: null,
    detail: null,
    cache: null,
  } as const;
  return [...images, spoken];
}
