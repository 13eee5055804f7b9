/** Images, sound and documents as parts of Gemini's contents: bytes inline, or the address of a file that Google can read itself. */
import type { Conversation, MediaPart } from '../chat/conversation.ts';
import { inlined, mimeOfName } from '../chat/media.ts';
import { mediaIn } from '../chat/turns.ts';
import { MissingFault, RequestFault } from '../faults.ts';
import { present } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { decoded, mayBeRead } from '../stored-files.ts';
import { isThirdGeneration } from './generation.ts';
import { nameOf, type Surface } from './surface.ts';

const studioFiles = 'https://generativelanguage.googleapis.com/v1beta/files/';
const isVideoPage = (url: string): boolean => /^https?:\/\/(www\.|m\.)?(youtube\.com|youtu\.be)\//i.test(url);

/** Addresses that the service reads by itself: its own files, its cloud's storage, videos; on Vertex AI any page whose type is known. */
function isRead(part: MediaPart, url: string, surface: Surface): boolean {
  if (!/^https?:/i.test(url) || isVideoPage(url)) return true;
  if (surface === 'studio') return url.startsWith(studioFiles);
  return url.toLowerCase().startsWith('https:') && part.mime !== null;
}

/** The addresses whose contents must be fetched. */
export const fetchedMedia = (conversation: Conversation, surface: Surface): string[] =>
  mediaIn(conversation).flatMap((part) =>
    part.source.from === 'url' && !isRead(part, part.source.url, surface) ? [part.source.url] : [],
  );

export function mediaPart(part: MediaPart, facts: CallFacts, surface: Surface): JsonObject {
  if (part.source.from === 'text') return { text: part.source.text };
  return { ...sourceOf(part, facts, surface), ...resolutionOf(part, facts.model) };
}

/** The bytes, or where they are. */
export function sourceOf(part: MediaPart, facts: CallFacts, surface: Surface): JsonObject {
  const bytes = inlined(part, facts);
  if (bytes) return { inlineData: { mimeType: bytes.mime, data: bytes.base64 } };
  const { source } = part;
  if (source.from === 'url') return fileData(source.url, part, facts, surface);
  if (source.from === 'file') return fileData(fileAddress(source.id, surface), part, facts, surface);
  return { text: source.from === 'text' ? source.text : '' };
}

/** Ids of files are names at AI Studio, and encoded addresses of objects on Vertex AI. */
function fileAddress(id: string, surface: Surface): string {
  if (surface === 'vertex') return decoded(id);
  return /^https?:/.test(id) ? id : studioFiles + id.replace(/^files\//, '');
}

function fileData(fileUri: string, { mime, name }: MediaPart, facts: CallFacts, surface: Surface): JsonObject {
  // Google would read it with the rights of the credentials that make the call.
  if (/^gs:/i.test(fileUri) && !mayBeRead(fileUri, facts)) throw new MissingFault('file', 'messages');
  const mimeType = mime ?? mimeOfName(name ?? '') ?? mimeOfName(fileUri) ?? (isVideoPage(fileUri) ? 'video/mp4' : null);
  if (mimeType === null && !fileUri.startsWith(studioFiles)) {
    throw new RequestFault(
      'messages',
      `${nameOf(surface)} must be told the type of ${fileUri.slice(0, 200)}: add mime_type beside its address`,
    );
  }
  return { fileData: present({ mimeType, fileUri }) };
}

const resolutions = new Map(Object.entries({ low: 'MEDIA_RESOLUTION_LOW', high: 'MEDIA_RESOLUTION_HIGH' }));

/** Older models look at all media of a request alike. */
function resolutionOf({ detail }: MediaPart, model: string): JsonObject {
  const level = resolutions.get(detail ?? '');
  return level && isThirdGeneration(model) ? { mediaResolution: { level } } : {};
}
