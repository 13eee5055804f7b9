/** Postal addresses: a house number, the name of a street and what a street is called, with the place behind it. */
import type { Entity } from './entities.ts';

const streets =
  'street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|circle|cir|place|pl|square|sq|terrace|ter|way|parkway|pkwy|highway|hwy|trail|trl|alley|aly|crescent|close|row|mews|plaza';

/** Bounded everywhere, so that a long text cannot make it look far. */
const english = new RegExp(
  `(?:\\d{1,5}[A-Za-z]?|\\d{1,5}-\\d{1,5})[ \\t]{1,2}(?:(?:north|south|east|west|[nsew]|ne|nw|se|sw)\\.?[ \\t])?(?:[\\p{Lu}\\d][\\p{L}\\d'.-]{0,24}[ \\t]){1,4}(?:${streets})\\b\\.?(?:,?[ \\t](?:apt|apartment|suite|ste|unit|floor|fl|#)\\.?[ \\t]?[\\w-]{1,8})?(?:,[ \\t]?[\\p{Lu}][\\p{L}.' -]{1,30})?(?:,[ \\t]?[A-Z]{2})?(?:[ ,][ \\t]?\\d{5}(?:-\\d{4})?)?`,
  'iuy',
);
const german =
  /[\p{Lu}][\p{L}-]{1,30}(?:straße|strasse|str\.|weg|platz|allee|gasse)[ \t]\d{1,4}[a-z]?(?:,[ \t]?\d{5}[ \t][\p{Lu}][\p{L}-]{1,30})?/gu;
const box = /\bP\.?[ ]?O\.?[ ]Box[ ]\d{1,8}/gi;

export function addressesIn(text: string, found: Entity[]): void {
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) {
      at++;
      continue;
    }
    const before = text.charCodeAt(at - 1);
    const isWord = (before >= 97 && before <= 122) || (before >= 65 && before <= 90) || before === 46 || before === 45;
    english.lastIndex = at;
    const match = isWord ? null : english.exec(text);
    // The name of a street begins with a capital; the flag that ignores case is for what streets are called.
    if (
      match &&
      /\d[A-Za-z]?(?:-\d+)?[ \t]{1,2}(?:[nsew]{1,2}\.?[ \t]|(?:north|south|east|west)[ \t])?[\p{Lu}\d]/u.test(match[0])
    ) {
      found.push({ category: 'LOCATION_ADDRESS', start: at, end: at + match[0].length });
      at += match[0].length;
      continue;
    }
    while (at < text.length && text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at++;
  }
  for (const pattern of [german, box]) {
    if (!mayHold(text, pattern)) continue;
    for (const match of text.matchAll(pattern)) {
      found.push({ category: 'LOCATION_ADDRESS', start: match.index, end: match.index + match[0].length });
    }
  }
}

/** Most texts hold none of these words, and looking for a word is quicker than looking for a pattern. */
const mayHold = (text: string, pattern: RegExp): boolean =>
  pattern === box ? /box/i.test(text) : /straße|strasse|str\.|weg |platz |allee |gasse /.test(text);
