/** Limits for both planes: the engine that counts, the ledger that keeps, and what happens when the engine's store is away. */
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { faultFields, type Log, throttled } from '../log.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { connectRedis } from '../redis/connect.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Db, Store } from '../store/database.ts';
import {
  amountWithin,
  type CounterState,
  type KnownSpend,
  type LedgerEntry,
  type LimitEngine,
  LimitStoreAway,
  type Reservation,
  type ReserveRequest,
  type ReserveResult,
} from './engine.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { type Limit, spanAt } from './limit.ts';
import { entryOf, MemoryEngine } from './memory-engine.ts';
import { RedisEngine } from './redis-engine.ts';
import { steadyTime } from './steady-time.ts';

/** What a call may do while the counters cannot be asked: `default` is closed for budgets and open for rates. */
export type OnStoreFailure = 'open' | 'closed' | 'default';

export interface LimitsSettings {
  redisUrl: string | null;
  onStoreFailure: OnStoreFailure;
  /** How long a call waits for Redis. */
  storeTimeoutMs: number;
}

export interface Limits {
  /** Throws `LimitStoreAway` where the counters cannot be asked and the policy says that the call must wait for them. */
  reserve(request: ReserveRequest): MaybePromise<ReserveResult>;
  /** Puts the truth in the reservation's place; never throws, for the call is over. */
  settle(reservation: Reservation, spent: readonly number[]): void;
  /** What these amounts are in the ledger, each in the window that runs now. */
  entriesOf(spent: readonly Spent[]): Promise<LedgerEntry[]>;
  /** Writes entries in a transaction of the caller's: they count once, with what else it keeps. What it answers is called after the commit. */
  recordWithin(tx: Db, entries: readonly LedgerEntry[]): Promise<() => Promise<void>>;
  /** While the counters cannot be asked, what the ledger has; what is reserved is then not known. */
  read(limits: readonly Limit[]): MaybePromise<readonly CounterState[]>;
  /** Brings all that was spent here so far into the database. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** In units of the limit. */
export interface Spent {
  limit: Limit;
  amount: number;
}

interface LimitsNeeds {
  store: Store;
  feed: ChangeFeed;
  dataDir: string;
  clock: Clock;
  log: Log;
  /** Told of new sums, once they are in the database. */
  onSpent(sums: readonly KnownSpend[]): Promise<void>;
}

const renewEveryMs = 60_000;
const retryResetMs = 1_000;

export async function openLimits(settings: LimitsSettings, needs: LimitsNeeds): Promise<Limits> {
  const { clock, log } = needs;
  const warn = throttled((message, fields) => log.warn(message, fields));
  const open = new Map<string, Reservation>();
  /** Let through without being counted: their spend goes to the ledger alone, which raises the counters later. */
  const uncounted = new Set<string>();
  const isShared = settings.redisUrl !== null;
  let engine: LimitEngine | null = null;

  const ledger: Ledger = await openLedger({
    store: needs.store,
    folder: join(needs.dataDir, 'limits'),
    now: () => clock.now(),
    async onFlushed(sums) {
      if (isShared && engine) await raised(engine, sums);
      await needs.onSpent(sums);
    },
    onFault: (fault) =>
      warn('What was spent could not be written to the database; it is on disk and tried again.', faultFields(fault)),
  });

  /** What calls of this process hold in the shared counters. */
  const running = (organisationId: string) =>
    [...open.values()].filter((held) => held.organisationId === organisationId && !uncounted.has(held.id));

  engine =
    settings.redisUrl === null
      ? await embedded(clock, ledger)
      : shared(settings.redisUrl, settings.storeTimeoutMs, clock, ledger, log, running);
  const counting = engine;
  let closed = false;

  const renewal = setInterval(() => {
    Promise.resolve(counting.renew([...open.values()].filter(({ id }) => !uncounted.has(id)))).catch((fault) =>
      warn('Reservations of running calls could not be renewed; it is tried again.', faultFields(fault)),
    );
  }, renewEveryMs);

  needs.feed.subscribe((changes) => {
    if (changes === 'all') return;
    for (const { topic, id } of changes) if (topic === 'limit') restart(id);
  });

  /** Settles that the store has not answered yet. */
  const settling = new Set<Promise<void>>();
  /** Under way: a call that comes after a reset must find it done. */
  const restarts = new Set<Promise<void>>();

  /** An administrator started a counter anew. It is tried until the store has heard it. */
  const restart = (id: string) => {
    const [organisationId = '', epoch = '', ...counter] = id.split('|');
    const restarting = Promise.resolve(counting.reset(organisationId, counter.join('|'), Number(epoch)))
      .catch((fault) => {
        warn('A counter could not be started anew; it is tried again.', faultFields(fault));
        if (!closed) setTimeout(() => restart(id), retryResetMs);
      })
      .finally(() => restarts.delete(restarting));
    if (isShared) restarts.add(restarting);
  };

  const kept = (result: ReserveResult): ReserveResult => {
    if (result.granted) open.set(result.reservation.id, result.reservation);
    return result;
  };

  const withoutStore = (request: ReserveRequest, fault: unknown): ReserveResult => {
    if (!(fault instanceof LimitStoreAway)) throw fault;
    warn('Limits are not enforced exactly: their store does not answer.', faultFields(fault));
    if (request.demands.some(({ limit }) => waitsFor(limit, settings.onStoreFailure))) throw fault;
    uncounted.add(request.id);
    return kept(unchecked(request, clock.now().getTime()));
  };

  const reserve: Limits['reserve'] = (request) => {
    if (restarts.size > 0) return Promise.all(restarts).then(() => reserve(request));
    const result = counting.reserve(request);
    if (!(result instanceof Promise)) return kept(result);
    return result.then(kept, (fault) => withoutStore(request, fault));
  };

  const read: Limits['read'] = (limits) => {
    const states = counting.read(limits);
    if (!(states instanceof Promise)) return states;
    return states.catch(async (fault) => {
      if (!(fault instanceof LimitStoreAway)) throw fault;
      return statesFrom(await ledger.sums(limits), limits, clock.now().getTime());
    });
  };

  return {
    reserve,
    settle(reservation, spent) {
      if (!open.delete(reservation.id)) return;
      if (uncounted.delete(reservation.id)) {
        const entries = reservation.holdings.flatMap((holding, index) =>
          spent[index] ? [entryOf(reservation, holding, spent[index])] : [],
        );
        if (entries.length > 0) ledger.record(entries);
        counting.owe?.(reservation.organisationId);
        return;
      }
      const settled = counting.settle(reservation, spent);
      if (!(settled instanceof Promise)) return;
      const told = settled
        .catch((fault) => log.error('A reservation could not be settled.', faultFields(fault)))
        .finally(() => settling.delete(told));
      settling.add(told);
    },
    async entriesOf(spent) {
      const states = await read(spent.map(({ limit }) => limit));
      return spent.flatMap(({ limit, amount }, index) => {
        const { epoch } = states[index] ?? spanAt(limit.window, clock.now().getTime());
        return amount === 0 ? [] : [entryOf(limit, { limit, epoch }, amount)];
      });
    },
    async recordWithin(tx, entries) {
      const sums = await ledger.recordWithin(tx, entries);
      return async () => {
        if (counting.add) counting.add(entries);
        else await raised(counting, sums);
        await needs.onSpent(sums);
      };
    },
    read,
    async flush() {
      await Promise.all(settling);
      await ledger.flush();
    },
    async close() {
      closed = true;
      clearInterval(renewal);
      await Promise.all(settling);
      await ledger.close();
      await counting.close();
    },
  };
}

/** Counters that are away ask the ledger when they are back. */
async function raised(engine: LimitEngine, sums: readonly KnownSpend[]): Promise<void> {
  try {
    await engine.raise(sums);
  } catch (fault) {
    if (!(fault instanceof LimitStoreAway)) throw fault;
  }
}

async function embedded(clock: Clock, ledger: Ledger): Promise<LimitEngine> {
  const engine = new MemoryEngine(steadyTime(clock), (entries) => ledger.record(entries));
  engine.raise(await ledger.known());
  return engine;
}

function shared(
  url: string,
  timeoutMs: number,
  clock: Clock,
  ledger: Ledger,
  log: Log,
  running: (organisationId: string) => readonly Reservation[],
): LimitEngine {
  const warn = throttled((message, fields) => log.warn(message, fields));
  const redis = connectRedis(url, (fault) =>
    warn('The connection to Redis is lost; it is made again.', faultFields(fault)),
  );
  return new RedisEngine(redis, {
    record: (entries) => ledger.record(entries),
    known: (organisationId) => ledger.known(organisationId),
    running,
    now: () => clock.now().getTime(),
    timeoutMs,
    onAway: (fault) =>
      log.error('Redis does not answer; limits follow LIMITS_ON_STORE_FAILURE until it does.', faultFields(fault)),
    onBack: () => log.info('Redis answers again; limits are counted there.'),
  });
}

function statesFrom(sums: readonly KnownSpend[], limits: readonly Limit[], now: number): CounterState[] {
  const known = new Map(sums.map((sum) => [sum.counter, sum]));
  return limits.map(({ counter, window }) => {
    const { epoch, endsAt } = spanAt(window, now);
    const sum = known.get(counter);
    return { epoch, endsAt, settled: sum && sum.epoch >= epoch ? sum.settled : 0, reserved: 0 };
  });
}

const waitsFor = ({ window, mode }: Limit, policy: OnStoreFailure): boolean =>
  mode === 'enforce' && (policy === 'closed' || (policy === 'default' && window.kind === 'usage'));

function unchecked({ id, organisationId, demands }: ReserveRequest, now: number): ReserveResult {
  const states = demands.map(({ limit }) => ({ ...spanAt(limit.window, now), settled: 0, reserved: 0 }));
  const holdings = demands.map((demand, index) => ({
    limit: demand.limit,
    epoch: states[index]?.epoch ?? 0,
    amount: amountWithin(demand.limit.value, demand),
  }));
  return { granted: true, reservation: { id, organisationId, holdings }, states };
}
