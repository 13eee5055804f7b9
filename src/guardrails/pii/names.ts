/** Names of people where the text itself says that they are names: behind a title, or where somebody is introduced. */
import type { Entity } from './entity.ts';

const name = "[\\p{Lu}][\\p{L}'’-]{1,24}";
const titled = new RegExp(
  `\\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Madam|Herr|Frau|Señor|Señora)\\.?[ ](${name}(?:[ ]${name}){0,2})`,
  'gu',
);
const introduced = new RegExp(
  `\\b(?:[Mm]y name is|[Nn]amed|[Nn]ame:|[Ss]igned,?|[Rr]egards,|[Ss]incerely,|[Dd]ear)[ \\n](${name}(?:[ ]${name}){0,2})`,
  'gu',
);

export function namesIn(text: string, found: Entity[]): void {
  for (const pattern of [titled, introduced]) {
    for (const match of text.matchAll(pattern)) {
      const own = match[1] ?? '';
      const start = match.index + match[0].length - own.length;
      found.push({ category: 'NAME', start, end: start + own.length });
    }
  }
}
