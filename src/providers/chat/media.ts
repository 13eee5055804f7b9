/** Media of a conversation: data URLs, types by name and format, and what was fetched. */
import { RequestFault } from '../faults.ts';
import type { CallFacts } from '../provider.ts';
import type { MediaPart, MediaSource } from './conversation.ts';

/** `data:image/png;charset=utf-8;base64,...`: parameters between type and encoding are tolerated; null for any other address. */
export function readDataUrl(url: string): { mime: string; base64: string } | null {
  const match = /^data:([^;,]*)((?:;[^;,]*)*?)(;base64)?,/is.exec(url);
  if (!match) return null;
  const content = url.slice(match[0].length);
  const base64 = match[3] ? content : unescaped(content).toString('base64');
  return { mime: match[1]?.toLowerCase() || 'text/plain', base64 };
}

/** A percent sign that escapes nothing stands for itself, as browsers read it. */
const unescaped = (content: string): Buffer =>
  Buffer.from(
    Buffer.from(content)
      .toString('latin1')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

const mimeByExtension: ReadonlyMap<string, string> = new Map(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    heic: 'image/heic',
    heif: 'image/heif',
    pdf: 'application/pdf',
    txt: 'text/plain',
    md: 'text/markdown',
    html: 'text/html',
    csv: 'text/csv',
    json: 'application/json',
    doc: 'application/msword',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xls: 'application/vnd.ms-excel',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    mp3: 'audio/mp3',
    wav: 'audio/wav',
    flac: 'audio/flac',
    ogg: 'audio/ogg',
    opus: 'audio/ogg',
    aac: 'audio/aac',
    m4a: 'audio/m4a',
    mpga: 'audio/mpga',
    mpeg: 'audio/mpeg',
    pcm: 'audio/pcm',
    pcm16: 'audio/pcm',
    mp4: 'video/mp4',
    mov: 'video/quicktime',
    mkv: 'video/x-matroska',
    webm: 'video/webm',
  }),
);

/** By the end of a file's name or an address's path; null where it tells nothing. */
export const mimeOfName = (name: string): string | null => mimeOfEnd(name.split(/[?#]/, 1)[0] ?? '') ?? mimeOfEnd(name);

const mimeOfEnd = (name: string): string | null =>
  mimeByExtension.get(/\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '') ?? null;

/** `input_audio` names a format, not a type. */
export const mimeOfAudioFormat = (format: string): string =>
  format === 'mp4' || format === 'webm' ? `audio/${format}` : (mimeByExtension.get(format) ?? `audio/${format}`);

export function kindOfMime(mime: string | null): MediaPart['kind'] {
  const family = mime?.split('/', 1)[0];
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}

/** Bytes for a provider that takes nothing else: those of the request, or those fetched for it. Null for files and text. */
export function inlined(part: MediaPart, { media }: CallFacts): { mime: string; base64: string } | null {
  const { source } = part;
  if (source.from === 'data') return { mime: part.mime ?? 'application/octet-stream', base64: source.base64 };
  if (source.from !== 'url') return null;
  const fetched = media.get(source.url);
  return fetched ? { mime: part.mime ?? fetched.mime, base64: fetched.base64 } : null;
}

/** A part whose data and type stand in one address, or which only points somewhere. */
export function mediaAt(url: string, more: Partial<MediaPart> & Pick<MediaPart, 'kind'>): MediaPart {
  const read = readDataUrl(url);
  const source: MediaSource = read ? { from: 'data', base64: read.base64 } : { from: 'url', url };
  const mime = more.mime ?? read?.mime ?? mimeOfName(url);
  const kind = read || mime ? kindOfMime(mime) : more.kind;
  return { type: 'media', name: null, detail: null, cache: null, ...more, kind, mime, source };
}

/** For what a family cannot take: said, not dropped. */
export const unsupported = (field: string, family: string, what: string): RequestFault =>
  new RequestFault(field, `${family} cannot be given ${what}; send it to another provider, or leave it out`);
