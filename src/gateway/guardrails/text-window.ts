/** The texts of a stream as far as they may leave: each is read by its own row of scanners, and events are rewritten to what was let go. */
import type { TextScanner } from '../../guardrails/scanner.ts';
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import { jsonOf } from '../dialects/dialect.ts';
import { JsonText } from './json-text.ts';
import { asEvent, type Lens } from './lenses/lens.ts';
import { FilterChain, TextFilter } from './text-filter.ts';

export type OpenScanner = () => TextScanner;

/** Why nothing more may leave. */
export type Refused = 'found' | 'not scanned';

export class TextWindow {
  readonly #lens: Lens;
  readonly #scanners: readonly OpenScanner[];
  readonly #leavesSigned: boolean;
  readonly #chains = new Map<string, { chain: FilterChain; like: JsonObject; written: JsonText | null }>();
  /** What the client has of each text. */
  readonly delivered = new Map<string, string>();
  #number = 0;

  constructor(lens: Lens, scanners: readonly OpenScanner[], { leavesSigned = false } = {}) {
    this.#lens = lens;
    this.#scanners = scanners;
    this.#leavesSigned = leavesSigned;
  }

  push(events: readonly ServerEvent[]): readonly ServerEvent[] | Refused {
    if (this.#scanners.length === 0) return events;
    const out: ServerEvent[] = [];
    for (const event of events) {
      const json = jsonOf(event);
      const refused = json ? this.#pass(json, out) : this.#flush([...this.#chains.keys()], out);
      if (refused) return refused;
      if (!json) out.push(event);
    }
    return out;
  }

  /** What is still held, when no event has closed its text. */
  end(): readonly ServerEvent[] | Refused {
    const out: ServerEvent[] = [];
    return this.#flush([...this.#chains.keys()], out) ?? out;
  }

  #pass(json: JsonObject, out: ServerEvent[]): Refused | null {
    const deltas = this.#lens.deltas(json);
    const closing = this.#lens.closes(json, [...new Set([...this.#chains.keys(), ...deltas.map(({ key }) => key)])]);
    // What an event brings last goes out with it, and what was held of other texts before it.
    const own = new Set(deltas.map(({ key }) => key));
    const refused = this.#flush(
      closing.filter((key) => !own.has(key)),
      out,
    );
    if (refused) return refused;
    const parts: string[] = [];
    for (const { key, text, inJson, isSigned } of deltas) {
      if (isSigned && this.#leavesSigned) {
        parts.push(text);
        continue;
      }
      const { chain, written } = this.#chain(key, json, inJson);
      const isLast = closing.includes(key);
      const filtered = chain.push(written ? written.push(text, isLast) : text, isLast);
      if ('refused' in filtered) return filtered.refused;
      parts.push(filtered.text);
      this.#note(key, filtered.text);
      if (isLast) this.#chains.delete(key);
    }
    const rewritten = deltas.length > 0 ? this.#lens.withTexts(json, parts) : this.#lens.restated(json, this.delivered);
    if (rewritten) this.#emit(rewritten, out);
    return null;
  }

  /** Lets what is held of these texts go, since they are at their end. */
  #flush(keys: readonly string[], out: ServerEvent[]): Refused | null {
    for (const key of keys) {
      const known = this.#chains.get(key);
      if (!known) continue;
      this.#chains.delete(key);
      const filtered = known.chain.push(known.written?.push('', true) ?? '', true);
      if ('refused' in filtered) return filtered.refused;
      if (filtered.text === '') continue;
      this.#note(key, filtered.text);
      this.#emit(this.#lens.more(known.like, key, filtered.text), out);
    }
    return null;
  }

  #chain(key: string, like: JsonObject, inJson: boolean) {
    const known = this.#chains.get(key);
    if (known) return known;
    const chain = new FilterChain(this.#scanners.map((open) => new TextFilter(open(), inJson)));
    const begun = { chain, like, written: inJson ? new JsonText() : null };
    this.#chains.set(key, begun);
    return begun;
  }

  #note(key: string, text: string): void {
    this.delivered.set(key, (this.delivered.get(key) ?? '') + text);
  }

  #emit(json: JsonObject, out: ServerEvent[]): void {
    out.push(asEvent(this.#lens, this.#lens.numbered(json, this.#number++)));
  }
}
