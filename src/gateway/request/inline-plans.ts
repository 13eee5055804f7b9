/** Inline configs seen lately, compiled: bounded by what they take of memory, of which each organisation has a share. */
import type { Plan } from '../../catalog/plan.ts';

const mebibyte = 1024 ** 2;
/** A compiled config takes some ten times the room of its text. */
const bytesPerCharacter = 12;
/** Also of the shortest. */
const bytesOfPlan = 2_048;

interface Kept {
  plan: Plan;
  organisationId: string;
  bytes: number;
}

export class InlinePlans {
  readonly #total: number;
  readonly #share: number;
  /** The one that was compiled first comes first. */
  readonly #kept = new Map<string, Kept>();
  readonly #byOrganisation = new Map<string, { bytes: number; texts: Set<string> }>();
  #bytes = 0;

  /** `share` is what the configs of one organisation may take of it. */
  constructor(total = 128 * mebibyte, share = total / 4) {
    this.#total = total;
    this.#share = share;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(text: string): Plan | undefined {
    return this.#kept.get(text)?.plan;
  }

  /** Makes room among the organisation's own before it takes any of others. */
  put(text: string, plan: Plan, organisationId: string): void {
    const bytes = text.length * bytesPerCharacter + bytesOfPlan;
    const own = this.#byOrganisation.get(organisationId) ?? { bytes: 0, texts: new Set<string>() };
    this.#byOrganisation.set(organisationId, own);
    while (own.bytes + bytes > this.#share && own.texts.size > 0) this.#dropOldest(own.texts);
    while (this.#bytes + bytes > this.#total && this.#kept.size > 0) this.#dropOldest(this.#largest().texts);
    this.#kept.set(text, { plan, organisationId, bytes });
    own.texts.add(text);
    own.bytes += bytes;
    this.#bytes += bytes;
    this.#byOrganisation.set(organisationId, own);
  }

  /** Evicts from whoever holds the most. */
  #largest(): { bytes: number; texts: Set<string> } {
    let largest = { bytes: -1, texts: new Set(this.#kept.keys()) };
    for (const held of this.#byOrganisation.values()) if (held.bytes > largest.bytes) largest = held;
    return largest;
  }

  #dropOldest(texts: ReadonlySet<string>): void {
    const [text] = texts;
    const kept = text === undefined ? undefined : this.#kept.get(text);
    if (text === undefined || !kept) return;
    this.#kept.delete(text);
    this.#bytes -= kept.bytes;
    const held = this.#byOrganisation.get(kept.organisationId);
    if (!held) return;
    held.bytes -= kept.bytes;
    held.texts.delete(text);
    if (held.texts.size === 0) this.#byOrganisation.delete(kept.organisationId);
  }
}
