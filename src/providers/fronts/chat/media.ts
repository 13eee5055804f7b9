/** What an answer shows or speaks, in chat's fields: images under the name that is in use for them, sound under OpenAI's own. */
import type { MediaPart } from '../../chat/conversation.ts';
import type { CallFacts, JsonObject } from '../../provider.ts';

/** The fields of a whole message. */
export function shownIn(media: readonly MediaPart[], transcript: string, facts: CallFacts): JsonObject {
  const sound = media.find(isSound);
  const images = media.filter((part) => !isSound(part));
  return {
    ...(images.length > 0 && { images: images.map(imageUrl) }),
    ...(sound && { audio: { ...soundOf(sound, facts), transcript, expires_at: facts.now() } }),
  };
}

/** The fields of a piece of a message. Its sound is named with the first piece of it. */
export function shownPiece(media: MediaPart, facts: CallFacts, isFirstSound: boolean): JsonObject {
  if (!isSound(media)) return { images: [imageUrl(media)] };
  const { id, data } = soundOf(media, facts);
  return { audio: isFirstSound ? { id, data } : { data } };
}

export const isSound = ({ kind, source }: MediaPart): boolean => kind === 'audio' && source.from === 'data';

const soundOf = ({ source }: MediaPart, { newId }: CallFacts): JsonObject => ({
  id: newId('audio_'),
  data: source.from === 'data' ? source.base64 : '',
});

const imageUrl = ({ source, mime }: MediaPart): JsonObject => ({
  type: 'image_url',
  image_url: { url: source.from === 'data' ? `data:${mime};base64,${source.base64}` : addressOf(source) },
});

const addressOf = (source: Exclude<MediaPart['source'], { from: 'data' }>): string =>
  source.from === 'url' ? source.url : source.from === 'file' ? source.id : source.text;
