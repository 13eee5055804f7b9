/** Tokens and short-lived keys, each under a digest of the credentials that it was got with: many tenants share the process. */
import { createHash } from 'node:crypto';

export interface Token<T> {
  value: T;
  /** When it ends, in milliseconds since 1970. */
  expiresAt: number;
}

interface Kept {
  pending: Promise<Token<unknown>>;
  token: Token<unknown> | null;
}

/** Renewed this long before its end, so that a call under way never carries one that ends. */
const marginMs = 5 * 60_000;
const mostKept = 10_000;

export class TokenCache {
  readonly #kept = new Map<string, Kept>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The token for these credentials; asked for once, however many wait for it. */
  async get<T>(credentials: unknown, ask: () => Promise<Token<T>>): Promise<T> {
    const key = digest(credentials);
    const kept = this.#kept.get(key);
    if (kept && !this.#isSpent(kept)) return (await kept.pending).value as T;
    if (this.#kept.size >= mostKept) this.#kept.clear();
    const entry: Kept = { pending: ask(), token: null };
    this.#kept.set(key, entry);
    try {
      entry.token = await entry.pending;
      return entry.token.value as T;
    } catch (fault) {
      // The next caller asks anew.
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
      throw fault;
    }
  }

  forget(credentials: unknown): void {
    this.#kept.delete(digest(credentials));
  }

  /** A token that lives shorter than the margin serves those who waited for it; one without a known end is never kept. */
  #isSpent({ token }: Kept): boolean {
    return token !== null && !(this.#now() < token.expiresAt - marginMs);
  }
}

const digest = (credentials: unknown): string =>
  createHash('sha256').update(JSON.stringify(credentials)).digest('base64');
