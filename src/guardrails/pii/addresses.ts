/** Postal addresses: a house number, the name of a street and what a street is called, with the place behind it. What a street is called is looked for first, because few texts hold it. */
import type { Entity } from './entity.ts';

const street =
  /\b(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|circle|cir|place|pl|square|sq|terrace|ter|way|parkway|pkwy|highway|hwy|trail|trl|alley|aly|crescent|close|row|mews|plaza)\b/gi;
/** The flat, the place, the state and its code. */
const behindStreet =
  /(?:\.(?=[ \t]?[,\d]))?(?:,?[ \t](?:[Aa]pt|[Aa]partment|[Ss]uite|[Ss]te|[Uu]nit|[Ff]loor|[Ff]l|#)\.?[ \t]?[\w-]{1,8})?(?:,[ \t]?(?:St\. )?\p{Lu}[\p{L}'-]{1,20}(?: \p{Lu}[\p{L}'-]{1,20}){0,2})?(?:,[ \t]?[A-Z]{2})?(?:[ ,][ \t]?\d{5}(?:-\d{4})?)?/uy;
const german = /(?:straße|strasse|str\.|weg|platz|allee|gasse)[ \t]\d{1,4}[a-z]?/gi;
const germanPlace = /,[ \t]?\d{5}[ \t]\p{Lu}[\p{L}-]{1,30}/uy;
const box = /\bP\.?[ ]?O\.?[ ]Box[ ]\d{1,8}/gi;

const mostNames = 4;
const longestName = 25;
const longestGermanName = 31;

export function addressesIn(text: string, found: Entity[]): void {
  for (const match of text.matchAll(street)) {
    const start = houseBefore(text, match.index);
    if (start >= 0) note(start, endBehind(behindStreet, text, match.index + match[0].length), found);
  }
  for (const match of text.matchAll(german)) {
    const start = germanName(text, match.index);
    if (start >= 0) note(start, endBehind(germanPlace, text, match.index + match[0].length), found);
  }
  for (const match of text.matchAll(box)) note(match.index, match.index + match[0].length, found);
}

const note = (start: number, end: number, found: Entity[]): void => {
  found.push({ category: 'LOCATION_ADDRESS', start, end });
};

function endBehind(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return from + (pattern.exec(text)?.[0].length ?? 0);
}

/** Where the house number stands that belongs to this street; -1 where there is none. Up to four names stand between them, and a direction. */
function houseBefore(text: string, streetAt: number): number {
  let house = -1;
  let position = streetAt;
  for (let names = 0; ; names++) {
    const gap = isBlank(text, position - 1) ? (isBlank(text, position - 2) ? 2 : 1) : 0;
    if (gap === 0) return house;
    const end = position - gap;
    const number = numberBefore(text, end);
    if (number >= 0 && names > 0) house = number;
    if (gap > 1 || names > mostNames) return house;
    const start = wordStart(text, end);
    const isDirection = directions.has(text.slice(start, end).toLowerCase());
    if (start === end || (names === mostNames && !isDirection) || !(isDirection || isName(text, start, end)))
      return house;
    position = start;
  }
}

const directions = new Set('north south east west n s e w ne nw se sw n. s. e. w. ne. nw. se. sw.'.split(' '));

const isBlank = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code === 32 || code === 9;
};

function wordStart(text: string, end: number): number {
  let start = end;
  while (end - start < longestName && isNamePart(text.charCodeAt(start - 1))) start--;
  return start;
}

/** Begins with a capital or a digit. */
function isName(text: string, start: number, end: number): boolean {
  const code = text.charCodeAt(start);
  if (isDigit(code)) return true;
  return isLetter(code) && /^\p{Lu}/u.test(text.slice(start, Math.min(end, start + 2)));
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isAsciiLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
const isLetter = (code: number): boolean => isAsciiLetter(code) || code >= 192;
/** Letters, digits and `'.-`. */
const isNamePart = (code: number): boolean =>
  isLetter(code) || isDigit(code) || code === 39 || code === 46 || code === 45;

const longestNumber = 5;

/** Where the number begins that ends here: `12`, `12b`, `12-14`; -1 where there is none. */
function numberBefore(text: string, end: number): number {
  const digitsEnd = isAsciiLetter(text.charCodeAt(end - 1)) ? end - 1 : end;
  let start = digitsBefore(text, digitsEnd);
  if (start === digitsEnd) return -1;
  if (text.charCodeAt(start - 1) === 45) {
    const first = digitsBefore(text, start - 1);
    if (first < start - 1) start = first;
  }
  const before = text.charCodeAt(start - 1);
  return isAsciiLetter(before) || isDigit(before) || before === 46 || before === 45 ? -1 : start;
}

function digitsBefore(text: string, end: number): number {
  let start = end;
  while (end - start < longestNumber && isDigit(text.charCodeAt(start - 1))) start--;
  return start;
}

/** Where the name of a German street begins: a capital, and the word that ends in what a street is called. */
function germanName(text: string, suffixAt: number): number {
  let start = suffixAt;
  while (suffixAt - start < longestGermanName && isGermanPart(text.charCodeAt(start - 1))) start--;
  return suffixAt - start >= 2 && /^\p{Lu}/u.test(text.slice(start, start + 2)) ? start : -1;
}

const isGermanPart = (code: number): boolean => isLetter(code) || code === 45;
