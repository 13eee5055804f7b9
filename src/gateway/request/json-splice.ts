/** Replaces one top-level string of a JSON body in its bytes, so that everything else arrives exactly as the client wrote it. */

const quote = 34;
const backslash = 92;

const isSpace = (byte: number | undefined) => byte === 32 || byte === 10 || byte === 13 || byte === 9;

interface Range {
  start: number;
  end: number;
}

/** The body with the top-level string field `name` set to `value`; null when it is not there once and as a string. */
export function spliceString(body: Uint8Array, name: string, value: string): Uint8Array<ArrayBuffer> | null {
  const [range, ...more] = fieldsNamed(body, name);
  if (!range || more.length > 0 || body[range.start] !== quote) return null;
  return Buffer.concat([body.subarray(0, range.start), Buffer.from(JSON.stringify(value)), body.subarray(range.end)]);
}

/** Whether more than one top-level field has this name: parsers differ in which of them they believe. */
export function isRepeated(body: Uint8Array, name: string): boolean {
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const plain = JSON.stringify(name);
  const first = buffer.indexOf(plain);
  const again = first !== -1 && buffer.indexOf(plain, first + plain.length) !== -1;
  // Letters of a name can also be written as escapes.
  return (again || buffer.includes('\\u00')) && fieldsNamed(body, name).length > 1;
}

/** Where the values of all top-level fields of this name stand, quotes included; of values that are no strings only the start counts. */
function fieldsNamed(body: Uint8Array, name: string): Range[] {
  const found: Range[] = [];
  let depth = 0;
  let index = 0;
  while (index < body.length) {
    const byte = body[index];
    if (byte === quote) {
      const end = stringEnd(body, index);
      const value = depth === 1 ? valueAfter(body, end) : null;
      if (value !== null && isName(body.subarray(index, end), name)) found.push(rangeAt(body, value));
      index = end;
      continue;
    }
    if (byte === 123 || byte === 91) depth++;
    else if (byte === 125 || byte === 93) depth--;
    index++;
  }
  return found;
}

/** Whether a string, quotes included, means this name. */
function isName(text: Uint8Array, name: string): boolean {
  if (text.length < name.length + 2) return false;
  const written = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
  if (!written.includes('\\')) return written === `"${name}"`;
  return JSON.parse(written) === name;
}

/** Where the value behind a key begins; null when the string is no key. */
function valueAfter(body: Uint8Array, keyEnd: number): number | null {
  let index = keyEnd;
  while (isSpace(body[index])) index++;
  if (body[index] !== 58) return null;
  index++;
  while (isSpace(body[index])) index++;
  return index;
}

const rangeAt = (body: Uint8Array, start: number): Range => ({
  start,
  end: body[start] === quote ? stringEnd(body, start) : start,
});

/** The index behind the closing quote of the string that begins at `start`. */
function stringEnd(body: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < body.length) {
    if (body[index] === backslash) index += 2;
    else if (body[index] === quote) return index + 1;
    else index++;
  }
  return body.length;
}
