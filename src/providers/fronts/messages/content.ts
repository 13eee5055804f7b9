/** The blocks that messages hold: text, images, documents and search results, in turns of users and inside results of tools. */
import type { MediaPart, MediaSource, TextPart } from '../../chat/conversation.ts';
import { kindOfMime, mediaAt } from '../../chat/media.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { textPart } from '../chat/content.ts';

type Shown = TextPart | MediaPart;

/** Content that is a string, or a list of blocks of which each is read by `block`. */
export function contentOf<Part>(holder: Fields, block: (fields: Fields) => readonly Part[]): (Part | TextPart)[] {
  const content = holder.json.content;
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  return (holder.objects('content') ?? []).flatMap(block);
}

/** A block that users send and tools answer with. */
export function shownBlock(block: Fields): Shown[] {
  switch (block.needText('type')) {
    case 'text':
      return textBlock(block);
    case 'image':
      return imageBlock(block);
    case 'document':
      return documentBlock(block);
    case 'search_result':
      return [searchResult(block)];
    default:
      return unknownBlock(block);
  }
}

/** Empty text is nothing, and refused by some providers. */
export function textBlock(block: Fields): TextPart[] {
  const text = block.needText('text');
  return text === '' ? [] : [textPart(text, block.raw('cache_control'))];
}

export function unknownBlock(block: Fields): never {
  const path = block.at('type');
  throw new RequestFault(
    path,
    `${path} "${block.text('type')}" is not a kind of content that this provider can be given`,
  );
}

function imageBlock(block: Fields): MediaPart[] {
  const source = block.needObject('source');
  const cache = block.raw('cache_control');
  switch (source.needText('type')) {
    case 'base64':
      return [media('image', { from: 'data', base64: source.needText('data') }, source.needText('media_type'), cache)];
    case 'url':
      return [mediaAt(source.needText('url'), { kind: 'image', cache })];
    case 'file':
      return [media('image', { from: 'file', id: source.needText('file_id') }, null, cache)];
    default:
      return unknownSource(source, 'base64, url or file');
  }
}

/** What a document is about stands before it. */
function documentBlock(block: Fields): Shown[] {
  const context = block.text('context');
  return [...(context ? [textPart(context)] : []), ...documentParts(block)];
}

function documentParts(block: Fields): Shown[] {
  const source = block.needObject('source');
  const cache = block.raw('cache_control');
  const name = block.text('title');
  switch (source.needText('type')) {
    case 'base64': {
      const mime = source.text('media_type') ?? 'application/pdf';
      return [{ ...media(kindOfMime(mime), { from: 'data', base64: source.needText('data') }, mime, cache), name }];
    }
    case 'text': {
      const text = source.needText('data');
      return [{ ...media('document', { from: 'text', text }, source.text('media_type') ?? 'text/plain', cache), name }];
    }
    case 'url':
      return [mediaAt(source.needText('url'), { kind: 'document', name, cache })];
    case 'file':
      return [{ ...media('document', { from: 'file', id: source.needText('file_id') }, null, cache), name }];
    case 'content': {
      const parts = contentOf(source, shownBlock);
      const last = parts.at(-1);
      if (last && cache && !last.cache) parts[parts.length - 1] = { ...last, cache };
      return [...(name ? [textPart(name)] : []), ...parts];
    }
    default:
      return unknownSource(source, 'base64, text, url, file or content');
  }
}

const media = (
  kind: MediaPart['kind'],
  source: MediaSource,
  mime: string | null,
  cache: MediaPart['cache'],
): MediaPart => ({ type: 'media', kind, mime, source, name: null, detail: null, cache });

function unknownSource(source: Fields, known: string): never {
  throw new RequestFault(source.at('type'), `${source.at('type')} must be ${known}`);
}

function searchResult(block: Fields): TextPart {
  const found = block.needObjects('content').map((part) => part.needText('text'));
  return textPart([block.needText('title'), block.needText('source'), ...found].join('\n'), block.raw('cache_control'));
}
