/** The client's headers, read once: ours by name (under our prefix or one of the operator's aliases for it), and all of them for the log. */
export class OwnHeaders {
  /** The prefix that this client uses; answers use it too. */
  readonly prefix: string;
  /** Every header of the request, ours or not. */
  readonly entries: readonly (readonly [string, string])[];
  readonly #own = new Map<string, string>();
  readonly #aliases: readonly string[];

  constructor(headers: Headers, aliases: readonly string[]) {
    this.#aliases = aliases;
    this.entries = [...headers];
    this.prefix = aliases.find((alias) => this.entries.some(([name]) => name.startsWith(alias))) ?? ownPrefix;
    if (this.prefix !== ownPrefix) this.#collect(this.prefix);
    // What stands under our own prefix wins over its alias.
    this.#collect(ownPrefix);
  }

  get(name: string): string | null {
    return this.#own.get(name) ?? null;
  }

  /** `true` and `false` in any case; anything else counts as absent. */
  flag(name: string): boolean | null {
    const value = this.#own.get(name)?.toLowerCase();
    return value === 'true' ? true : value === 'false' ? false : null;
  }

  /** A whole number above zero; anything else counts as absent. */
  milliseconds(name: string): number | null {
    const value = Number(this.#own.get(name) ?? 0);
    return Number.isSafeInteger(value) && value > 0 ? value : null;
  }

  /** Whether a header is ours, under whichever of the prefixes: none of them is for a provider. */
  isOwn(name: string): boolean {
    return name.startsWith(ownPrefix) || this.#aliases.some((alias) => name.startsWith(alias));
  }

  /** Every header of ours by its name without the prefix. */
  all(): Iterable<[string, string]> {
    return this.#own;
  }

  #collect(prefix: string): void {
    for (const [name, value] of this.entries) {
      if (name.startsWith(prefix)) this.#own.set(name.slice(prefix.length), value);
    }
  }
}

const ownPrefix = 'x-gw-';
