/** The parts of chat messages: text, images, sound, files, and the thoughts that an assistant's message brings back. */
import type {
  AssistantPart,
  CacheMark,
  MediaPart,
  RedactedThinkingPart,
  RefusalPart,
  TextPart,
  ThinkingPart,
} from '../../chat/conversation.ts';
import { kindOfMime, mediaAt, mimeOfAudioFormat, mimeOfName, readDataUrl } from '../../chat/media.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';

export const textPart = (text: string, cache: CacheMark | null = null): TextPart => ({ type: 'text', text, cache });

type Part = TextPart | MediaPart | ThinkingPart | RedactedThinkingPart | RefusalPart;

/** The content of a message: a string, or a list of parts. */
export function contentOf(message: Fields): Part[] {
  const content = message.json.content;
  if (content === undefined || content === null) return [];
  const cache = message.raw('cache_control');
  if (typeof content === 'string') return content === '' ? [] : [textPart(content, cache)];
  const parts = (message.objects('content') ?? []).map(readPart);
  const last = parts.at(-1);
  // A mark on the message stands behind its last part.
  if (cache && last && 'cache' in last && !last.cache) parts[parts.length - 1] = { ...last, cache };
  return parts;
}

export function userContent(message: Fields): (TextPart | MediaPart)[] {
  return contentOf(message).map((part, index) => {
    if (part.type === 'text' || part.type === 'media') return part;
    const path = `${message.at('content')}[${index}]`;
    throw new RequestFault(path, `${path} is of type ${part.type}, which only an assistant's message can hold`);
  });
}

export const textContent = (message: Fields): TextPart[] =>
  userContent(message).map((part, index) => {
    if (part.type === 'text') return part;
    const path = `${message.at('content')}[${index}]`;
    throw new RequestFault(
      path,
      `${path} must be text: messages of the role ${message.text('role')} hold nothing else`,
    );
  });

function readPart(part: Fields): Part {
  const type = part.needText('type');
  const cache = part.raw('cache_control');
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textPart(part.needText('text'), cache);
    case 'refusal':
      return { type: 'refusal', text: part.needText('refusal') };
    case 'thinking':
      return { type: 'thinking', text: part.text('thinking') ?? '', signature: part.text('signature') };
    case 'redacted_thinking':
      return { type: 'redacted-thinking', content: part.needText('data') };
    case 'image_url':
      return { ...imageOf(part), cache };
    case 'input_audio':
      return { ...audioOf(part.needObject('input_audio')), cache };
    case 'file':
      return { ...fileOf(part.needObject('file')), cache };
    default:
      throw new RequestFault(
        part.at('type'),
        `${part.at('type')} "${type}" is not a kind of content that can be sent on`,
      );
  }
}

function imageOf(part: Fields): MediaPart {
  if (typeof part.json.image_url === 'string') return mediaAt(part.json.image_url, { kind: 'image' });
  const image = part.needObject('image_url');
  const mime = image.text('mime_type');
  return mediaAt(image.needText('url'), { kind: 'image', detail: image.text('detail'), ...(mime && { mime }) });
}

function audioOf(audio: Fields): MediaPart {
  const mime = mimeOfAudioFormat(audio.text('format') ?? 'wav');
  const source = { from: 'data', base64: audio.needText('data') } as const;
  return { type: 'media', kind: 'audio', mime, source, name: null, detail: null, cache: null };
}

function fileOf(file: Fields): MediaPart {
  const name = file.text('filename') ?? file.text('file_name');
  const given = file.text('mime_type') ?? (name === null ? null : mimeOfName(name));
  const id = file.text('file_id');
  if (id !== null) {
    const kind = given === null ? 'document' : kindOfMime(given);
    return { type: 'media', kind, mime: given, source: { from: 'file', id }, name, detail: null, cache: null };
  }
  const url = file.text('file_url');
  if (url !== null) return mediaAt(url, { kind: 'document', name, ...(given && { mime: given }) });
  const content = file.text('file_data') ?? missingFile(file);
  const read = readDataUrl(content);
  const mime = given ?? read?.mime ?? 'application/pdf';
  const source = { from: 'data', base64: read?.base64 ?? content } as const;
  return { type: 'media', kind: kindOfMime(mime), mime, source, name, detail: null, cache: null };
}

function missingFile(file: Fields): never {
  throw new RequestFault(file.path, `${file.path} needs file_data, file_url or file_id`);
}

/** Thoughts that stand beside the content of an assistant's message, in any of the names that they go by. */
export function thoughtsOf(message: Fields): AssistantPart[] {
  const blocks = message.objects('content_blocks') ?? message.objects('thinking_blocks') ?? [];
  const thoughts = blocks
    .filter((block) => block.json.type === 'thinking' || block.json.type === 'redacted_thinking')
    .map(readPart);
  if (thoughts.length > 0) return thoughts;
  const reasoning = message.text('reasoning_content');
  return reasoning ? [{ type: 'thinking', text: reasoning, signature: null }] : [];
}
