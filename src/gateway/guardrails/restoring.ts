/** Puts back for the client what was replaced by tokens on the way to the provider. Kept in memory for this request only. */
import type { Finding, TextScanner } from '../../guardrails/scanner.ts';
import { outputSegments, withTexts } from '../../guardrails/text/segments.ts';
import type { JsonObject } from '../../providers/provider.ts';

export type Restores = ReadonlyMap<string, string>;

const token = /\{\{[A-Z_]{1,40}_\d{1,6}\}\}/g;
const longestToken = 64;

/** The answer with every token that it repeats replaced. */
export function restored(type: string, answer: JsonObject, restores: Restores): JsonObject {
  const changes = outputSegments(type, answer).map((segment) => ({
    segment,
    text: segment.text.replaceAll(token, (found) => {
      const original = restores.get(found);
      if (original === undefined) return found;
      return segment.form === 'text' ? original : JSON.stringify(original).slice(1, -1);
    }),
  }));
  return withTexts(answer, changes);
}

/** Holds back only what may become a token. */
export class TokenScanner implements TextScanner {
  readonly replaces = true;
  readonly #restores: Restores;
  #from = 0;

  constructor(restores: Restores) {
    this.#restores = restores;
  }

  read(held: string, final: boolean): { found: Finding[]; settled: number } {
    const opened = held.lastIndexOf('{');
    const mayGrow = opened >= 0 && held.indexOf('}', opened) < 0 && held.length - opened < longestToken;
    const start = mayGrow && held[opened - 1] === '{' ? opened - 1 : opened;
    const unfinished = !mayGrow && held.endsWith('}') && !held.endsWith('}}') ? held.lastIndexOf('{{') : -1;
    const settled = final ? held.length : mayGrow ? start : unfinished >= this.#from ? unfinished : held.length;
    const found: Finding[] = [];
    for (const match of held.slice(0, Math.max(settled, this.#from)).matchAll(token)) {
      const text = this.#restores.get(match[0]);
      if (text !== undefined && match.index >= this.#from)
        found.push({ start: match.index, end: match.index + match[0].length, text });
    }
    this.#from = Math.max(this.#from, settled);
    return { found, settled: this.#from };
  }

  drop(characters: number): void {
    this.#from = Math.max(0, this.#from - characters);
  }
}
