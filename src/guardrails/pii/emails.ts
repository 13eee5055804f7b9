/** Addresses of e-mail. */
import type { Entity } from './entity.ts';

const longestLocal = 64;
const longestDomain = 253;

export function emailsIn(text: string, found: Entity[]): void {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && at - start < longestLocal && isLocal(text.charCodeAt(start - 1))) start--;
    while (start < at && text.charCodeAt(start) === dot) start++;
    if (start === at || text.charCodeAt(at - 1) === dot) continue;
    const end = domainEnd(text, at + 1);
    if (end > 0) found.push({ category: 'EMAIL_ADDRESS', start, end });
  }
}

const dot = 46;
const hyphen = 45;

/** Where a domain of at least two labels ends; 0 where there is none. */
function domainEnd(text: string, from: number): number {
  let end = 0;
  let label = from;
  let position = from;
  for (; position - from <= longestDomain; position++) {
    const code = text.charCodeAt(position);
    if (isAlphanumeric(code) || code === hyphen) continue;
    const length = position - label;
    if (length === 0 || text.charCodeAt(label) === hyphen || text.charCodeAt(position - 1) === hyphen) break;
    // The last label of a domain is a word of letters.
    if (label > from && length >= 2 && areLetters(text, label, position)) end = position;
    if (code !== dot) break;
    label = position + 1;
  }
  return end;
}

function areLetters(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isLetter(text.charCodeAt(at))) return false;
  return true;
}

const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code >= 192;
const isAlphanumeric = (code: number): boolean => isLetter(code) || (code >= 48 && code <= 57);
/** Letters, digits and `.!#$%&'*+/=?^_{|}~-`. */
const isLocal = (code: number): boolean =>
  isAlphanumeric(code) ||
  code === dot ||
  code === hyphen ||
  code === 95 ||
  code === 43 ||
  code === 37 ||
  code === 39 ||
  code === 38;
