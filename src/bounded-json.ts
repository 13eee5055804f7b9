/** The one reader for JSON from outside: its depth and the number of its values are bounded before anything is made of it. */

/** Nothing that is shorter can hold enough to matter. */
const harmlessLength = 16_384;
/** Writing what is nested deeper than the stack holds takes more than a second before it fails, and everybody waits. */
const deepest = 1_000;
/** Each field and each bracket makes something; a hundred thousand of them take some ten milliseconds, and ten times that as different names. */
const mostFields = 100_000;
/** Numbers and words in a list cost far less: vectors have millions of them. */
const mostElements = 2_000_000;

export const jsonBounds = { deepest, mostFields, mostElements } as const;

/** Throws a SyntaxError for text that is no JSON, and for what is beyond the bounds. */
export function readJson(text: string): unknown {
  const excess = excessOf(text);
  if (excess !== null) throw new SyntaxError(excess);
  return JSON.parse(text);
}

/** Undefined where the text is no JSON within the bounds. */
export function jsonOrNothing(text: string): unknown {
  if (excessOf(text) !== null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What is too much about a text; null where nothing is. It stops looking where that is known. */
export function excessOf(text: string): string | null {
  if (text.length <= harmlessLength) return null;
  let depth = 0;
  let fields = 0;
  let elements = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = endOfString(text, index);
        break;
      case openList:
      case openObject:
        if (++depth > deepest) return 'it is nested too deeply';
        if (++fields > mostFields) return tooMany;
        break;
      case closeList:
      case closeObject:
        depth--;
        break;
      case colon:
        if (++fields > mostFields) return tooMany;
        break;
      case comma:
        if (++elements > mostElements) return tooMany;
        break;
    }
  }
  return null;
}

/** The same, before anything is made of the bytes: text of forty megabytes takes long to make. */
export function excessOfBytes(given: Uint8Array): string | null {
  if (given.length <= harmlessLength) return null;
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
  let depth = 0;
  let fields = 0;
  let elements = 0;
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case quote:
        index = endOfBytes(bytes, index);
        break;
      case openList:
      case openObject:
        if (++depth > deepest) return 'it is nested too deeply';
        if (++fields > mostFields) return tooMany;
        break;
      case closeList:
      case closeObject:
        depth--;
        break;
      case colon:
        if (++fields > mostFields) return tooMany;
        break;
      case comma:
        if (++elements > mostElements) return tooMany;
        break;
    }
  }
  return null;
}

/** Throws a SyntaxError for bytes that are no JSON, and for what is beyond the bounds; a TypeError where the decoder is strict and they are no text. */
export function readJsonBytes(bytes: Uint8Array, decoder: TextDecoder): unknown {
  const excess = excessOfBytes(bytes);
  if (excess !== null) throw new SyntaxError(excess);
  return JSON.parse(decoder.decode(bytes));
}

const tooMany = 'it holds too many values';

const quote = 34;
const comma = 44;
const colon = 58;
const openList = 91;
const backslash = 92;
const closeList = 93;
const openObject = 123;
const closeObject = 125;

/** Where the string that opens here closes; long ones, such as images, are leapt over. */
function endOfString(text: string, opening: number): number {
  for (let from = opening + 1; ; ) {
    const closing = text.indexOf('"', from);
    if (closing === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(closing - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return closing;
    from = closing + 1;
  }
}

/** Every byte of a character beyond ASCII is above these, so that none is taken for another. */
function endOfBytes(bytes: Buffer, opening: number): number {
  for (let from = opening + 1; ; ) {
    const closing = bytes.indexOf(quote, from);
    if (closing === -1) return bytes.length;
    let escapes = 0;
    while (bytes[closing - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return closing;
    from = closing + 1;
  }
}
