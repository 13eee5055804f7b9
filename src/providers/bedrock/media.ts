/** Images, documents, sound and film as blocks of Converse: formats by name, bytes or a place in S3. */
import type { MediaPart } from '../chat/conversation.ts';
import { inlined, mimeOfName, unsupported } from '../chat/media.ts';
import { MissingFault, RequestFault } from '../faults.ts';
import { present } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { decoded, isOwnObject } from '../stored-files.ts';

const formats: Readonly<Record<Exclude<MediaPart['kind'], 'document'>, ReadonlyMap<string, string>>> = {
  image: new Map(
    Object.entries({
      'image/png': 'png',
      'image/jpeg': 'jpeg',
      'image/jpg': 'jpeg',
      'image/gif': 'gif',
      'image/webp': 'webp',
    }),
  ),
  video: new Map(
    Object.entries({
      'video/mp4': 'mp4',
      'video/quicktime': 'mov',
      'video/mov': 'mov',
      'video/x-matroska': 'mkv',
      'video/mkv': 'mkv',
      'video/webm': 'webm',
      'video/x-flv': 'flv',
      'video/flv': 'flv',
      'video/mpeg': 'mpeg',
      'video/mpg': 'mpg',
      'video/x-ms-wmv': 'wmv',
      'video/wmv': 'wmv',
      'video/3gpp': 'three_gp',
    }),
  ),
  audio: new Map(
    Object.entries({
      'audio/mp3': 'mp3',
      'audio/mpeg': 'mp3',
      'audio/wav': 'wav',
      'audio/x-wav': 'wav',
      'audio/flac': 'flac',
      'audio/ogg': 'ogg',
      'audio/opus': 'opus',
      'audio/aac': 'aac',
      'audio/m4a': 'm4a',
      'audio/mp4': 'mp4',
      'audio/mpga': 'mpga',
      'audio/pcm': 'pcm',
      'audio/webm': 'webm',
    }),
  ),
};

const documentFormats: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'application/pdf': 'pdf',
    'text/csv': 'csv',
    'application/csv': 'csv',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'text/html': 'html',
    'text/markdown': 'md',
    'text/x-markdown': 'md',
  }),
);

/** Whatever a person could read as it is, goes as text. */
const isText = (mime: string): boolean =>
  mime.startsWith('text/') || /^application\/(?:json|jsonl|xml|yaml|x-yaml|javascript|x-sh)$/.test(mime);

const family = 'Bedrock';

export function mediaBlock(
  part: MediaPart,
  facts: CallFacts,
  documentName: (name: string | null) => string,
): JsonObject {
  const { kind } = part;
  if (part.source.from === 'text') {
    const bytes = Buffer.from(part.source.text).toString('base64');
    return { document: { format: 'txt', name: documentName(part.name), source: { bytes } } };
  }
  const { mime, source } = contentOf(part, facts);
  if (kind === 'document') {
    const format = documentFormats.get(mime) ?? (isText(mime) ? 'txt' : null);
    if (format === null) throw unsupported('messages', family, `a document of the type ${mime}`);
    return { document: { format, name: documentName(part.name), source } };
  }
  const format = formats[kind].get(mime);
  if (format === undefined) throw unsupported('messages', family, `${kind} of the type ${mime}`);
  return { [kind]: { format, source } };
}

/** Files that were uploaded through the gateway are objects in S3, named by their address. */
function s3Address({ source }: MediaPart): string | null {
  const address = source.from === 'url' ? source.url : source.from === 'file' ? decoded(source.id) : '';
  return address.startsWith('s3://') ? address : null;
}

function contentOf(part: MediaPart, facts: CallFacts): { mime: string; source: JsonObject } {
  const address = s3Address(part);
  if (address !== null) {
    const { origin, owner } = ownedBy(address);
    // Bedrock would read it with the rights of the credentials that sign the call.
    if (!isOwnObject(origin, facts)) throw new MissingFault('file', 'messages');
    const mime = part.mime ?? mimeOfName(origin);
    if (mime === null) throw new RequestFault('messages', `the type of ${origin} is not known: name it as mime_type`);
    return { mime, source: { s3Location: present({ uri: origin, bucketOwner: owner }) } };
  }
  if (part.source.from === 'file') {
    throw new RequestFault(
      'messages',
      'a file for Bedrock must be given as data, at an address, or at an s3:// address',
    );
  }
  const bytes = inlined(part, facts);
  if (!bytes)
    throw new RequestFault('messages', 'media for Bedrock must be given as data, or at an http, https or s3 address');
  return { mime: bytes.mime.toLowerCase(), source: { bytes: bytes.base64 } };
}

/** `s3://bucket/key?bucketOwner=123456789012`: somebody else's bucket needs its owner's account. */
function ownedBy(address: string): { origin: string; owner: string | null } {
  const match = /^(.*)\?bucketOwner=(\d{12})$/.exec(address);
  return match ? { origin: match[1] ?? '', owner: match[2] ?? null } : { origin: address, owner: null };
}

/** Names of documents that Converse takes: few characters, single spaces, each name once in a request. */
export function documentNames(): (name: string | null) => string {
  const given = new Set<string>();
  /** The number that a name was last given with. */
  const counts = new Map<string, number>();
  return (name) => {
    const plain = (name ?? '')
      .replace(/\.[a-z0-9]{1,5}$/i, '')
      .replace(/[^A-Za-z0-9\s()[\]-]/g, '-')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 180);
    const base = plain || 'document';
    let unique = base;
    let count = counts.get(base.toLowerCase()) ?? 1;
    while (given.has(unique.toLowerCase())) unique = `${base} (${++count})`;
    counts.set(base.toLowerCase(), count);
    given.add(unique.toLowerCase());
    return unique;
  };
}
