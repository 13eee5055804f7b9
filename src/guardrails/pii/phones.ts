/** Phone numbers: with a plus, as North America writes them, or with a zero before the area. */
import { type DigitRuns, dot, hyphen, mostGroups, opening, space, unjoined } from './digit-runs.ts';

const longest = 15;
const plus = 43;

/** How many runs from this one on are a phone number; 0 where they are none. */
export function phoneRuns(runs: DigitRuns, first: number): number {
  const before = runs.before(first);
  if (before === dot || before === hyphen) return 0;
  const isInternational =
    before === plus || (before === opening && runs.text.charCodeAt(runs.start(first) - 2) === plus);
  return isInternational ? international(runs, first) : national(runs, first);
}

/** False for nearly all numbers, after a look at one digit and what stands before it. */
export function mayBePhone(runs: DigitRuns, first: number, size: number): boolean {
  if (size === 3 || size === 10 || size === 11) return true;
  const digit = runs.firstDigit(first);
  if (digit === 0 || (digit === 1 && size === 1)) return true;
  const before = runs.before(first);
  return before === plus || before === opening;
}

/** With the plus and the bracket that stand before it. */
export function phoneStart(text: string, start: number): number {
  let at = start;
  if (text.charCodeAt(at - 1) === opening) at--;
  if (text.charCodeAt(at - 1) === plus) at--;
  return at;
}

/** A plus, and eight to fifteen digits. */
function international(runs: DigitRuns, first: number): number {
  if (runs.firstDigit(first) === 0) return 0;
  let digits = 0;
  let taken = 0;
  for (let index = 0; index < mostGroups; index++) {
    const size = runs.size(first + index);
    digits += size;
    if (size === 0 || digits > longest) break;
    if (digits >= 8) taken = index + 1;
    if (runs.join(first + index) === unjoined) break;
  }
  return taken > 0 && !runs.isFollowedByWord(first + taken - 1) ? taken : 0;
}

/** Ten digits of North America, with or without the 1 before them; elsewhere a zero and nine to eleven digits in groups. */
function national(runs: DigitRuns, first: number): number {
  const size = runs.size(first);
  if ((size === 10 || size === 11) && runs.join(first) === unjoined) return isBare(runs, first) ? 1 : 0;
  const skip = size === 1 && runs.firstDigit(first) === 1 ? 1 : 0;
  if (isAmerican(runs, first + skip)) return skip + 3;
  if (isLocal(runs, first)) return 2;
  return runs.firstDigit(first) === 0 ? trunk(runs, first) : 0;
}

/** Ten digits in a row may be anything, unless the text says what they are. */
function isBare(runs: DigitRuns, run: number): boolean {
  const start = runs.start(run);
  const skip = runs.size(run) === 11 && runs.firstDigit(run) === 1 ? 1 : 0;
  const isTen = runs.size(run) - skip === 10 && isAreaAndExchange(runs.text, start + skip, start + skip + 3);
  return (isTen || runs.firstDigit(run) === 0) && !runs.isFollowedByWord(run) && saysPhone(runs.text, start);
}

/** Three, three and four digits. */
function isAmerican(runs: DigitRuns, first: number): boolean {
  if (runs.size(first) !== 3 || runs.size(first + 1) !== 3 || runs.size(first + 2) !== 4) return false;
  const last = runs.join(first + 2);
  if ((last !== unjoined && last !== space) || runs.isFollowedByWord(first + 2)) return false;
  return isAreaAndExchange(runs.text, runs.start(first), runs.start(first + 1));
}

/** Seven digits alone say little; behind the word for it they are one. */
const isLocal = (runs: DigitRuns, first: number): boolean =>
  runs.size(first) === 3 &&
  runs.size(first + 1) === 4 &&
  runs.join(first) === hyphen &&
  runs.join(first + 1) === unjoined &&
  saysPhone(runs.text, runs.start(first));

function trunk(runs: DigitRuns, first: number): number {
  if (runs.size(first) < 2) return 0;
  let digits = 0;
  for (let index = 0; index < 6; index++) {
    const run = first + index;
    const join = runs.join(run);
    if (runs.size(run) === 0 || join === dot) return 0;
    digits += runs.size(run);
    if (join !== unjoined) continue;
    const isPlausible = digits >= 9 && digits <= 12 && index >= 1;
    return isPlausible && !runs.isFollowedByWord(run) ? index + 1 : 0;
  }
  return 0;
}

/** Neither the area nor the exchange begins with 0 or 1, and neither is a service number. */
const isAreaAndExchange = (text: string, area: number, exchange: number): boolean =>
  isAreaLike(text, area) && isAreaLike(text, exchange);

const one = 49;
const isAreaLike = (text: string, at: number): boolean =>
  text.charCodeAt(at) > one && !(text.charCodeAt(at + 1) === one && text.charCodeAt(at + 2) === one);

const lookBack = 40;

const saysPhone = (text: string, start: number): boolean =>
  /(?:phone|tel|telephone|mobile|cell|call|fax|whatsapp|text)[a-z]{0,3}[^a-z0-9]{0,4}(?:me|us|him|her|number|no\.?|is|at|on)?[^a-z0-9]{0,4}(?:at|on|is)?[^a-z0-9]{0,3}$/i.test(
    text.slice(Math.max(0, start - lookBack), start),
  );
