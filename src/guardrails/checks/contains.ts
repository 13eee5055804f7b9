/** Which of some words stand in the text. */
import { defineCheck, excerptOf } from '../check.ts';
import type { Finding, TextScanner } from '../scanner.ts';
import { both } from './events.ts';
import { operator, words as wordList } from './fields.ts';

export const contains = defineCheck({
  id: 'default.contains',
  title: 'Contains',
  description: 'Passes when any, all or none of the words stand in the text; case counts.',
  category: 'BASIC',
  events: both,
  parameters: () => ({ words: wordList(), operator: operator().default('any') }),
  example: { words: ['internal only', 'top secret'], operator: 'none' },
  prepare: ({ words, operator: wanted }) => ({
    run({ text }) {
      const foundWords = words.filter((word) => text.includes(word));
      const missingWords = words.filter((word) => !foundWords.includes(word));
      const verdict = holds(wanted, foundWords.length, words.length);
      const explanation = `The check for ${wanted} of the words ${verdict ? 'passed' : 'failed'}: ${foundWords.length} of ${words.length} were found.`;
      return {
        verdict,
        data: { explanation, foundWords, missingWords, operator: wanted, verdict, textExcerpt: excerptOf(text) },
      };
    },
    stream:
      wanted === 'none' ? { needs: 'exact', open: () => new WordScanner(words.filter(Boolean)) } : { needs: 'whole' },
  }),
});

export function holds(wanted: 'any' | 'all' | 'none', found: number, asked: number): boolean {
  if (wanted === 'any') return found > 0;
  return wanted === 'all' ? found === asked : found === 0;
}

/** Holds back only what may become one of the words. */
class WordScanner implements TextScanner {
  readonly #words: readonly string[];
  readonly #longest: number;
  #from = 0;

  constructor(words: readonly string[]) {
    this.#words = words;
    this.#longest = words.reduce((longest, word) => Math.max(longest, word.length), 0);
  }

  read(held: string, final: boolean): { found: Finding[]; settled: number } {
    const found: Finding[] = [];
    for (const word of this.#words) {
      const start = held.indexOf(word, this.#from);
      if (start >= 0) found.push({ start, end: start + word.length, text: null });
    }
    const settled = final ? held.length : this.#begun(held);
    this.#from = settled;
    return { found, settled };
  }

  drop(characters: number): void {
    this.#from = Math.max(0, this.#from - characters);
  }

  /** Where the end of the text may be the beginning of a word. */
  #begun(held: string): number {
    for (let at = Math.max(this.#from, held.length - this.#longest + 1); at < held.length; at++) {
      const rest = held.slice(at);
      if (this.#words.some((word) => word.startsWith(rest))) return at;
    }
    return held.length;
  }
}
