/** Personal data in a text, found by form and checksum, in time that grows with the text only. */
import { addressesIn } from './addresses.ts';
import { emailsIn } from './emails.ts';
import type { Entity, PiiCategory } from './entity.ts';
import { ipV6In } from './ip-v6.ts';
import { namesIn } from './names.ts';
import { numbersIn } from './numbers.ts';

/** All that is found, in order, none inside another. */
export function entitiesIn(text: string, categories: ReadonlySet<PiiCategory>): Entity[] {
  const found: Entity[] = [];
  if (categories.has('EMAIL_ADDRESS')) emailsIn(text, found);
  if (
    categories.has('PHONE_NUMBER') ||
    categories.has('CREDIT_CARD') ||
    categories.has('SSN') ||
    categories.has('IP_ADDRESS')
  ) {
    numbersIn(text, categories, found);
  }
  if (categories.has('IP_ADDRESS')) ipV6In(text, found);
  if (categories.has('LOCATION_ADDRESS')) addressesIn(text, found);
  if (categories.has('NAME')) namesIn(text, found);
  return found.length < 2 ? found : withoutOverlaps(found);
}

/** Of two that overlap the one that begins first counts, and of those the longer one. */
function withoutOverlaps(found: Entity[]): Entity[] {
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Entity[] = [];
  let end = 0;
  for (const entity of found) {
    if (entity.start < end) continue;
    kept.push(entity);
    end = entity.end;
  }
  return kept;
}
