/** The ledger: what was spent, in the database. Entries wait on this node's disk and go there together, about once a second. */
import type { Insertable } from 'kysely';
import type { Db, Store } from '../store/database.ts';
import type { LimitCounterTable } from '../store/tables/limits.ts';
import type { KnownSpend, LedgerEntry } from './engine.ts';
import { LimitJournal } from './journal.ts';
import { type Limit, readCounter } from './limit.ts';

export interface Ledger {
  record(entries: readonly LedgerEntry[]): void;
  /** Writes entries in a transaction of the caller's, and answers the new sums. */
  recordWithin(tx: Db, entries: readonly LedgerEntry[]): Promise<KnownSpend[]>;
  /** Brings everything recorded so far into the database. */
  flush(): Promise<void>;
  /** What is known of counters that still count, of one organisation or of all. */
  known(organisationId?: string): Promise<KnownSpend[]>;
  /** What is known of the counters of these limits. */
  sums(limits: readonly Pick<Limit, 'counter'>[]): Promise<KnownSpend[]>;
  close(): Promise<void>;
}

interface LedgerOptions {
  store: Store;
  folder: string;
  now(): Date;
  /** Told of the new sums once they are in the database. */
  onFlushed(sums: readonly KnownSpend[]): Promise<void>;
  /** Told when the database could not take the entries; they stay on disk and it is tried again. */
  onFault(fault: unknown): void;
  flushMs?: number;
}

interface Pending extends LedgerEntry {
  calls: number;
}

const rowsAtOnce = 400;

export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { store, now } = options;
  const journal = new LimitJournal(options.folder);
  let pending = new Map<string, Pending>();
  /** The newest of each counter: nearly always the one that is asked for. */
  let newest = new Map<string, Pending>();
  let segments: string[] = [];
  /** Segments whose files are gone: nobody asks for them any more. */
  let removed: string[] = [];
  let flushing: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  const add = (into: Map<string, Pending>, entry: Pending): Pending => {
    const key = `${entry.epoch} ${entry.counter}`;
    const before = into.get(key);
    if (before) {
      before.amount += entry.amount;
      before.calls += entry.calls;
      return before;
    }
    const added = { ...entry };
    into.set(key, added);
    return added;
  };

  const write = async () => {
    const rotated = journal.rotate();
    if (rotated) segments.push(rotated);
    if (pending.size === 0 && segments.length === 0) return;
    const taken = pending;
    const taking = segments;
    pending = new Map();
    newest = new Map();
    segments = [];
    let sums: KnownSpend[];
    try {
      sums = await apply(store, now(), [...taken.values()], taking, removed);
      removed = [];
    } catch (fault) {
      for (const entry of taken.values()) add(pending, entry);
      segments = [...taking, ...segments];
      throw fault;
    }
    for (const id of taking) journal.remove(id);
    removed.push(...taking);
    if (sums.length > 0) await options.onFlushed(sums);
  };

  const flush = (): Promise<void> => {
    const turn = flushing.then(write);
    // How a flush ended is the business of who asked for it.
    flushing = turn.catch(() => undefined);
    return turn;
  };

  const flushSoon = () => {
    if (closed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      flush().catch((fault) => {
        options.onFault(fault);
        flushSoon();
      });
    }, options.flushMs ?? 1_000);
  };

  for (const { id, entries } of journal.left()) {
    const applied = await store.db
      .selectFrom('limit_journal_segments')
      .where('id', '=', id)
      .select('id')
      .executeTakeFirst();
    if (!applied) for (const entry of entries) add(pending, { ...entry, calls: 1 });
    segments.push(id);
  }
  await write();

  return {
    record(entries) {
      journal.append(entries);
      for (const entry of entries) {
        const known = newest.get(entry.counter);
        if (known?.epoch === entry.epoch) {
          known.amount += entry.amount;
          known.calls++;
        } else newest.set(entry.counter, add(pending, { ...entry, calls: 1 }));
      }
      flushSoon();
    },
    recordWithin: (tx, entries) =>
      addUp(
        tx,
        now(),
        entries.map((entry) => ({ ...entry, calls: 1 })),
      ),
    flush,
    async known(organisationId) {
      await flush();
      const at = now().getTime();
      const rows = await store.db
        .selectFrom('limit_counters')
        .select(knownColumns)
        .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', at)]))
        .$if(organisationId !== undefined, (query) => query.where('organisation_id', '=', organisationId ?? ''))
        .execute();
      return rows.map(knownFrom);
    },
    async sums(limits) {
      await flush();
      if (limits.length === 0) return [];
      const counters = limits.map(({ counter }) => counter);
      const rows = await store.db
        .selectFrom('limit_counters')
        .select(knownColumns)
        .where('counter', 'in', counters)
        .execute();
      return rows.map(knownFrom);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await flush().catch(options.onFault);
    },
  };
}

const knownColumns = ['organisation_id', 'counter', 'epoch', 'settled', 'ends_at'] as const;

const knownFrom = (row: Pick<LimitCounterTable, (typeof knownColumns)[number]>) => ({
  organisationId: row.organisation_id,
  counter: row.counter,
  epoch: row.epoch,
  settled: row.settled,
  endsAt: row.ends_at,
});

/** One transaction: what was spent, and the segments that it came from. */
function apply(
  store: Store,
  now: Date,
  entries: readonly Pending[],
  segments: readonly string[],
  removed: readonly string[],
): Promise<KnownSpend[]> {
  return store.db.transaction().execute(async (tx) => {
    const at = now.toISOString();
    if (removed.length > 0) await tx.deleteFrom('limit_journal_segments').where('id', 'in', removed).execute();
    if (segments.length > 0) {
      await tx
        .insertInto('limit_journal_segments')
        .values(segments.map((id) => ({ id, applied_at: at })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    return addUp(tx, now, entries);
  });
}

/** The counters, and the entries that they are the sums of. */
async function addUp(tx: Db, now: Date, entries: readonly Pending[]): Promise<KnownSpend[]> {
  const at = now.toISOString();
  const sums = new Map<string, KnownSpend>();
  for (const round of inRounds(entries)) {
    for (let start = 0; start < round.length; start += rowsAtOnce) {
      for (const row of await upsert(tx, round.slice(start, start + rowsAtOnce), at)) {
        sums.set(row.counter, knownFrom(row));
      }
    }
  }
  const usage = entries.filter(({ counter }) => readCounter(counter).kind === 'usage');
  for (let start = 0; start < usage.length; start += rowsAtOnce) {
    await upsertEntries(tx, usage.slice(start, start + rowsAtOnce), at.slice(0, 13));
  }
  return [...sums.values()];
}

/** A statement may touch a row once, so that later epochs of a counter come in later ones. In one order, so that nodes never wait for each other. */
function inRounds(entries: readonly Pending[]): Pending[][] {
  const rounds: Pending[][] = [];
  const seen = new Map<string, number>();
  const sorted = [...entries].sort((a, b) =>
    a.counter < b.counter ? -1 : a.counter > b.counter ? 1 : a.epoch - b.epoch,
  );
  for (const entry of sorted) {
    const round = seen.get(entry.counter) ?? 0;
    seen.set(entry.counter, round + 1);
    rounds[round] ??= [];
    rounds[round].push(entry);
  }
  return rounds;
}

function upsert(tx: Db, entries: readonly Pending[], at: string) {
  return tx
    .insertInto('limit_counters')
    .values(entries.map((entry) => newCounter(entry, at)))
    .onConflict((conflict) =>
      conflict.column('counter').doUpdateSet((eb) => {
        const isLater = eb('excluded.epoch', '>', eb.ref('limit_counters.epoch'));
        const isSame = eb('excluded.epoch', '=', eb.ref('limit_counters.epoch'));
        return {
          settled: eb
            .case()
            .when(isLater)
            .then(eb.ref('excluded.settled'))
            .when(isSame)
            .then(eb('limit_counters.settled', '+', eb.ref('excluded.settled')))
            .else(eb.ref('limit_counters.settled'))
            .end(),
          is_threshold_alerts_sent: eb
            .case()
            .when(isLater)
            .then<0 | 1>(0)
            .else(eb.ref('limit_counters.is_threshold_alerts_sent'))
            .end(),
          is_exhausted_alerts_sent: eb
            .case()
            .when(isLater)
            .then<0 | 1>(0)
            .else(eb.ref('limit_counters.is_exhausted_alerts_sent'))
            .end(),
          ends_at: eb
            .case()
            .when(isLater)
            .then(eb.ref('excluded.ends_at'))
            .else(eb.ref('limit_counters.ends_at'))
            .end(),
          epoch: eb.case().when(isLater).then(eb.ref('excluded.epoch')).else(eb.ref('limit_counters.epoch')).end(),
          dirty: eb.ref('excluded.dirty'),
          last_updated_at: at,
        };
      }),
    )
    .returning(knownColumns)
    .execute();
}

export function newCounter(
  { counter, organisationId, epoch, amount, endsAt }: LedgerEntry,
  at: string,
): Insertable<LimitCounterTable> {
  const { scope, entityId, kind, type, valueKey } = readCounter(counter);
  return {
    counter,
    id: Bun.randomUUIDv7(),
    organisation_id: organisationId,
    scope,
    entity_id: entityId,
    kind,
    type,
    value_key: valueKey,
    epoch,
    settled: amount,
    ends_at: endsAt,
    last_reset_at: null,
    dirty: kind === 'usage' ? 1 : 0,
    created_at: at,
    last_updated_at: at,
  };
}

const upsertEntries = (tx: Db, entries: readonly Pending[], hour: string) =>
  tx
    .insertInto('limit_entries')
    .values(entries.map(({ counter, epoch, amount, calls }) => ({ counter, epoch, hour, amount, calls })))
    .onConflict((conflict) =>
      conflict.columns(['counter', 'epoch', 'hour']).doUpdateSet((eb) => ({
        amount: eb('limit_entries.amount', '+', eb.ref('excluded.amount')),
        calls: eb('limit_entries.calls', '+', eb.ref('excluded.calls')),
      })),
    )
    .execute();
