/** The one reader for JSON from outside: its depth, and the work that reading it makes, are bounded before anything is made of it. */

/** Nothing that is shorter can hold enough to matter. */
const harmlessLength = 16_384;
/** Writing what is nested deeper than the stack holds takes more than a second before it fails, and everybody waits. */
const deepest = 1_000;

/** About the nanoseconds that each part takes to be read. */
const workOf = {
  /** Fields whose names all differ take longest. A bracket makes something, too. */
  field: 450,
  string: 60,
  escape: 25,
  /** Of a number, a word or a blank. */
  bareByte: 6,
} as const;
/** Everybody else waits for so long. */
const mostWork = 50_000_000;

export const jsonBounds = { deepest, workOf, mostWork } as const;

/** Throws a SyntaxError for text that is no JSON, and for what is beyond the bounds. */
export function readJson(text: string): unknown {
  const excess = excessOf(text);
  if (excess !== null) throw new SyntaxError(excess);
  return JSON.parse(text);
}

/** The same for bytes, which a meter may have looked through as they came; a TypeError where the decoder is strict and they are no text. */
export function readJsonBytes(bytes: Uint8Array, decoder: TextDecoder, meter: JsonMeter | null = null): unknown {
  const excess = meter?.seen === bytes.length ? meter.excess : excessOfBytes(bytes);
  if (excess !== null) throw new SyntaxError(excess);
  return JSON.parse(decoder.decode(bytes));
}

/** Undefined where the text is no JSON within the bounds. */
export function jsonOrNothing(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

/** Whether a field stands twice in one object of a text: parsers differ in which of them they take. `value` is what the text was read as. */
export const repeatsField = (text: string, value: unknown): boolean => colonsIn(text) !== fieldsIn(value);

/** Those outside of strings: one for each field. */
function colonsIn(text: string): number {
  let found = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === colon) found++;
    if (code !== quote) continue;
    index = orEnd(text.indexOf('"', index + 1), text.length);
    while (index < text.length && isEscaped(text, index)) index = orEnd(text.indexOf('"', index + 1), text.length);
  }
  return found;
}

function isEscaped(text: string, at: number): boolean {
  let escapes = 0;
  while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++;
  return escapes % 2 === 1;
}

function fieldsIn(value: unknown): number {
  const left: unknown[] = [value];
  let found = 0;
  for (let one = left.pop(); left.length > 0 || one !== undefined; one = left.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const inner: unknown[] = Object.values(one);
    if (!Array.isArray(one)) found += inner.length;
    for (const item of inner) if (typeof item === 'object' && item !== null) left.push(item);
  }
  return found;
}

const tooDeep = 'it is nested too deeply';
const tooMany = 'it holds too many values';

/** Undefined where the bytes are none. */
export function jsonOrNothingIn(bytes: Uint8Array, decoder: TextDecoder): unknown {
  try {
    return readJsonBytes(bytes, decoder);
  } catch {
    return undefined;
  }
}

/** What is too much about a text; null where nothing is. It stops looking where that is known. The meter of bytes does the same: text that is made bytes first takes several times as long. */
export function excessOf(text: string): string | null {
  if (text.length <= harmlessLength) return null;
  let depth = 0;
  let work = 0;
  let nextEscape = -1;
  for (let index = 0; index < text.length; index++) {
    work += workOf.bareByte;
    if (work > mostWork) return tooMany;
    switch (text.charCodeAt(index)) {
      case quote: {
        work += workOf.string;
        let closing = -1;
        for (let from = index + 1; closing < from && closing < text.length && work <= mostWork; ) {
          closing = orEnd(text.indexOf('"', from), text.length);
          if (nextEscape < from) nextEscape = orEnd(text.indexOf('\\', from), text.length);
          for (; nextEscape < closing && work <= mostWork; nextEscape = orEnd(text.indexOf('\\', from), text.length)) {
            work += workOf.escape;
            from = nextEscape + 2;
          }
        }
        index = closing;
        break;
      }
      case openList:
      case openObject:
        if (++depth > deepest) return tooDeep;
        work += workOf.field;
        break;
      case closeList:
      case closeObject:
        depth--;
        break;
      case colon:
        work += workOf.field;
        break;
    }
  }
  return null;
}

/** The same, before text is made of the bytes, which takes long for forty megabytes. */
export const excessOfBytes = (bytes: Uint8Array): string | null =>
  bytes.length <= harmlessLength ? null : new JsonMeter().push(bytes);

const orEnd = (index: number, length: number): number => (index === -1 ? length : index);

const quote = 34;
const colon = 58;
const openList = 91;
const backslash = 92;
const closeList = 93;
const openObject = 123;
const closeObject = 125;

/** So much is looked at byte by byte behind an escape: in some strings every other character is one. */
const behindEscape = 4;

/** Looks through JSON as it comes, in pieces of any length. Every byte of a character beyond ASCII is above those that count, so that none is taken for another. */
export class JsonMeter {
  /** How many bytes it has looked through. */
  seen = 0;
  /** What is too much about them; null where nothing is. */
  excess: string | null = null;
  #depth = 0;
  #work = 0;
  #inString = false;
  /** So many bytes of the next piece belong to an escape that this one ended in. */
  #escaped = 0;

  /** What is too much about everything so far. */
  push(piece: Uint8Array): string | null {
    this.seen += piece.length;
    this.excess ??= this.#look(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    return this.excess;
  }

  #look(bytes: Buffer): string | null {
    const { length } = bytes;
    let depth = this.#depth;
    let work = this.#work;
    let inString = this.#inString;
    // Where the next ones stand, so that nothing is searched for twice.
    let nextQuote = -1;
    let nextEscape = -1;
    let leapsFrom = 0;
    let index = this.#escaped;
    while (index < length) {
      if (work > mostWork) return tooMany;
      if (inString) {
        const byte = bytes[index];
        if (byte === backslash) {
          work += workOf.escape;
          index += 2;
          leapsFrom = index + behindEscape;
        } else if (byte === quote) {
          inString = false;
          index++;
        } else if (index < leapsFrom) index++;
        else {
          if (nextQuote < index) nextQuote = orEnd(bytes.indexOf(quote, index), length);
          if (nextEscape < index) nextEscape = orEnd(bytes.indexOf(backslash, index), length);
          index = Math.min(nextQuote, nextEscape);
        }
        continue;
      }
      work += workOf.bareByte;
      switch (bytes[index++]) {
        case quote:
          work += workOf.string;
          inString = true;
          break;
        case openList:
        case openObject:
          if (++depth > deepest) return tooDeep;
          work += workOf.field;
          break;
        case closeList:
        case closeObject:
          depth--;
          break;
        case colon:
          work += workOf.field;
          break;
      }
    }
    this.#depth = depth;
    this.#work = work;
    this.#inString = inString;
    this.#escaped = inString ? Math.max(0, index - length) : 0;
    return work > mostWork ? tooMany : null;
  }
}
