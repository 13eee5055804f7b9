/** A changed JSON body in the client's own words: whatever was not changed is copied as it was written, so that no number loses a digit. */
import { isObject } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { stringEnd } from './json-fields.ts';

const decoder = new TextDecoder();

/** More digits than a double holds, or an exponent that may be beyond it. In texts they do no harm. */
const fragileNumber = /\d{16}|\d[eE][+-]?\d/;

/** `before` is what the bytes were parsed to; what `after` still has of it must be the very same values. */
export function rewritten(bytes: Uint8Array, before: JsonObject, after: Readonly<JsonObject>): Uint8Array<ArrayBuffer> {
  const text = decoder.decode(bytes);
  return Buffer.from(
    fragileNumber.test(text) ? new Copy(text).written(after, before, spaceEnd(text, 0)) : JSON.stringify(after),
  );
}

class Copy {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** `after` as JSON, where `before` stands in the text from `start` on. */
  written(after: unknown, before: unknown, start: number): string {
    if (after === before) return this.#text.slice(start, valueEnd(this.#text, start));
    if (Array.isArray(after) && Array.isArray(before)) return this.#list(after, before, start);
    if (isObject(after) && isObject(before)) return this.#object(after, before, start);
    return JSON.stringify(after) ?? 'null';
  }

  #object(after: JsonObject, before: JsonObject, start: number): string {
    const places = fieldsAt(this.#text, start);
    const fields = Object.entries(after).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const place = places.get(name);
      const json = place === undefined ? JSON.stringify(value) : this.written(value, before[name], place);
      return [`${JSON.stringify(name)}:${json}`];
    });
    return `{${fields.join(',')}}`;
  }

  #list(after: readonly unknown[], before: readonly unknown[], start: number): string {
    const places = elementsAt(this.#text, start);
    let next = 0;
    const elements = after.map((element, index) => {
      // Elements are taken out, and never put elsewhere: what is still there stands behind the one before it.
      const found = after.length === before.length ? index : before.indexOf(element, next);
      const place = places[found];
      if (place === undefined) return JSON.stringify(element) ?? 'null';
      next = found + 1;
      return this.written(element, before[found], place);
    });
    return `[${elements.join(',')}]`;
  }
}

/** Where the values of an object begin. Of a field that stands there twice the last one counts, as for our parser. */
function fieldsAt(text: string, start: number): Map<string, number> {
  const places = new Map<string, number>();
  let index = spaceEnd(text, start + 1);
  while (text.charAt(index) === '"') {
    const nameEnd = stringEnd(text, index);
    const valueStart = spaceEnd(text, spaceEnd(text, nameEnd) + 1);
    places.set(JSON.parse(text.slice(index, nameEnd)), valueStart);
    index = spaceEnd(text, spaceEnd(text, valueEnd(text, valueStart)) + 1);
  }
  return places;
}

/** Where the elements of a list begin. */
function elementsAt(text: string, start: number): number[] {
  const places: number[] = [];
  let index = spaceEnd(text, start + 1);
  while (index < text.length && text.charAt(index) !== ']') {
    places.push(index);
    const separator = spaceEnd(text, valueEnd(text, index));
    if (text.charAt(separator) === ']') break;
    index = spaceEnd(text, separator + 1);
  }
  return places;
}

function spaceEnd(text: string, start: number): number {
  let index = start;
  while (' \n\r\t'.includes(text.charAt(index)) && index < text.length) index++;
  return index;
}

const mark = /["[\]{}]/g;
const plainValue = /[^\s,[\]{}]*/y;

/** The index behind the value that begins at `start`. */
function valueEnd(text: string, start: number): number {
  const first = text.charAt(start);
  if (first === '"') return stringEnd(text, start);
  if (first !== '{' && first !== '[') {
    plainValue.lastIndex = start;
    plainValue.test(text);
    return plainValue.lastIndex;
  }
  let depth = 0;
  let index = start;
  do {
    mark.lastIndex = index;
    const found = mark.exec(text);
    if (!found) return text.length;
    if (found[0] === '"') {
      index = stringEnd(text, found.index);
      continue;
    }
    depth += found[0] === '{' || found[0] === '[' ? 1 : -1;
    index = found.index + 1;
  } while (depth > 0);
  return index;
}
