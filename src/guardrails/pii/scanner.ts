/** Reads a stream for personal data: text is held back up to a space that nothing found can reach across. */
import type { Finding, TextScanner } from '../scanner.ts';
import { entitiesIn } from './entities.ts';
import type { Entity, PiiCategory } from './entity.ts';

/** Numbers with spaces in them are shorter than this; what has no spaces is held as a whole. */
const reach = 48;
/** Addresses and names go on over several words. */
const farReach = 160;
/** A word longer than this is no personal data. */
const longestWord = 400;

interface Replacing {
  of(entity: Entity, text: string): string;
}

export class PiiScanner implements TextScanner {
  readonly replaces: boolean;
  readonly #categories: ReadonlySet<PiiCategory>;
  readonly #tokens: Replacing | null;
  readonly #reach: number;
  /** What was told before. */
  #told = 0;

  constructor(categories: ReadonlySet<PiiCategory>, tokens: Replacing | null) {
    this.#categories = categories;
    this.#tokens = tokens;
    this.replaces = tokens !== null;
    this.#reach = categories.has('LOCATION_ADDRESS') || categories.has('NAME') ? farReach : reach;
  }

  read(held: string, final: boolean): { found: Finding[]; settled: number } {
    let settled = final ? held.length : Math.max(this.#told, this.#cut(held));
    if (settled <= this.#told) return { found: [], settled: this.#told };
    const entities = entitiesIn(held, this.#categories).filter(({ start }) => start >= this.#told);
    for (const { start, end } of entities) if (start < settled && end > settled) settled = start;
    const found = entities
      .filter(({ end }) => end <= settled)
      .map((entity) => ({ start: entity.start, end: entity.end, text: this.#tokens?.of(entity, held) ?? null }));
    this.#told = settled;
    return { found, settled };
  }

  drop(characters: number): void {
    this.#told = Math.max(0, this.#told - characters);
  }

  /** The last space before what must be held. */
  #cut(held: string): number {
    const limit = held.length - this.#reach;
    for (let at = limit; at > this.#told && limit - at <= longestWord; at--) {
      const code = held.charCodeAt(at - 1);
      if (code === 32 || code === 10 || code === 9) return at;
    }
    return limit > longestWord ? limit - longestWord : 0;
  }
}
