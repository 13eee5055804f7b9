/** Tells JSON in which an object has two fields of one name: the parsed value shows only one of them. */
import { isObject } from '../../providers/json.ts';

/** `value` is what `text` was parsed to. */
export const hasRepeatedFields = (text: string, value: unknown): boolean => fieldsWritten(text) !== fieldsIn(value);

/** Strings are passed over whole, so that nothing inside one counts; those before a colon are names. */
function fieldsWritten(text: string): number {
  let count = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    let index = stringEnd(text, start);
    while (/\s/.test(text.charAt(index))) index++;
    if (text.charAt(index) === ':') count++;
    start = text.indexOf('"', index);
  }
  return count;
}

/** The index behind the quote that closes the string. */
export function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charAt(quote - 1 - slashes) === '\\') slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function fieldsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, entry) => sum + fieldsIn(entry), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce((sum: number, field) => sum + 1 + fieldsIn(field), 0);
}
