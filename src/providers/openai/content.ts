/** What users and tools say, as the content of chat messages. */
import type { MediaPart, TextPart } from '../chat/conversation.ts';
import { inlined } from '../chat/media.ts';
import { present } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import type { OpenAiVariant } from './variant.ts';

/** One text is a string, which every server takes; several stay apart. */
export function contentOf(
  parts: readonly (TextPart | MediaPart)[],
  variant: OpenAiVariant,
  facts: CallFacts,
): string | JsonObject[] {
  const [first, ...others] = parts;
  if (first === undefined) return '';
  const marked = variant.cacheMarks && first.cache !== null;
  if (first.type === 'text' && others.length === 0 && !marked) return first.text;
  return parts.map((part) => ({
    ...partOf(part, facts),
    ...(variant.cacheMarks && part.cache && { cache_control: part.cache }),
  }));
}

function partOf(part: TextPart | MediaPart, facts: CallFacts): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { kind, source, name, detail, mime } = part;
  if (source.from === 'text') return { type: 'text', text: name === null ? source.text : `${name}\n\n${source.text}` };
  if (source.from === 'file') return { type: 'file', file: { file_id: source.id } };
  const held = inlined(part, facts);
  const address = held ? `data:${held.mime};base64,${held.base64}` : source.from === 'url' ? source.url : '';
  if (kind === 'image') return { type: 'image_url', image_url: present({ url: address, detail }) };
  if (kind === 'video') return { type: 'video_url', video_url: { url: address } };
  if (!held) return { type: 'file', file: present({ file_url: address, filename: name, mime_type: mime }) };
  if (kind === 'audio') {
    return { type: 'input_audio', input_audio: { data: held.base64, format: audioFormat(held.mime) } };
  }
  return { type: 'file', file: { filename: name ?? nameFor(held.mime), file_data: address } };
}

const audioFormat = (mime: string): string => mime.replace(/^audio\//, '').replace(/^(?:mpeg|mpga)$/, 'mp3');

const nameFor = (mime: string): string => (mime === 'application/pdf' ? 'document.pdf' : 'document');
