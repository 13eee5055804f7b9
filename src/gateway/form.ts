/** Multipart forms: reads their text fields and edits them in place, so that the files in them stay byte for byte as they came. */

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

export function readFormFields(body: Uint8Array, contentType: string): FormField[] {
  const mark = boundaryOf(contentType);
  if (mark === null) return [];
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const opening = Buffer.from(`--${mark}`);
  const closing = Buffer.from(`\r\n--${mark}`);
  const fields: FormField[] = [];
  let part = buffer.indexOf(opening);
  while (part !== -1) {
    const headersStart = part + opening.length + 2;
    // Two dashes behind the boundary end the form.
    if (buffer[headersStart - 2] === dash && buffer[headersStart - 1] === dash) break;
    const valueStart = buffer.indexOf(headersEnd, headersStart - 2);
    if (valueStart === -1) break;
    const end = buffer.indexOf(closing, valueStart + 2);
    if (end === -1) break;
    const start = Math.min(valueStart + headersEnd.length, end);
    const name = fieldName(buffer.toString('utf8', headersStart, valueStart));
    if (name !== null) {
      const value = buffer.toString('utf8', start, end);
      fields.push({ name, value, start, end, partStart: part, partEnd: end + 2 });
    }
    part = end + 2;
  }
  return fields;
}

function boundaryOf(contentType: string): string | null {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  return boundary?.[1] ?? boundary?.[2] ?? null;
}

/** The name of a text field; null for files. */
function fieldName(headers: string): string | null {
  if (/\bfilename\*?=/i.test(headers)) return null;
  const name = /\bname=(?:"([^"]*)"|([^;\s]+))/i.exec(headers);
  return name?.[1] ?? name?.[2] ?? null;
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
