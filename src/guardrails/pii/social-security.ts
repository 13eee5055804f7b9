/** Social security numbers of the United States. */
import { type DigitRuns, hyphen, space, unjoined } from './digit-runs.ts';

/** Numbers that were printed on advertisements and belong to nobody. */
const neverIssued = new Set(['078051120', '219099999', '457555462', '123456789']);
const lookBack = 40;

/** How many runs from this one on are one; 0 where they are none. */
export function socialSecurityRuns(runs: DigitRuns, first: number): number {
  if (runs.size(first) === 9 && runs.join(first) === unjoined) {
    return isIssued(runs.digits(first)) && saysSocialSecurity(runs.text, runs.start(first)) ? 1 : 0;
  }
  if (runs.size(first) !== 3 || runs.size(first + 1) !== 2 || runs.size(first + 2) !== 4) return 0;
  const join = runs.join(first);
  if ((join !== hyphen && join !== space) || runs.join(first + 1) !== join) return 0;
  // A fourth group makes another number of it.
  if (join === hyphen && runs.join(first + 2) === hyphen) return 0;
  if (runs.before(first) === hyphen || runs.isFollowedByWord(first + 2)) return 0;
  return isIssued(runs.digits(first) + runs.digits(first + 1) + runs.digits(first + 2)) ? 3 : 0;
}

function isIssued(digits: string): boolean {
  const area = Number(digits.slice(0, 3));
  if (area === 0 || area === 666 || area >= 900) return false;
  return digits.slice(3, 5) !== '00' && digits.slice(5) !== '0000' && !neverIssued.has(digits);
}

const saysSocialSecurity = (text: string, start: number): boolean =>
  /(?:ssn|social security)[^a-z0-9]{0,3}(?:no\.?|number|#)?[^a-z0-9]{0,4}(?:is)?[^a-z0-9]{0,3}$/i.test(
    text.slice(Math.max(0, start - lookBack), start),
  );
