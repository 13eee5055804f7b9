/** Numbers that mean something: cards, social security numbers, phone numbers and IPv4 addresses, told apart by form and checksum. */
import { cardRuns } from './cards.ts';
import { DigitRuns, dot, isDigit, mostGroups, unjoined } from './digit-runs.ts';
import type { Entity, PiiCategory } from './entity.ts';
import { mayBePhone, phoneRuns, phoneStart } from './phones.ts';
import { socialSecurityRuns } from './social-security.ts';

/** Which kinds are looked for. */
interface Wanted {
  card: boolean;
  ip: boolean;
  socialSecurity: boolean;
  phone: boolean;
}

export function numbersIn(text: string, categories: ReadonlySet<PiiCategory>, found: Entity[]): void {
  const wanted: Wanted = {
    card: categories.has('CREDIT_CARD'),
    ip: categories.has('IP_ADDRESS'),
    socialSecurity: categories.has('SSN'),
    phone: categories.has('PHONE_NUMBER'),
  };
  const runs = new DigitRuns(text);
  for (let position = 0; position < text.length; ) {
    if (!isDigit(text.charCodeAt(position))) {
      position++;
      continue;
    }
    const start = position;
    while (isDigit(text.charCodeAt(position))) position++;
    const join = runs.add(text, start, position);
    if (join === unjoined) runs.drop(judged(runs, runs.count, wanted, found));
    // The last ones may go on with those that follow.
    else if (runs.isFull) runs.drop(judged(runs, runs.count - mostGroups, wanted, found));
  }
}

/** Notes what begins with the runs before `until`, and answers how many it has gone through. */
function judged(runs: DigitRuns, until: number, wanted: Wanted, found: Entity[]): number {
  let run = 0;
  while (run < until) run += runs.isPartOfWord(run) ? 1 : takenFrom(runs, run, wanted, found);
  return run;
}

/** Notes what begins with this run, and answers how many runs it takes. The first kind that fits counts; most runs are of a size that none of them begins with. */
function takenFrom(runs: DigitRuns, run: number, wanted: Wanted, found: Entity[]): number {
  const size = runs.size(run);
  const card = wanted.card && (size === 4 || size >= 13) ? cardRuns(runs, run) : 0;
  if (card > 0) return note('CREDIT_CARD', runs, run, card, found);
  const ip = wanted.ip && size <= 3 && runs.join(run) === dot ? ipV4Runs(runs, run) : 0;
  if (ip > 0) return note('IP_ADDRESS', runs, run, ip, found);
  const socialSecurity = wanted.socialSecurity && (size === 3 || size === 9) ? socialSecurityRuns(runs, run) : 0;
  if (socialSecurity > 0) return note('SSN', runs, run, socialSecurity, found);
  const phone = wanted.phone && mayBePhone(runs, run, size) ? phoneRuns(runs, run) : 0;
  return phone > 0 ? note('PHONE_NUMBER', runs, run, phone, found) : 1;
}

function note(category: PiiCategory, runs: DigitRuns, run: number, taken: number, found: Entity[]): number {
  const start = category === 'PHONE_NUMBER' ? phoneStart(runs.text, runs.start(run)) : runs.start(run);
  found.push({ category, start, end: runs.end(run + taken - 1) });
  return taken;
}

function ipV4Runs(runs: DigitRuns, first: number): number {
  // Five numbers in a row are a version or an outline.
  if (runs.join(first) !== dot || runs.before(first) === dot || runs.join(first + 3) === dot) return 0;
  for (let index = 0; index < 4; index++) {
    const run = first + index;
    const size = runs.size(run);
    if (size === 0 || size > 3 || (index < 3 && runs.join(run) !== dot)) return 0;
    if (runs.value(run) > 255 || (size > 1 && runs.firstDigit(run) === 0)) return 0;
  }
  return runs.isFollowedByWord(first + 3) ? 0 : 4;
}
