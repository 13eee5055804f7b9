/** Headers read once into plain fields: the client's, of which ours are found by name under our prefix or one of the operator's aliases for it. */
import { type AnswerHeaders, ReceivedHeaders } from '../../wire/client/answer.ts';

/** Header values by their names in lower case. */
export type HeaderFields = Record<string, string>;

/** Far cheaper than going through the headers one by one, each time someone needs them. */
export function fieldsOf(headers: AnswerHeaders): Readonly<HeaderFields> {
  if (headers instanceof ReceivedHeaders) return headers.fields;
  const fields = headers.toJSON();
  const cookies: string[] | undefined = fields['set-cookie'];
  return cookies === undefined ? fields : { ...fields, 'set-cookie': cookies.join(', ') };
}

/** The headers of requests that say the same, read once. */
export class KnownHeaders {
  readonly #aliases: readonly string[];
  readonly #known = new WeakMap<Readonly<HeaderFields>, OwnHeaders>();

  constructor(aliases: readonly string[]) {
    this.#aliases = aliases;
  }

  of(fields: Readonly<HeaderFields>): OwnHeaders {
    const known = this.#known.get(fields);
    if (known) return known;
    const own = new OwnHeaders(fields, this.#aliases);
    this.#known.set(fields, own);
    return own;
  }
}

export class OwnHeaders {
  /** The prefix that this client uses; answers use it too. */
  readonly prefix: string;
  /** Every header of the request, ours or not. */
  readonly fields: Readonly<HeaderFields>;
  readonly #own = new Map<string, string>();
  readonly #aliases: readonly string[];
  readonly #found = new Map<unknown, unknown>();

  constructor(fields: Readonly<HeaderFields>, aliases: readonly string[]) {
    this.#aliases = aliases;
    this.fields = fields;
    this.prefix = aliases.length === 0 ? ownPrefix : this.#usedPrefix();
    if (this.prefix !== ownPrefix) this.#collect(this.prefix);
    // What stands under our own prefix wins over its alias.
    this.#collect(ownPrefix);
  }

  get entries(): [string, string][] {
    return Object.entries(this.fields);
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

  /** What follows from the headers and the installation's settings alone, worked out once for all requests that have these headers. */
  once<T extends object | null>(work: (own: OwnHeaders) => T): T;
  once<T extends object | null, S>(work: (own: OwnHeaders, settings: S) => T, settings: S): T;
  once<T extends object | null>(work: (own: OwnHeaders, settings: unknown) => T, settings?: unknown): T {
    const found = this.#found.get(work) as T | undefined;
    if (found !== undefined) return found;
    const made = work(this, settings);
    this.#found.set(work, made);
    return made;
  }

  /** Whether a header is ours, under whichever of the prefixes: none of them is for a provider. */
  isOwn(name: string): boolean {
    return name.startsWith(ownPrefix) || this.#aliases.some((alias) => name.startsWith(alias));
  }

  /** Every header of ours by its name without the prefix. */
  all(): Iterable<[string, string]> {
    return this.#own;
  }

  #usedPrefix(): string {
    const names = Object.keys(this.fields);
    return this.#aliases.find((alias) => names.some((name) => name.startsWith(alias))) ?? ownPrefix;
  }

  #collect(prefix: string): void {
    for (const name in this.fields) {
      const value = this.fields[name];
      // One without a value says nothing.
      if (value && name.startsWith(prefix)) this.#own.set(name.slice(prefix.length), value);
    }
  }
}

const ownPrefix = 'x-gw-';
