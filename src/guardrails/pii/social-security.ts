/** Social security numbers of the United States. */
import { type DigitRuns, hyphen, space, unjoined } from './digit-runs.ts';

/** Numbers that were printed on advertisements and belong to nobody. */
const neverIssued = new Set([78_051_120, 219_099_999, 457_555_462, 123_456_789]);
const lookBack = 40;

/** How many runs from this one on are one; 0 where they are none. */
export function socialSecurityRuns(runs: DigitRuns, first: number): number {
  if (runs.size(first) === 9 && runs.join(first) === unjoined) {
    return isIssued(runs.value(first)) && saysSocialSecurity(runs.text, runs.start(first)) ? 1 : 0;
  }
  if (runs.size(first) !== 3 || runs.size(first + 1) !== 2 || runs.size(first + 2) !== 4) return 0;
  const join = runs.join(first);
  if ((join !== hyphen && join !== space) || runs.join(first + 1) !== join) return 0;
  // A fourth group makes another number of it.
  if (join === hyphen && runs.join(first + 2) === hyphen) return 0;
  if (runs.before(first) === hyphen || runs.isFollowedByWord(first + 2)) return 0;
  const number = runs.value(first) * 1_000_000 + runs.value(first + 1) * 10_000 + runs.value(first + 2);
  return isIssued(number) ? 3 : 0;
}

/** By its nine digits: area, group and serial number. */
function isIssued(number: number): boolean {
  const area = Math.floor(number / 1_000_000);
  if (area === 0 || area === 666 || area >= 900) return false;
  const serial = number % 10_000;
  return Math.floor(number / 10_000) % 100 !== 0 && serial !== 0 && !neverIssued.has(number);
}

const saysSocialSecurity = (text: string, start: number): boolean =>
  /(?:ssn|social security)[^a-z0-9]{0,3}(?:no\.?|number|#)?[^a-z0-9]{0,4}(?:is)?[^a-z0-9]{0,3}$/i.test(
    text.slice(Math.max(0, start - lookBack), start),
  );
