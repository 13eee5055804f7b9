/** The embedded engine: counters in this process. The ledger keeps what is settled, so that a restart forgets no spend. */
import {
  amountWithin,
  type CounterState,
  type Demand,
  type KnownSpend,
  keptOnExpiry,
  type LedgerEntry,
  type LimitEngine,
  leaseMs,
  type Recorder,
  type Reservation,
  type ReserveRequest,
  type ReserveResult,
} from './engine.ts';
import { type Limit, spanAt } from './limit.ts';

interface Counter {
  epoch: number;
  settled: number;
  reserved: number;
  /** The end of a rate window, after which the counter may be forgotten; null for usage limits. */
  endsAt: number | null;
}

interface Open {
  reservation: Reservation;
  expiresAt: number;
  /** What an expiry kept, for each holding; null while it runs. */
  kept: number[] | null;
}

const sweepEvery = 4_096;

export class MemoryEngine implements LimitEngine {
  readonly #counters = new Map<string, Counter>();
  /** In the order of their expiry. */
  readonly #open = new Map<string, Open>();
  /** Expired, and not settled yet: their calls run in this process, so that each will be settled. */
  readonly #expired = new Map<string, Open>();
  readonly #now: () => number;
  readonly #record: Recorder;
  #untilSweep = sweepEvery;

  constructor(now: () => number, record: Recorder) {
    this.#now = now;
    this.#record = record;
  }

  reserve({ id, organisationId, demands }: ReserveRequest): ReserveResult {
    const now = this.#now();
    this.#expire(now);
    if (--this.#untilSweep <= 0) this.#forgetEnded(now);
    for (const demand of demands) {
      if (demand.limit.mode === 'shadow') continue;
      const counter = this.#running(demand.limit, now);
      if (refuses(demand, counter)) {
        return { granted: false, refusedBy: demand, state: stateOf(counter, demand.limit, now) };
      }
    }
    const holdings: Reservation['holdings'][number][] = [];
    const states: CounterState[] = [];
    for (const demand of demands) {
      const { limit } = demand;
      const counter = this.#running(limit, now);
      const amount = amountWithin(limit.value - counter.settled - counter.reserved, demand);
      counter.reserved += amount;
      holdings.push({ limit, epoch: counter.epoch, amount });
      states.push(stateOf(counter, limit, now));
    }
    const reservation: Reservation = { id, organisationId, holdings };
    this.#open.set(id, { reservation, expiresAt: now + leaseMs, kept: null });
    return { granted: true, reservation, states };
  }

  settle({ id }: Reservation, spent: readonly number[]): void {
    const open = this.#open.get(id) ?? this.#expired.get(id);
    if (!open) return;
    this.#open.delete(id);
    this.#expired.delete(id);
    const { reservation, kept } = open;
    const entries: LedgerEntry[] = [];
    reservation.holdings.forEach((holding, index) => {
      const amount = (spent[index] ?? 0) - (kept?.[index] ?? 0);
      const counter = this.#counters.get(holding.limit.counter);
      if (counter?.epoch === holding.epoch) {
        if (!kept) counter.reserved -= holding.amount;
        counter.settled += amount;
      }
      if (amount !== 0) entries.push(entryOf(reservation, holding, amount));
    });
    if (entries.length > 0) this.#record(entries);
  }

  renew(reservations: readonly Reservation[]): void {
    const expiresAt = this.#now() + leaseMs;
    for (const { id } of reservations) {
      const open = this.#open.get(id);
      if (!open) continue;
      open.expiresAt = expiresAt;
      this.#open.delete(id);
      this.#open.set(id, open);
    }
  }

  read(limits: readonly Limit[]): CounterState[] {
    const now = this.#now();
    this.#expire(now);
    return limits.map((limit) => {
      const { epoch, endsAt } = spanAt(limit.window, now);
      const counter = this.#counters.get(limit.counter);
      return counter && counter.epoch >= epoch
        ? stateOf(counter, limit, now)
        : { epoch, endsAt, settled: 0, reserved: 0 };
    });
  }

  reset(_organisationId: string, name: string, epoch: number): void {
    const counter = this.#counters.get(name);
    if (counter) restart(counter, epoch, counter.endsAt);
    else this.#counters.set(name, { epoch, settled: 0, reserved: 0, endsAt: null });
  }

  raise(known: readonly KnownSpend[]): void {
    for (const { counter: name, epoch, settled, endsAt } of known) {
      const counter = this.#counters.get(name);
      if (!counter) this.#counters.set(name, { epoch, settled, reserved: 0, endsAt });
      else {
        restart(counter, epoch, endsAt);
        if (counter.epoch === epoch) counter.settled = Math.max(counter.settled, settled);
      }
    }
  }

  add(entries: readonly LedgerEntry[]): void {
    for (const { counter: name, epoch, amount, endsAt } of entries) {
      const counter = this.#counters.get(name);
      if (!counter) this.#counters.set(name, { epoch, settled: amount, reserved: 0, endsAt });
      else {
        restart(counter, epoch, endsAt);
        if (counter.epoch === epoch) counter.settled += amount;
      }
    }
  }

  async close(): Promise<void> {
    this.#open.clear();
  }

  /** The counter in the window of `now`. One that has seen a later window stays in it: a clock that goes back opens nothing again. */
  #running(limit: Limit, now: number): Counter {
    const { epoch, endsAt } = spanAt(limit.window, now);
    const ends = limit.window.kind === 'rate' ? endsAt : null;
    const known = this.#counters.get(limit.counter);
    if (known) {
      restart(known, epoch, ends);
      return known;
    }
    const counter: Counter = { epoch, settled: 0, reserved: 0, endsAt: ends };
    this.#counters.set(limit.counter, counter);
    return counter;
  }

  #expire(now: number): void {
    for (const [id, open] of this.#open) {
      if (open.expiresAt > now) break;
      this.#open.delete(id);
      this.#giveBack(open);
      this.#expired.set(id, open);
    }
  }

  #giveBack(open: Open): void {
    const { reservation } = open;
    const kept = reservation.holdings.map(({ limit, amount }) => (keptOnExpiry(limit) ? amount : 0));
    open.kept = kept;
    const entries: LedgerEntry[] = [];
    reservation.holdings.forEach((holding, index) => {
      const amount = kept[index] ?? 0;
      const counter = this.#counters.get(holding.limit.counter);
      if (counter?.epoch === holding.epoch) {
        counter.reserved -= holding.amount;
        counter.settled += amount;
      }
      if (amount !== 0) entries.push(entryOf(reservation, holding, amount));
    });
    if (entries.length > 0) this.#record(entries);
  }

  /** Evicts rate windows that have ended. */
  #forgetEnded(now: number): void {
    this.#untilSweep = Math.max(sweepEvery, this.#counters.size);
    for (const [name, { endsAt }] of this.#counters) if (endsAt !== null && endsAt <= now) this.#counters.delete(name);
  }
}

function restart(counter: Counter, epoch: number, endsAt: number | null): void {
  if (epoch <= counter.epoch) return;
  counter.epoch = epoch;
  counter.endsAt = endsAt;
  counter.settled = 0;
  counter.reserved = 0;
}

const refuses = ({ limit, least }: Demand, { settled, reserved }: Counter): boolean =>
  settled >= limit.value || settled + reserved + least > limit.value;

function stateOf({ epoch, settled, reserved }: Counter, { window }: Limit, now: number): CounterState {
  return { epoch, endsAt: spanAt(window, Math.max(now, epoch)).endsAt, settled, reserved };
}

export const entryOf = (
  { organisationId }: Pick<Reservation, 'organisationId'>,
  { limit: { counter, window }, epoch }: Pick<Reservation['holdings'][number], 'limit' | 'epoch'>,
  amount: number,
): LedgerEntry => ({
  counter,
  organisationId,
  epoch,
  amount,
  endsAt: window.kind === 'rate' ? spanAt(window, epoch).endsAt : null,
});
