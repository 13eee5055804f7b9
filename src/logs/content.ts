/** What the bytes of a kept body say: JSON, text, or nothing that can be shown. */

import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { readJson } from '../bounded-json.ts';
import type { KeptMessage } from './record.ts';

export type LoggedContent =
  | { form: 'none' }
  | { form: 'json'; value: unknown }
  | { form: 'text'; text: string }
  | { form: 'omitted'; size: number };

/** A small body can unpack to a huge one, while others wait; more than this is not shown. */
const unpackedLimit = { maxOutputLength: 8 * 1024 * 1024 };

const unpackers: Readonly<Record<string, (packed: Uint8Array) => Uint8Array>> = {
  '': (plain) => plain,
  identity: (plain) => plain,
  gzip: (packed) => gunzipSync(packed, unpackedLimit),
  deflate: (packed) => inflateSync(packed, unpackedLimit),
  br: (packed) => brotliDecompressSync(packed, unpackedLimit),
  zstd: (packed) => zstdDecompressSync(packed, unpackedLimit),
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function contentOf(message: KeptMessage): LoggedContent {
  const { body, size, headers, contentType } = message;
  if (body === null) return size > 0 ? { form: 'omitted', size } : { form: 'none' };
  let text: string;
  try {
    const unpack = unpackers[headers['content-encoding']?.trim().toLowerCase() ?? ''];
    if (!unpack) return { form: 'omitted', size };
    text = utf8.decode(unpack(body));
  } catch {
    // Bytes that are no text (under a type that promised some, or none) are shown as their size.
    return { form: 'omitted', size };
  }
  if (contentType.includes('event-stream')) return { form: 'text', text };
  try {
    return { form: 'json', value: readJson(text) };
  } catch {
    return { form: 'text', text };
  }
}
