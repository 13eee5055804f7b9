/** Numbers of payment cards: the prefixes and lengths of the networks, and the check digit. */
import { type DigitRuns, exactDigits, hyphen, space } from './digit-runs.ts';

/** How cards are written in groups, each digit the length of a group. */
const forms: ReadonlySet<number> = new Set([4444, 465, 44443, 464, 4441, 445]);
const mostRuns = 5;

/** How many runs from this one on are a card; 0 where they are none. */
export function cardRuns(runs: DigitRuns, first: number): number {
  const alone = runs.size(first);
  if (alone >= 13) return isCard(runs, first, 1, alone) && !runs.isFollowedByWord(first) ? 1 : 0;
  if (alone !== 4) return 0;
  let digits = alone;
  let form = alone;
  for (let taken = 2; taken <= mostRuns; taken++) {
    const last = first + taken - 1;
    const join = runs.join(last - 1);
    const size = runs.size(last);
    if ((join !== space && join !== hyphen) || size === 0 || size > 6) return 0;
    digits += size;
    form = form * 10 + size;
    if (!forms.has(form) || !isCard(runs, first, taken, digits)) continue;
    // A card of nineteen digits begins like one of sixteen.
    const goesOn = form === 4444 && runs.join(last) === join && runs.size(last + 1) === 3;
    if (goesOn && isCard(runs, first, taken + 1, digits + 3)) continue;
    return runs.isFollowedByWord(last) ? 0 : taken;
  }
  return 0;
}

const isCard = (runs: DigitRuns, first: number, taken: number, digits: number): boolean =>
  hasNetwork(prefixOf(runs, first), digits) && passesLuhn(runs, first, taken);

/** The first four digits. */
function prefixOf(runs: DigitRuns, run: number): number {
  const size = Math.min(runs.size(run), exactDigits);
  return size === 4 ? runs.value(run) : Math.floor(runs.value(run) / 10 ** (size - 4));
}

/** By the first four digits and how many there are. */
function hasNetwork(four: number, length: number): boolean {
  const two = Math.floor(four / 100);
  if (two >= 40 && two <= 49) return length === 13 || length === 16 || length === 19;
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return length === 16;
  if (two === 34 || two === 37) return length === 15;
  if ((four >= 3000 && four <= 3059) || two === 36 || two === 38 || two === 39) return length >= 14 && length <= 19;
  return length >= 16 && length <= 19 && isLongNetwork(two, four);
}

const isLongNetwork = (two: number, four: number): boolean =>
  four === 6011 ||
  (four >= 6440 && four <= 6499) ||
  (four >= 3528 && four <= 3589) ||
  (two >= 56 && two <= 60) ||
  [50, 62, 63, 65, 67, 81].includes(two);

/** A number of one digit again and again passes, and is no card. */
function passesLuhn(runs: DigitRuns, first: number, taken: number): boolean {
  const leading = runs.firstDigit(first);
  let sum = 0;
  let isDoubled = false;
  let isSame = true;
  for (let run = first + taken - 1; run >= first; run--) {
    sum += runs.luhnSum(run, isDoubled);
    if (runs.size(run) % 2 === 1) isDoubled = !isDoubled;
    if (!runs.isUniform(run) || runs.firstDigit(run) !== leading) isSame = false;
  }
  return !isSame && sum % 10 === 0;
}
