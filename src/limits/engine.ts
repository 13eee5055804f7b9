/** What counts: an engine reserves before a call over all of its limits at once, and puts the truth in the reservation's place after it. */
import type { MaybePromise } from '../maybe-promise.ts';
import type { Limit } from './limit.ts';

/** What a call asks of one limit, in whole units. */
export interface Demand {
  limit: Limit;
  /** Must fit into the room left, or the call is refused. */
  least: number;
  /** Taken where there is room for it. */
  most: number;
  /** Beyond this a sixteenth of the room is taken at most, so that a call of unknown size leaves some for others. Absent: `most`. */
  usual?: number;
}

const largestShare = 16;

/** What a demand takes of the room that a limit has left. */
export function amountWithin(room: number, { limit, least, most, usual = most }: Demand): number {
  if (limit.mode === 'shadow') return Math.max(least, Math.min(most, usual));
  return Math.max(least, Math.min(most, room, Math.max(usual, Math.floor(room / largestShare))));
}

export interface ReserveRequest {
  /** Unique for ever: a reservation is resolved once, however often it is asked for. */
  id: string;
  organisationId: string;
  demands: readonly Demand[];
}

/** What one limit holds for a call. */
export interface Holding {
  limit: Limit;
  /** The window that it was taken in; another window is never touched by it. */
  epoch: number;
  amount: number;
}

export interface Reservation {
  id: string;
  organisationId: string;
  holdings: readonly Holding[];
}

export interface CounterState {
  epoch: number;
  /** The end of the running window; null: never. */
  endsAt: number | null;
  settled: number;
  reserved: number;
}

export type ReserveResult =
  | {
      granted: true;
      reservation: Reservation /** For each demand, as it stands after. */;
      states: readonly CounterState[];
    }
  /** Nothing was taken anywhere. */
  | { granted: false; refusedBy: Demand; state: CounterState };

/** What was spent, as it is written down. Negative where a count that an expiry kept is given back. */
export interface LedgerEntry {
  counter: string;
  organisationId: string;
  epoch: number;
  amount: number;
  /** The end of a rate window, after which nobody asks for it; null for usage limits. */
  endsAt: number | null;
}

/** Told of everything that was spent, once. */
export type Recorder = (entries: readonly LedgerEntry[]) => void;

export interface LimitEngine {
  /** Takes from all limits, or from none and names the first that refuses. */
  reserve(request: ReserveRequest): MaybePromise<ReserveResult>;
  /** Puts what was spent, in the order of the holdings, in the reservation's place. A second time it does nothing. */
  settle(reservation: Reservation, spent: readonly number[]): MaybePromise<void>;
  /** Keeps reservations of calls that still run from expiring. */
  renew(reservations: readonly Reservation[]): MaybePromise<void>;
  read(limits: readonly Limit[]): MaybePromise<readonly CounterState[]>;
  /** Starts a counter anew at `epoch`; earlier reservations no longer touch it. */
  reset(organisationId: string, counter: string, epoch: number): MaybePromise<void>;
  /** Raises counters to what the ledger knows, never lowers them: after a loss, or where another node counted. */
  raise(known: readonly KnownSpend[]): MaybePromise<void>;
  /** Adds what the ledger has already. Absent where counters are raised by what the ledger knows of all nodes. */
  add?(entries: readonly LedgerEntry[]): void;
  /** Something was spent that the counters have not heard of: they ask the ledger before they give out more. */
  owe?(organisationId: string): void;
  close(): Promise<void>;
}

export interface KnownSpend {
  organisationId: string;
  counter: string;
  epoch: number;
  settled: number;
  /** The end of a rate window; null for usage limits. */
  endsAt: number | null;
}

/** A reservation ends after this time unless its node renews it, so that a crashed node holds nothing for longer. */
export const leaseMs = 180_000;

/** A request was made as soon as it was let through, so an expired reservation keeps its count; tokens and money are given back. */
export const keptOnExpiry = ({ type }: Limit): boolean => type === 'requests';

/** The engine's store did not answer in time. */
export class LimitStoreAway extends Error {
  constructor(message: string) {
    super(`The store of the limits does not answer: ${message}`);
    this.name = 'LimitStoreAway';
  }
}
