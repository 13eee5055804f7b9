/** IPv6 addresses. */
import { isIPv6 } from 'node:net';
import type { Entity } from './entity.ts';

const longest = 45;

export function ipV6In(text: string, found: Entity[]): void {
  for (let colon = text.indexOf(':'); colon >= 0; ) {
    let start = colon;
    while (start > 0 && isHex(text.charCodeAt(start - 1))) start--;
    let end = colon;
    let colons = 0;
    while (end < text.length && isPart(text.charCodeAt(end))) {
      if (text.charCodeAt(end) === 58) colons++;
      end++;
    }
    const next = text.indexOf(':', end);
    if (colons >= 2 && end - start <= longest) note(text, start, end, found);
    colon = next;
  }
}

function note(text: string, start: number, from: number, found: Entity[]): void {
  let end = from;
  // A full stop or a colon behind it belongs to the sentence.
  while (end > start && /[.:]/.test(text[end - 1] ?? '') && !text.startsWith('::', end - 2)) end--;
  if (isWord(text.charCodeAt(start - 1)) || isWord(text.charCodeAt(end))) return;
  const candidate = text.slice(start, end);
  // `::` alone stands in programs more often than on a network.
  if (candidate.length > 2 && isIPv6(candidate)) found.push({ category: 'IP_ADDRESS', start, end });
}

const isHex = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
const isPart = (code: number): boolean => isHex(code) || code === 58 || code === 46;
const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
