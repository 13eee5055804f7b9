/** Multipart forms: reads their text fields and edits them in place, so that the files in them stay byte for byte as they came. */
import type { SentFile } from '../../providers/provider.ts';
import { GatewayError } from '../errors.ts';
import { boundaryOf, isFilePart, type PartHead, readPartHead } from './form-head.ts';

export interface FormField {
  name: string;
  value: string;
  /** Where the value stands in the body. */
  start: number;
  end: number;
  /** Where the whole part stands, from its boundary to the next one. */
  partStart: number;
  partEnd: number;
}

const headersEnd = Buffer.from('\r\n\r\n');
const dash = 45;
const mostParts = 1_000;

/** The text fields of a form. */
export function readFormFields(body: Uint8Array, contentType: string): FormField[] {
  const fields: FormField[] = [];
  for (const { head, buffer, start, end, partStart, partEnd } of partsOf(body, contentType)) {
    const name = isFilePart(head) ? null : head.name;
    if (name !== null)
      fields.push({ name, value: buffer.toString('utf8', start, end), start, end, partStart, partEnd });
  }
  return fields;
}

/** The files of a form; of several under one name the last. */
export function readFormFiles(body: Uint8Array, contentType: string): Map<string, SentFile> {
  const files = new Map<string, SentFile>();
  for (const { head, start, end } of partsOf(body, contentType)) {
    const { name, filename, contentType: type } = head;
    if (name === null || filename === null) continue;
    files.set(name, {
      filename,
      contentType: type ?? 'application/octet-stream',
      bytes: body.subarray(start, end),
    });
  }
  return files;
}

interface FormPart {
  buffer: Buffer;
  head: PartHead;
  /** Where the value stands. */
  start: number;
  end: number;
  partStart: number;
  partEnd: number;
}

function* partsOf(body: Uint8Array, contentType: string): Generator<FormPart> {
  const mark = boundaryOf(contentType);
  if (mark === null) return;
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const opening = Buffer.from(`--${mark}`);
  const closing = Buffer.from(`\r\n--${mark}`);
  let part = buffer.indexOf(opening);
  let count = 0;
  while (part !== -1) {
    const headersStart = part + opening.length + 2;
    // Two dashes behind the boundary end the form.
    if (buffer[headersStart - 2] === dash && buffer[headersStart - 1] === dash) break;
    const valueStart = buffer.indexOf(headersEnd, headersStart - 2);
    if (valueStart === -1) break;
    const end = buffer.indexOf(closing, valueStart + 2);
    if (end === -1) break;
    const start = Math.min(valueStart + headersEnd.length, end);
    if (++count > mostParts) throw new GatewayError('invalid_body', `a form may have ${mostParts} parts`);
    const head = readPartHead(buffer.toString('utf8', headersStart, valueStart));
    yield { buffer, head, start, end, partStart: part, partEnd: end + 2 };
    part = end + 2;
  }
}

/** A new value for each field named; null removes it. A field that is not there is added. */
type FieldChanges = ReadonlyMap<string, string | null>;

/** The body with these fields changed: of a repeated field the first takes the value and the others go. */
export function editFields(
  body: Uint8Array,
  contentType: string,
  fields: readonly FormField[],
  changes: FieldChanges,
): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  const seen = new Set<string>();
  let from = 0;
  for (const field of fields) {
    const value = changes.get(field.name);
    if (value === undefined) continue;
    const goes = value === null || seen.has(field.name);
    seen.add(field.name);
    pieces.push(body.subarray(from, goes ? field.partStart : field.start));
    if (!goes) pieces.push(Buffer.from(value));
    from = goes ? field.partEnd : field.end;
  }
  pieces.push(body.subarray(from));
  return Buffer.concat([...newParts(contentType, changes, seen), ...pieces]);
}

function newParts(contentType: string, changes: FieldChanges, seen: ReadonlySet<string>): Uint8Array[] {
  const mark = boundaryOf(contentType);
  const parts: Uint8Array[] = [];
  for (const [name, value] of changes) {
    if (value === null || seen.has(name)) continue;
    const escaped = name.replace(/["\r\n]/g, encodeURIComponent);
    parts.push(Buffer.from(`--${mark}\r\nContent-Disposition: form-data; name="${escaped}"\r\n\r\n${value}\r\n`));
  }
  return parts;
}
