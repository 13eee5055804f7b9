/** The parts of messages and tool outputs in a responses request: text, images, files and sound. */
import type { MediaPart, RefusalPart, TextPart } from '../../chat/conversation.ts';
import { kindOfMime, mediaAt, mimeOfAudioFormat, mimeOfName, readDataUrl } from '../../chat/media.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { textPart } from '../chat/content.ts';

type Part = TextPart | MediaPart | RefusalPart;

/** A string, or a list of parts, under this name. */
export function partsOf(holder: Fields, name: 'content' | 'output'): Part[] {
  const content = holder.json[name];
  if (typeof content === 'string') return content === '' ? [] : [textPart(content, holder.raw('cache_control'))];
  return holder.needObjects(name).flatMap(readPart);
}

/** What users and tools say. */
export function shownParts(holder: Fields, name: 'content' | 'output'): (TextPart | MediaPart)[] {
  return partsOf(holder, name).map((part) => (part.type === 'refusal' ? textPart(part.text) : part));
}

function readPart(part: Fields): Part[] {
  const type = part.needText('type');
  const cache = part.raw('cache_control');
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const text = part.needText('text');
      return text === '' ? [] : [textPart(text, cache)];
    }
    case 'refusal':
      return [{ type, text: part.needText('refusal') }];
    case 'input_image':
      return [{ ...imageOf(part), cache }];
    case 'input_file':
      return [{ ...fileOf(part), cache }];
    case 'input_audio':
      return [{ ...audioOf(part.object('input_audio') ?? part), cache }];
    default:
      throw new RequestFault(
        part.at('type'),
        `${part.at('type')} "${type}" is not a kind of content that this provider can be given`,
      );
  }
}

const medium = (more: Pick<MediaPart, 'kind' | 'mime' | 'source'> & Partial<MediaPart>): MediaPart => ({
  type: 'media',
  name: null,
  detail: null,
  cache: null,
  ...more,
});

function imageOf(part: Fields): MediaPart {
  const detail = part.text('detail');
  const id = part.text('file_id');
  if (id !== null) return medium({ kind: 'image', mime: null, source: { from: 'file', id }, detail });
  return mediaAt(part.needText('image_url'), { kind: 'image', detail });
}

function fileOf(part: Fields): MediaPart {
  const name = part.text('filename');
  const named = name === null ? null : mimeOfName(name);
  const id = part.text('file_id');
  if (id !== null) return medium({ kind: kindOfMime(named), mime: named, source: { from: 'file', id }, name });
  const url = part.text('file_url');
  if (url !== null) return mediaAt(url, { kind: 'document', name, ...(named && { mime: named }) });
  const content = part.text('file_data') ?? missingFile(part);
  const read = readDataUrl(content);
  const mime = read?.mime ?? named ?? 'application/pdf';
  return medium({ kind: kindOfMime(mime), mime, source: { from: 'data', base64: read?.base64 ?? content }, name });
}

function missingFile(part: Fields): never {
  throw new RequestFault(part.path, `${part.path} needs file_data, file_url or file_id`);
}

const audioOf = (audio: Fields): MediaPart =>
  medium({
    kind: 'audio',
    mime: mimeOfAudioFormat(audio.text('format') ?? 'wav'),
    source: { from: 'data', base64: audio.needText('data') },
  });
