/** One check on one text of a stream: what arrives is held until the check has decided on it. */
import { editedText } from '../../guardrails/edits.ts';
import type { TextScanner } from '../../guardrails/scanner.ts';

/** More than this is not held for one check: a text that may match for so long was not scanned, and does not pass. */
const mostHeld = 64 * 1024;

export type Filtered = { text: string } | { refused: 'found' | 'not scanned' };

export class TextFilter {
  readonly #scanner: TextScanner;
  /** What may stand in a text of JSON without breaking it. */
  readonly #inJson: boolean;
  #held = '';
  /** Characters at the front that are out already; a check may look back at one. */
  #released = 0;

  constructor(scanner: TextScanner, inJson: boolean) {
    this.#scanner = scanner;
    this.#inJson = inJson;
  }

  push(text: string, final: boolean): Filtered {
    this.#held += text;
    const { found, settled } = this.#scanner.read(this.#held, final);
    if (found.some(({ text: replacement }) => replacement === null)) return { refused: 'found' };
    if (this.#held.length - settled > mostHeld) return { refused: 'not scanned' };
    const from = this.#released;
    const edits = found.map(({ start, end, text: replacement }) => ({
      start: Math.max(start, from) - from,
      end: end - from,
      text: this.#written(replacement ?? ''),
    }));
    const out = editedText(this.#held.slice(from, settled), edits);
    const dropped = Math.max(0, settled - 1);
    this.#scanner.drop(dropped);
    this.#held = this.#held.slice(dropped);
    this.#released = settled - dropped;
    return { text: out };
  }

  #written(text: string): string {
    return this.#inJson ? JSON.stringify(text).slice(1, -1) : text;
  }
}

/** Several in a row: each reads what the one before it passes on. */
export class FilterChain {
  readonly #filters: readonly TextFilter[];

  constructor(filters: readonly TextFilter[]) {
    this.#filters = filters;
  }

  push(text: string, final: boolean): Filtered {
    let passing = text;
    for (const filter of this.#filters) {
      if (passing === '' && !final) return { text: '' };
      const filtered = filter.push(passing, final);
      if ('refused' in filtered) return filtered;
      passing = filtered.text;
    }
    return { text: passing };
  }
}
