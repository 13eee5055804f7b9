/** Look-ups of names that customers chose: each tenant has a share of them, a name that does not resolve is given up soon, and what was found is kept in memory for a moment. */
import { GatewayError } from '../errors.ts';

/** Looks a name up; every address that it has. */
export type Lookup = (hostname: string) => Promise<string[]>;

export const lookupBounds = {
  atOnce: 32,
  /** Of one tenant, so that its names that do not resolve delay nobody else. */
  atOnceOfTenant: 4,
  /** Of one tenant, behind those. */
  waitingOfTenant: 64,
  /** Living names answer in far less; the system itself would wait for ten seconds. */
  timeoutMs: 3_000,
  namesKept: 10_000,
  /** Long enough to spare busy hosts a look-up for each call, short enough to follow a name that moves. */
  keptMs: 5_000,
  /** A name that did not answer is asked for again after this long. */
  deadKeptMs: 15_000,
} as const;

interface Known {
  addresses: string[] | null;
  fault: unknown;
  until: number;
}

interface Waiting {
  name: string;
  tenant: string;
  outcome: PromiseWithResolvers<string[]>;
}

/** Runs something after so many milliseconds, unless it is told not to. */
export type After = (ms: number, run: () => void) => () => void;

const after: After = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

export class FairLookups {
  readonly #lookup: Lookup;
  readonly #now: () => number;
  readonly #after: After;
  readonly #known = new Map<string, Known>();
  readonly #running = new Map<string, Promise<string[]>>();
  readonly #runningOf = new Map<string, number>();
  /** The tenant that waits longest for its turn comes first. */
  readonly #queues = new Map<string, Waiting[]>();

  constructor(lookup: Lookup, now: () => number, later: After = after) {
    this.#lookup = lookup;
    this.#now = now;
    this.#after = later;
  }

  async addressesOf(name: string, tenant: string): Promise<string[]> {
    const known = this.#known.get(name);
    if (known && known.until > this.#now()) {
      if (known.addresses) return known.addresses;
      throw known.fault;
    }
    return this.#running.get(name) ?? this.#begin(name, tenant);
  }

  #begin(name: string, tenant: string): Promise<string[]> {
    const outcome = Promise.withResolvers<string[]>();
    const waiting: Waiting = { name, tenant, outcome };
    if (this.#hasRoom(tenant)) {
      this.#start(waiting);
      return outcome.promise;
    }
    const queue = this.#queues.get(tenant) ?? [];
    if (queue.length >= lookupBounds.waitingOfTenant) {
      throw new GatewayError(
        'too_many_connections',
        `too many names of this organisation wait to be looked up, ${name} is one too many; try again in a moment`,
      );
    }
    if (queue.push(waiting) === 1) this.#queues.set(tenant, queue);
    const stop = this.#after(lookupBounds.timeoutMs, () => this.#giveUpWaiting(waiting));
    return outcome.promise.finally(stop);
  }

  #hasRoom(tenant: string): boolean {
    if (this.#running.size >= lookupBounds.atOnce) return false;
    return (this.#runningOf.get(tenant) ?? 0) < lookupBounds.atOnceOfTenant;
  }

  /** The place is taken until the system has really ended the look-up, however soon it is given up. */
  #start({ name, tenant, outcome }: Waiting): void {
    this.#runningOf.set(tenant, (this.#runningOf.get(tenant) ?? 0) + 1);
    this.#running.set(name, outcome.promise);
    const stop = this.#after(lookupBounds.timeoutMs, () => {
      this.#remember(name, null, tooSlow(name), lookupBounds.deadKeptMs);
      outcome.reject(tooSlow(name));
    });
    this.#lookup(name)
      .then(
        (addresses) => {
          this.#remember(name, addresses, null, lookupBounds.keptMs);
          outcome.resolve(addresses);
        },
        (fault) => {
          this.#remember(name, null, fault, lookupBounds.deadKeptMs);
          outcome.reject(fault);
        },
      )
      .finally(() => {
        stop();
        this.#running.delete(name);
        const left = (this.#runningOf.get(tenant) ?? 1) - 1;
        if (left > 0) this.#runningOf.set(tenant, left);
        else this.#runningOf.delete(tenant);
        this.#startNext();
      });
  }

  /** Tenants take turns; each gets one look-up before any gets another. */
  #startNext(): void {
    for (const [tenant, queue] of this.#queues) {
      if (!this.#hasRoom(tenant)) continue;
      const next = queue.shift();
      this.#queues.delete(tenant);
      if (queue.length > 0) this.#queues.set(tenant, queue);
      if (next) this.#follow(next);
      return;
    }
  }

  /** Somebody else may have asked for the same name meanwhile. */
  #follow(next: Waiting): void {
    const { name, outcome } = next;
    const known = this.#known.get(name);
    const running = this.#running.get(name);
    if (known && known.until > this.#now()) {
      if (known.addresses) outcome.resolve(known.addresses);
      else outcome.reject(known.fault);
      this.#startNext();
    } else if (running) {
      running.then(outcome.resolve, outcome.reject);
      this.#startNext();
    } else {
      this.#start(next);
    }
  }

  #giveUpWaiting(waiting: Waiting): void {
    const queue = this.#queues.get(waiting.tenant) ?? [];
    const index = queue.indexOf(waiting);
    if (index < 0) return;
    queue.splice(index, 1);
    if (queue.length === 0) this.#queues.delete(waiting.tenant);
    waiting.outcome.reject(tooSlow(waiting.name));
  }

  #remember(name: string, addresses: string[] | null, fault: unknown, forMs: number): void {
    this.#known.delete(name);
    if (this.#known.size >= lookupBounds.namesKept) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    this.#known.set(name, { addresses, fault, until: this.#now() + forMs });
  }
}

const tooSlow = (name: string): GatewayError =>
  new GatewayError(
    'upstream_unreachable',
    `the name of the custom host ${name} could not be looked up within ${lookupBounds.timeoutMs} ms`,
  );
