/** Values of bodies that travel in headers as well: written so that any text fits, and read back. */

const opening = '=?base64?';
const closing = '?=';
const plain = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const isWrapped = (value: string): boolean =>
  value.length >= opening.length + closing.length && value.startsWith(opening) && value.endsWith(closing);

export const encodeHeaderValue = (value: string): string =>
  plain.test(value) && !isWrapped(value)
    ? value
    : `${opening}${Buffer.from(value, 'utf8').toString('base64')}${closing}`;

/** Null where it is wrapped and cannot be read. */
export function decodeHeaderValue(value: string): string | null {
  const trimmed = value.trim();
  if (!isWrapped(trimmed)) return trimmed;
  const inner = trimmed.slice(opening.length, -closing.length);
  if (!base64.test(inner)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(inner, 'base64'));
  } catch {
    // Bytes that are no text name nothing.
    return null;
  }
}
