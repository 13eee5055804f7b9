/** Numbers that mean something: cards, social security numbers, phone numbers and IPv4 addresses, told apart by form and checksum. */
import type { Entity, PiiCategory } from './entities.ts';

/** A run of digits, and what stands between it and the next one. */
interface Group {
  start: number;
  end: number;
  /** The separator to the next group where they belong together: one of ` -.)`, else nothing. */
  next: string;
}

const mostGroups = 7;

export function numbersIn(text: string, categories: ReadonlySet<PiiCategory>, found: Entity[]): void {
  const groups: Group[] = [];
  let position = 0;
  const flush = (keep: number): void => {
    while (groups.length > keep) {
      const taken = judge(text, groups, categories, found);
      groups.splice(0, Math.max(1, taken));
    }
  };
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code < 48 || code > 57) {
      position++;
      continue;
    }
    const start = position;
    while (position < text.length && isDigit(text.charCodeAt(position))) position++;
    const next = separatorAt(text, position);
    groups.push({ start, end: position, next });
    if (next === '') flush(0);
    else if (groups.length >= mostGroups) flush(mostGroups - 1);
  }
  flush(0);
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** What joins this group to a next one: a single separator, or a bracket with a space. */
function separatorAt(text: string, at: number): string {
  const character = text[at] ?? '';
  if (character === '') return '';
  const behind = text.charCodeAt(at + 1);
  if ((character === ' ' || character === '-' || character === '.') && isDigit(behind)) return character;
  if (character === ')' && (isDigit(behind) || ((behind === 32 || behind === 45) && isDigit(text.charCodeAt(at + 2)))))
    return ')';
  // The area code of a number that begins with the country.
  if ((character === ' ' || character === '-') && behind === 40 && isDigit(text.charCodeAt(at + 2))) return '(';
  return character === '(' && isDigit(behind) ? '(' : '';
}

/** Looks at the first of the groups and what follows it; answers how many of them are used up. */
function judge(text: string, groups: readonly Group[], categories: ReadonlySet<PiiCategory>, found: Entity[]): number {
  const first = groups[0];
  if (!first || isPartOfWord(text, first.start)) return 1;
  if (categories.has('CREDIT_CARD')) {
    const taken = cardGroups(text, groups);
    if (taken > 0) return note('CREDIT_CARD', groups, taken, found);
  }
  if (categories.has('IP_ADDRESS') && isIpV4(text, groups)) return note('IP_ADDRESS', groups, 4, found);
  if (categories.has('SSN')) {
    const taken = socialSecurityGroups(text, groups);
    if (taken > 0) return note('SSN', groups, taken, found);
  }
  if (categories.has('PHONE_NUMBER')) {
    const taken = phoneGroups(text, groups);
    if (taken > 0) {
      const start = phoneStart(text, first.start);
      const last = groups[taken - 1];
      found.push({ category: 'PHONE_NUMBER', start, end: last?.end ?? first.end });
      return taken;
    }
  }
  return 1;
}

function note(category: PiiCategory, groups: readonly Group[], taken: number, found: Entity[]): number {
  const start = groups[0]?.start ?? 0;
  found.push({ category, start, end: groups[taken - 1]?.end ?? start });
  return taken;
}

/** `a1` and `_1` are no numbers. */
function isPartOfWord(text: string, start: number): boolean {
  const code = text.charCodeAt(start - 1);
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}

const isFollowedByWord = (text: string, end: number): boolean => {
  const code = text.charCodeAt(end);
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
};

const lengthOf = ({ start, end }: Group): number => end - start;

/** How cards are written when they are written in groups. */
const cardForms: readonly string[] = ['4,4,4,4', '4,6,5', '4,4,4,4,3', '4,6,4', '4,4,4,1', '4,4,5'];

function cardGroups(text: string, groups: readonly Group[]): number {
  const first = groups[0];
  if (!first) return 0;
  const alone = lengthOf(first);
  if (alone >= 13) {
    return alone <= 19 && !isFollowedByWord(text, first.end) && isCard(text.slice(first.start, first.end)) ? 1 : 0;
  }
  if (alone !== 4) return 0;
  let digits = text.slice(first.start, first.end);
  let form = '4';
  for (let index = 1; index < Math.min(groups.length, 5); index++) {
    const before = groups[index - 1];
    const group = groups[index];
    if (!group || (before?.next !== ' ' && before?.next !== '-')) return 0;
    digits += text.slice(group.start, group.end);
    form += `,${lengthOf(group)}`;
    const more = group.next === before.next && groups[index + 1] && lengthOf(groups[index + 1] ?? group) < 5;
    if (
      cardForms.includes(form) &&
      isCard(digits) &&
      !(more && form === '4,4,4,4' && isLongerCard(text, groups, digits))
    ) {
      return isFollowedByWord(text, group.end) ? 0 : index + 1;
    }
  }
  return 0;
}

/** A card of nineteen digits begins like one of sixteen. */
function isLongerCard(text: string, groups: readonly Group[], digits: string): boolean {
  const fifth = groups[4];
  return fifth !== undefined && lengthOf(fifth) === 3 && isCard(digits + text.slice(fifth.start, fifth.end));
}

/** The prefixes and lengths of the networks, and the check digit. */
function isCard(digits: string): boolean {
  return hasNetwork(digits) && passesLuhn(digits);
}

function hasNetwork(digits: string): boolean {
  const { length } = digits;
  const two = Number(digits.slice(0, 2));
  const four = Number(digits.slice(0, 4));
  if (digits.startsWith('4')) return length === 13 || length === 16 || length === 19;
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return length === 16;
  if (two === 34 || two === 37) return length === 15;
  if (four === 6011 || two === 65 || (four >= 6440 && four <= 6499)) return length >= 16 && length <= 19;
  if (four >= 3528 && four <= 3589) return length >= 16 && length <= 19;
  if ((four >= 3000 && four <= 3059) || two === 36 || two === 38 || two === 39) return length >= 14 && length <= 19;
  if (two === 62 || two === 81) return length >= 16 && length <= 19;
  return (
    (two === 50 || (two >= 56 && two <= 59) || two === 60 || two === 63 || two === 67) && length >= 16 && length <= 19
  );
}

export function passesLuhn(digits: string): boolean {
  let sum = 0;
  let doubled = false;
  let same = true;
  for (let index = digits.length - 1; index >= 0; index--) {
    const digit = digits.charCodeAt(index) - 48;
    if (digit !== digits.charCodeAt(0) - 48) same = false;
    const value = doubled ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
    doubled = !doubled;
  }
  return !same && sum % 10 === 0;
}

function isIpV4(text: string, groups: readonly Group[]): boolean {
  for (let index = 0; index < 4; index++) {
    const group = groups[index];
    if (!group || lengthOf(group) > 3 || (index < 3 && group.next !== '.')) return false;
    const octet = text.slice(group.start, group.end);
    if (Number(octet) > 255 || (octet.length > 1 && octet.startsWith('0'))) return false;
  }
  const [first, , , last] = groups;
  if (!first || !last) return false;
  // Five numbers in a row are a version or an outline, and so are four behind a `v`.
  return last.next !== '.' && text[first.start - 1] !== '.' && !isFollowedByWord(text, last.end);
}

/** Numbers that were printed on advertisements and belong to nobody. */
const neverIssued = new Set(['078051120', '219099999', '457555462', '123456789']);

function socialSecurityGroups(text: string, groups: readonly Group[]): number {
  const [first, second, third] = groups;
  if (!first) return 0;
  if (lengthOf(first) === 9 && first.next === '') {
    return saysSocialSecurity(text, first.start) && isSocialSecurity(text.slice(first.start, first.end)) ? 1 : 0;
  }
  if (!second || !third || lengthOf(first) !== 3 || lengthOf(second) !== 2 || lengthOf(third) !== 4) return 0;
  if ((first.next !== '-' && first.next !== ' ') || second.next !== first.next) return 0;
  // A fourth group makes another number of it.
  if (third.next === first.next && third.next === '-') return 0;
  if (text[first.start - 1] === '-' || isFollowedByWord(text, third.end)) return 0;
  const digits =
    text.slice(first.start, first.end) + text.slice(second.start, second.end) + text.slice(third.start, third.end);
  return isSocialSecurity(digits) ? 3 : 0;
}

function isSocialSecurity(digits: string): boolean {
  const area = Number(digits.slice(0, 3));
  if (area === 0 || area === 666 || area >= 900) return false;
  return digits.slice(3, 5) !== '00' && digits.slice(5) !== '0000' && !neverIssued.has(digits);
}

const saysSocialSecurity = (text: string, start: number): boolean =>
  /(?:ssn|social security)[^a-z0-9]{0,3}(?:no\.?|number|#)?[^a-z0-9]{0,4}(?:is)?[^a-z0-9]{0,3}$/i.test(
    text.slice(Math.max(0, start - 40), start),
  );

const saysPhone = (text: string, start: number): boolean =>
  /(?:phone|tel|telephone|mobile|cell|call|fax|whatsapp|text)[a-z]{0,3}[^a-z0-9]{0,4}(?:me|us|him|her|number|no\.?|is|at|on)?[^a-z0-9]{0,4}(?:at|on|is)?[^a-z0-9]{0,3}$/i.test(
    text.slice(Math.max(0, start - 40), start),
  );

/** With the plus and the bracket that stand before it. */
function phoneStart(text: string, start: number): number {
  let at = start;
  if (text[at - 1] === '(') at--;
  if (text[at - 1] === '+') at--;
  return at;
}

const longestPhone = 15;

function phoneGroups(text: string, groups: readonly Group[]): number {
  const [first] = groups;
  if (!first || text[first.start - 1] === '.' || text[first.start - 1] === '-') return 0;
  if (text[first.start - 1] === '+' || text.slice(first.start - 2, first.start) === '+(')
    return international(text, groups);
  return national(text, groups);
}

/** A plus, and eight to fifteen digits. */
function international(text: string, groups: readonly Group[]): number {
  let digits = 0;
  let taken = 0;
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index];
    if (!group) break;
    digits += lengthOf(group);
    if (digits > longestPhone) break;
    if (digits >= 8) taken = index + 1;
    if (group.next === '' || index === mostGroups - 1) break;
  }
  const [first] = groups;
  const last = groups[taken - 1];
  if (!first || !last || text[first.start] === '0' || isFollowedByWord(text, last.end)) return 0;
  return taken;
}

/** Ten digits of North America, with or without the 1 before them; elsewhere a zero and nine to eleven digits in groups. */
function national(text: string, groups: readonly Group[]): number {
  const [first] = groups;
  if (!first) return 0;
  const sizes = groups.map(lengthOf);
  const bare = sizes[0] ?? 0;
  if ((bare === 10 || bare === 11) && first.next === '') {
    const digits = text.slice(first.start, first.end);
    const ten = bare === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
    return saysPhone(text, first.start) &&
      !isFollowedByWord(text, first.end) &&
      (isNorthAmerican(ten) || digits.startsWith('0'))
      ? 1
      : 0;
  }
  const skip = bare === 1 && text[first.start] === '1' ? 1 : 0;
  const three = sizes.slice(skip, skip + 3).join();
  const last = groups[skip + 2];
  if (three === '3,3,4' && last && !(last.next !== '' && last.next !== ' ') && !isFollowedByWord(text, last.end)) {
    const own = groups.slice(skip, skip + 3);
    if (own.slice(0, 2).every(({ next }) => next !== '') && isNorthAmerican(joined(text, own))) return skip + 3;
  }
  const [a, b] = groups;
  // Seven digits alone say little; behind the word for it they are one.
  if (sizes.slice(0, 2).join() === '3,4' && a?.next === '-' && b?.next === '' && saysPhone(text, first.start)) return 2;
  return text[first.start] === '0' ? trunk(text, groups) : 0;
}

function trunk(text: string, groups: readonly Group[]): number {
  let digits = 0;
  for (let index = 0; index < Math.min(groups.length, 6); index++) {
    const group = groups[index];
    if (!group || group.next === '.') return 0;
    digits += lengthOf(group);
    if (group.next !== '') continue;
    const plausible = digits >= 9 && digits <= 12 && index >= 1 && index <= 5 && lengthOf(groups[0] ?? group) >= 2;
    return plausible && !isFollowedByWord(text, group.end) ? index + 1 : 0;
  }
  return 0;
}

const joined = (text: string, groups: readonly Group[]): string =>
  groups.map(({ start, end }) => text.slice(start, end)).join('');

/** Neither the area nor the exchange begins with 0 or 1, and neither is a service number. */
const isNorthAmerican = (digits: string): boolean =>
  digits.length === 10 &&
  /^[2-9]\d{2}[2-9]\d{6}$/.test(digits) &&
  digits.slice(1, 3) !== '11' &&
  digits.slice(4, 6) !== '11';
