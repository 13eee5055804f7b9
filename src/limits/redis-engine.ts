/** The shared engine: counters in Redis or Valkey. One atomic script takes from all limits of a call. */
import { createHash } from 'node:crypto';
import type { Redis } from '../redis/redis.ts';
import { Deadlines, systemTiming, type Timing } from './deadlines.ts';
import {
  type CounterState,
  type Demand,
  type KnownSpend,
  keptOnExpiry,
  type LedgerEntry,
  type LimitEngine,
  LimitStoreAway,
  leaseMs,
  type Recorder,
  type Reservation,
  type ReserveRequest,
  type ReserveResult,
} from './engine.ts';
import { type Limit, spanAt, windowMs, windowOffsetMs } from './limit.ts';
import { entryOf } from './memory-engine.ts';
import { raiseScript, readScript, renewScript, reserveScript, resetScript, settleScript } from './redis-scripts.ts';

export interface RedisEngineOptions {
  /** Told of everything that was spent, once. */
  record: Recorder;
  /** What the ledger knows of an organisation: Redis is rebuilt from it after a loss. */
  known(organisationId: string): Promise<readonly KnownSpend[]>;
  /** What calls of this process hold: Redis is told of it again after a loss. */
  running?: (organisationId: string) => readonly Reservation[];
  /** This process's time, for the calendar of usage limits. */
  now(): number;
  /** Tests move the time of the counters too; otherwise the server's own counts. */
  serverTime?: () => number;
  /** How long a call waits for the store. */
  timeoutMs?: number;
  /** Tests move this too. */
  timing?: Timing;
  /** Told when the store does not answer, and when it does again. */
  onAway?: (fault: Error) => void;
  onBack?: () => void;
}

type Unsettled = Pick<Reservation, 'id' | 'organisationId'>;

/** It was not even asked, since it did not answer a moment ago. */
class NotAsked extends LimitStoreAway {}

/** A call is answered within 50 ms, whatever the store does; the rest is for the answer itself. */
const defaultTimeoutMs = 40;
/** After so many failures in a row the store is asked only now and then. */
const failuresUntilAway = 3;
const probeEveryMs = 250;
const mostUnsettled = 100_000;
const renewedAtOnce = 200;

export class RedisEngine implements LimitEngine {
  readonly #redis: Redis;
  readonly #options: RedisEngineOptions;
  readonly #digests = new Map<string, string>();
  readonly #timing: Timing;
  readonly #deadlines: Deadlines;
  /** Rebuilds under way, by organisation. */
  readonly #rebuilding = new Map<string, Promise<void>>();
  /** Reservations whose fate in Redis is not known: their spend is in the ledger, what they hold is let go later. */
  readonly #unsettled: Unsettled[] = [];
  /** Organisations whose counters may lack what was spent while the store was away, and how often that was said. */
  readonly #owed = new Map<string, number>();
  readonly #payingUp = new Map<string, Promise<void>>();
  #failures = 0;
  #probedAt = 0;
  #cancelRetry: (() => void) | null = null;

  constructor(redis: Redis, options: RedisEngineOptions) {
    this.#redis = redis;
    this.#options = options;
    this.#timing = options.timing ?? systemTiming;
    this.#deadlines = new Deadlines(options.timeoutMs ?? defaultTimeoutMs, this.#timing);
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    const { id, organisationId, demands } = request;
    const now = this.#options.now();
    const until = this.#deadlines.start();
    let lines = '';
    for (const demand of demands) lines += demandLines(demand, now);
    const args = [this.#serverTime(), id, String(leaseMs), lines];
    if (this.#owed.has(organisationId)) await this.#deadlines.within(this.#payUp(organisationId), until);
    const reply = await this.#whole(reserveScript, organisationId, args, until).catch((fault) => {
      // It may have been taken, or be taken when the store reads on: nobody will settle it.
      if (fault instanceof LimitStoreAway && !(fault instanceof NotAsked)) this.#letGoLater({ id, organisationId });
      throw fault;
    });
    const [verdict, figures = '', told] = reply;
    this.#tell(organisationId, told);
    const figure = figures.split('\n');
    if (verdict === 'refused') {
      const [index, epoch, ends, settled, reserved] = figure;
      const refusedBy = demands[Number(index)];
      if (!refusedBy) throw new LimitStoreAway('it refused a demand that was never made');
      return { granted: false, refusedBy, state: stateFrom(epoch, ends, settled, reserved) };
    }
    const states: CounterState[] = [];
    const holdings = demands.map(({ limit }, index) => {
      const at = index * 5;
      const state = stateFrom(figure[at], figure[at + 1], figure[at + 2], figure[at + 3]);
      states.push(state);
      return { limit, epoch: state.epoch, amount: Number(figure[at + 4]) };
    });
    return { granted: true, reservation: { id, organisationId, holdings }, states };
  }

  async settle(reservation: Reservation, spent: readonly number[]): Promise<void> {
    const { id, organisationId } = reservation;
    try {
      let lines = '';
      reservation.holdings.forEach((holding, index) => {
        const { counter, epoch, endsAt } = entryOf(reservation, holding, 0);
        lines += `${counter}\n${epoch}\n${endsAt ?? 0}\n${spent[index] ?? 0}\n`;
      });
      const [, told] = await this.#run(settleScript, organisationId, [this.#serverTime(), id, 'spend', lines]);
      this.#tell(organisationId, told);
    } catch (fault) {
      if (!(fault instanceof LimitStoreAway)) throw fault;
      // The spend is written down now and raises the counter when the store is back.
      this.owe(organisationId);
      const entries = reservation.holdings.flatMap((holding, index) =>
        spent[index] ? [entryOf(reservation, holding, spent[index])] : [],
      );
      if (entries.length > 0) this.#options.record(entries);
      this.#letGoLater(reservation);
    }
  }

  async renew(reservations: readonly Reservation[]): Promise<void> {
    for (const [organisationId, own] of Map.groupBy(reservations, (reservation) => reservation.organisationId)) {
      for (let start = 0; start < own.length; start += renewedAtOnce) {
        const some = own.slice(start, start + renewedAtOnce);
        const args = [this.#serverTime(), String(leaseMs)];
        for (const reservation of some) args.push(reservation.id, linesOf(reservation));
        await this.#run(renewScript, organisationId, args);
      }
    }
  }

  async read(limits: readonly Limit[]): Promise<CounterState[]> {
    const states = new Map<Limit, CounterState>();
    for (const [organisationId, own] of Map.groupBy(limits, (limit) => limit.organisationId)) {
      const args = [this.#serverTime(), ...own.map(({ counter }) => counter)];
      const [, time, figures = '', told] = await this.#whole(readScript, organisationId, args);
      this.#tell(organisationId, told);
      const figure = figures.split('\n').map(Number);
      own.forEach((limit, index) => {
        const [known, settled, reserved] = figure.slice(index * 3, index * 3 + 3);
        const now = limit.window.kind === 'rate' ? Number(time) : this.#options.now();
        const span = spanAt(limit.window, now);
        const epoch = Math.max(span.epoch, known ?? 0);
        const { endsAt } = spanAt(limit.window, Math.max(now, epoch));
        const counts = known === epoch;
        states.set(limit, {
          epoch,
          endsAt,
          settled: counts ? (settled ?? 0) : 0,
          reserved: counts ? (reserved ?? 0) : 0,
        });
      });
    }
    return limits.flatMap((limit) => states.get(limit) ?? []);
  }

  async reset(organisationId: string, counter: string, epoch: number): Promise<void> {
    await this.#run(resetScript, organisationId, [this.#serverTime(), counter, String(epoch)]);
  }

  async raise(known: readonly KnownSpend[]): Promise<void> {
    for (const [organisationId, own] of Map.groupBy(known, (spend) => spend.organisationId)) {
      try {
        await this.#raise(organisationId, own, false);
      } catch (fault) {
        this.owe(organisationId);
        throw fault;
      }
    }
  }

  owe(organisationId: string): void {
    this.#owed.set(organisationId, (this.#owed.get(organisationId) ?? 0) + 1);
  }

  async close(): Promise<void> {
    this.#cancelRetry?.();
    await this.#redis.close();
    this.#deadlines.stop();
  }

  /** Runs a script that needs everything to be there, and rebuilds what is not. */
  async #whole(
    script: string,
    organisationId: string,
    args: string[],
    until = this.#deadlines.start(),
  ): Promise<string[]> {
    for (let tries = 0; tries < 3; tries++) {
      const reply = await this.#run(script, organisationId, args, until);
      if (reply[0] !== 'rebuild') return reply;
      await this.#deadlines.within(this.#rebuild(organisationId), until);
    }
    throw new LimitStoreAway('it loses what it is told');
  }

  /** Nothing is given out before the counters know what was spent without them. */
  #payUp(organisationId: string): Promise<void> {
    const underway = this.#payingUp.get(organisationId);
    if (underway) return underway;
    const said = this.#owed.get(organisationId);
    // Asked first whether it is back: the ledger is not read for nothing.
    const paying = this.#run(readScript, organisationId, [this.#serverTime()])
      .then(() => this.#refill(organisationId))
      .then(() => {
        if (this.#owed.get(organisationId) === said) this.#owed.delete(organisationId);
      })
      .finally(() => this.#payingUp.delete(organisationId));
    this.#payingUp.set(organisationId, paying);
    return paying;
  }

  #rebuild(organisationId: string): Promise<void> {
    const underway = this.#rebuilding.get(organisationId);
    if (underway) return underway;
    const rebuild = this.#refill(organisationId).finally(() => this.#rebuilding.delete(organisationId));
    this.#rebuilding.set(organisationId, rebuild);
    return rebuild;
  }

  /** What the ledger knows, and what calls of this process hold. */
  async #refill(organisationId: string): Promise<void> {
    const known = await this.#options.known(organisationId).catch((fault) => {
      throw new LimitStoreAway(`the ledger cannot be read: ${String(fault)}`);
    });
    await this.renew(this.#options.running?.(organisationId) ?? []);
    await this.#raise(organisationId, known, true);
  }

  async #raise(organisationId: string, known: readonly KnownSpend[], complete: boolean): Promise<void> {
    const atOnce = 1_000;
    for (let start = 0; start === 0 || start < known.length; start += atOnce) {
      const some = known.slice(start, start + atOnce);
      const last = complete && start + atOnce >= known.length;
      const args = [this.#serverTime(), last ? '1' : '0'];
      for (const { counter, epoch, settled, endsAt } of some) {
        args.push(counter, String(epoch), String(settled), String(endsAt ?? 0));
      }
      await this.#run(raiseScript, organisationId, args);
    }
  }

  /** Lines of: counter, epoch, amount, ends. */
  #tell(organisationId: string, told: string | undefined): void {
    if (!told) return;
    const entries: LedgerEntry[] = [];
    const field = told.split('\n');
    for (let at = 0; at + 4 < field.length; at += 4) {
      const ends = Number(field[at + 3]);
      entries.push({
        counter: field[at] ?? '',
        organisationId,
        epoch: Number(field[at + 1]),
        amount: Number(field[at + 2]),
        endsAt: ends === 0 ? null : ends,
      });
    }
    this.#options.record(entries);
  }

  #letGoLater(unsettled: Unsettled): void {
    // Past this many the lease lets them go.
    if (this.#unsettled.length < mostUnsettled) this.#unsettled.push(unsettled);
    this.#letGoSoon();
  }

  #letGoSoon(): void {
    this.#cancelRetry ??= this.#timing.after(probeEveryMs, () => void this.#letGo());
  }

  async #letGo(): Promise<void> {
    this.#cancelRetry = null;
    for (;;) {
      const [next] = this.#unsettled;
      if (!next) return;
      const { id, organisationId } = next;
      try {
        await this.#run(settleScript, organisationId, [this.#serverTime(), id, 'forget']);
      } catch (fault) {
        if (!(fault instanceof LimitStoreAway)) throw fault;
        this.#letGoSoon();
        return;
      }
      this.#unsettled.shift();
    }
  }

  #serverTime(): string {
    const { serverTime } = this.#options;
    return serverTime ? String(serverTime()) : '0';
  }

  async #run(
    script: string,
    organisationId: string,
    args: readonly string[],
    until = this.#deadlines.start(),
  ): Promise<string[]> {
    if (this.#failures >= failuresUntilAway) {
      const now = this.#timing.now();
      if (now - this.#probedAt < probeEveryMs) throw new NotAsked('it did not answer a moment ago');
      this.#probedAt = now;
    }
    const prefix = `gw:limits:{${organisationId}}:`;
    try {
      const reply = await this.#deadlines.within(this.#evaluate(script, prefix, args), until);
      if (this.#failures >= failuresUntilAway) this.#options.onBack?.();
      this.#failures = 0;
      return Array.isArray(reply) ? reply.map(String) : [String(reply)];
    } catch (fault) {
      const error = fault instanceof Error ? fault : new Error(String(fault));
      if (++this.#failures === failuresUntilAway) this.#options.onAway?.(error);
      throw error instanceof LimitStoreAway ? error : new LimitStoreAway(error.message);
    }
  }

  #evaluate(script: string, prefix: string, args: readonly string[]): Promise<unknown> {
    const digest = this.#digestOf(script);
    return this.#redis.command(prefix, ['EVALSHA', digest, '1', prefix, ...args]).catch((fault) => {
      if (!(fault instanceof Error) || !fault.message.startsWith('NOSCRIPT')) throw fault;
      return this.#redis.command(prefix, ['EVAL', script, '1', prefix, ...args]);
    });
  }

  #digestOf(script: string): string {
    const known = this.#digests.get(script);
    if (known) return known;
    const digest = createHash('sha1').update(script).digest('hex');
    this.#digests.set(script, digest);
    return digest;
  }
}

/** A demand as the script reads it. Where the server's clock is a little ahead of ours, it opens the next period itself. */
function demandLines({ limit, least, most, usual = most }: Demand, now: number): string {
  const { window, counter, value, mode } = limit;
  const isRate = window.kind === 'rate';
  const { epoch, endsAt } = isRate ? rateSpan : spanAt(window, now);
  const length = isRate ? windowMs[window.unit] : 0;
  const offset = isRate ? windowOffsetMs(window.unit) : 0;
  const ends = endsAt ?? 0;
  const span = `${counter}\n${epoch}\n${length}\n${offset}\n${ends}\n${ends}\n`;
  return `${span}${value}\n${least}\n${most}\n${usual}\n${mode === 'enforce' ? 1 : 0}\n${keptOnExpiry(limit) ? 1 : 0}\n`;
}

/** The server knows the span of a rate by its own clock. */
const rateSpan = { epoch: 0, endsAt: null };

/** A reservation as the scripts keep it. */
const linesOf = (reservation: Reservation): string =>
  reservation.holdings
    .map((holding) => {
      const { counter, epoch, endsAt } = entryOf(reservation, holding, 0);
      return `${[counter, epoch, holding.amount, 0, keptOnExpiry(holding.limit) ? 1 : 0, endsAt ?? 0].join('\n')}\n`;
    })
    .join('');

const stateFrom = (epoch: unknown, ends: unknown, settled: unknown, reserved: unknown): CounterState => ({
  epoch: Number(epoch),
  endsAt: Number(ends) === 0 ? null : Number(ends),
  settled: Number(settled),
  reserved: Number(reserved),
});
