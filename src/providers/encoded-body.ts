/** A body that is not JSON: its bytes and what they are. */
import type { Usage } from './call.ts';

export class EncodedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What an answer of this form cannot tell of itself: what making it used. */
  readonly usage: Usage | null;

  constructor(contentType: string, bytes: Uint8Array<ArrayBuffer>, usage: Usage | null = null) {
    this.contentType = contentType;
    this.bytes = bytes;
    this.usage = usage;
  }
}

/** A field of a form: text, or a file. */
export type FormPart = string | { filename: string; contentType: string; bytes: Uint8Array };

/** A multipart form. The boundary must not stand in any part; callers pass a new id. */
export function formBody(boundary: string, parts: Iterable<readonly [name: string, part: FormPart]>): EncodedBody {
  const pieces: Uint8Array[] = [];
  for (const [name, part] of parts) {
    const file = typeof part === 'string' ? '' : `; filename="${quoted(part.filename)}"`;
    const type = typeof part === 'string' ? '' : `Content-Type: ${part.contentType}\r\n`;
    pieces.push(
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n${type}\r\n`),
      typeof part === 'string' ? Buffer.from(part) : part.bytes,
      Buffer.from('\r\n'),
    );
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return new EncodedBody(`multipart/form-data; boundary=${boundary}`, Buffer.concat(pieces));
}

const quoted = (text: string): string => text.replace(/["\r\n]/g, (found) => encodeURIComponent(found));
