/** One secret in memory: what was fetched, when, and how its manager has behaved since. */
import type { SecretFault, SecretPayload, SecretSource } from './manager.ts';

/** A part of its age after which a value is refreshed while it is still used. */
const refreshAhead = 0.8;
const firstPauseMs = 1_000;
/** Without a value requests fail meanwhile, so that the pause stays short. */
const longestPauseMs = { withoutValue: 5_000, withValue: 30_000 };
/** A value that a provider refuses and a manager confirms is not asked for again at once. */
const confirmedMs = 30_000;

export interface Ages {
  maxAgeMs: number;
  staleMs: number;
}

export type Standing =
  /** May be used; `refresh` says that it is time to fetch it anew meanwhile. */
  | { use: SecretPayload; refresh: boolean }
  /** Must be fetched first. */
  | 'fetch'
  | SecretFault;

export class SecretEntry {
  readonly source: SecretSource;
  usedAt: number;
  payload: SecretPayload | null = null;
  fetchedAt = 0;
  fault: SecretFault | null = null;
  failedAt = 0;
  pending: Promise<void> | null = null;
  #failures = 0;
  #confirmedAt = Number.NEGATIVE_INFINITY;

  constructor(source: SecretSource, now: number) {
    this.source = source;
    this.usedAt = now;
  }

  /** What may be done with it now. */
  standing(now: number, { maxAgeMs, staleMs }: Ages): Standing {
    const age = now - this.fetchedAt;
    const resting = this.fault !== null && now < this.#nextTryAt();
    // A clock that was set back says nothing about the age.
    if (this.payload !== null && age >= 0 && age < maxAgeMs) {
      return { use: this.payload, refresh: age >= maxAgeMs * refreshAhead && !resting };
    }
    if (this.payload !== null && this.fault?.kind === 'away' && age < maxAgeMs + staleMs) {
      // It has failed before: nobody waits for a manager that may hang.
      return { use: this.payload, refresh: !resting };
    }
    return this.fault && resting ? this.fault : 'fetch';
  }

  /** The last known value, where it may stand in for the one that could not be had. */
  lastKnown(now: number, { maxAgeMs, staleMs }: Ages): SecretPayload | null {
    return this.fault?.kind === 'away' && now - this.fetchedAt < maxAgeMs + staleMs ? this.payload : null;
  }

  isStale(now: number, { maxAgeMs }: Ages): boolean {
    return this.payload !== null && now - this.fetchedAt >= maxAgeMs;
  }

  succeed(payload: SecretPayload, now: number): void {
    this.payload = payload;
    this.fetchedAt = now;
    this.fault = null;
    this.#failures = 0;
  }

  fail(fault: SecretFault, now: number, { maxAgeMs }: Ages): void {
    this.fault = fault;
    this.failedAt = now;
    this.#failures++;
    // A clear no ends its use with its age.
    if (fault.kind === 'refused' && now - this.fetchedAt >= maxAgeMs) this.payload = null;
  }

  /** Whether it is worth asking the manager after a provider has refused the value. */
  mayRenew(now: number): boolean {
    return now - this.#confirmedAt >= confirmedMs || now < this.#confirmedAt;
  }

  confirm(now: number): void {
    this.#confirmedAt = now;
  }

  #nextTryAt(): number {
    const longest = this.payload === null ? longestPauseMs.withoutValue : longestPauseMs.withValue;
    return this.failedAt + Math.min(firstPauseMs * 2 ** (this.#failures - 1), longest);
  }
}
