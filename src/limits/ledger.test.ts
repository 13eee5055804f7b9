/** The ledger: entries reach the database once, whatever happens on the way. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDatabase, postgresInstalled } from '../../test/servers/postgres.ts';
import { openStore, type Store, type StoreAddress } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import type { LedgerEntry } from './engine.ts';
import { LimitJournal } from './journal.ts';
import { openLedger } from './ledger.ts';

const folders: string[] = [];
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'gw-ledger-'));
  folders.push(made);
  return made;
};
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

const now = () => new Date('2026-03-18T15:30:00.000Z');
const counter = (id: string) => `api_key/${id}/usage/cost`;
const entry = (id: string, amount: number, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  counter: counter(id),
  organisationId: 'org',
  epoch: 1_000,
  amount,
  endsAt: null,
  ...more,
});

const suite = (address: () => Promise<StoreAddress>) => {
  let store: Store;
  beforeAll(async () => {
    store = openStore(await address());
    await migrate(store, now());
  });
  afterAll(() => store.close());

  const open = (at: string, onFlushed: (sums: unknown) => void = () => undefined, using: Store = store) =>
    openLedger({
      store: using,
      folder: at,
      now,
      onFlushed: async (sums) => onFlushed(sums),
      onFault: () => undefined,
      flushMs: 3_600_000,
    });
  const settled = async (id: string) =>
    (
      await store.db
        .selectFrom('limit_counters')
        .select(['epoch', 'settled'])
        .where('counter', '=', counter(id))
        .execute()
    )[0];
  const sumOfEntries = async (id: string, epoch: number) => {
    const rows = await store.db
      .selectFrom('limit_entries')
      .select(['amount', 'calls'])
      .where('counter', '=', counter(id))
      .where('epoch', '=', epoch)
      .execute();
    return {
      amount: rows.reduce((sum, row) => sum + row.amount, 0),
      calls: rows.reduce((sum, row) => sum + row.calls, 0),
    };
  };

  test('a counter is the sum of its entries, and its new sum is told', async () => {
    const told: unknown[] = [];
    const ledger = await open(folder(), (sums) => told.push(sums));
    ledger.record([entry('sum', 5), entry('other', 1)]);
    ledger.record([entry('sum', 7)]);
    await ledger.flush();
    expect(await settled('sum')).toEqual({ epoch: 1_000, settled: 12 });
    expect(await sumOfEntries('sum', 1_000)).toEqual({ amount: 12, calls: 2 });
    ledger.record([entry('sum', 1)]);
    await ledger.flush();
    expect(told.at(-1)).toEqual([
      { organisationId: 'org', counter: counter('sum'), epoch: 1_000, settled: 13, endsAt: null },
    ]);
    await ledger.close();
  });

  test('a later epoch starts anew, and an entry of an earlier one changes only its own sum', async () => {
    const ledger = await open(folder());
    ledger.record([entry('epochs', 50)]);
    await ledger.flush();
    ledger.record([entry('epochs', 3, { epoch: 2_000 }), entry('epochs', 4)]);
    await ledger.flush();
    expect(await settled('epochs')).toEqual({ epoch: 2_000, settled: 3 });
    expect((await sumOfEntries('epochs', 1_000)).amount).toBe(54);
    await ledger.close();
  });

  test('what a killed process had written down is found again, once', async () => {
    const at = folder();
    const killed = await open(at);
    killed.record([entry('killed', 30)]);
    killed.record([entry('killed', 12)]);
    // It is not closed: its journal is all that is left of it.
    expect(await settled('killed')).toBeUndefined();
    const next = await open(at);
    expect(await settled('killed')).toEqual({ epoch: 1_000, settled: 42 });
    await next.close();
    const third = await open(at);
    expect(await settled('killed')).toEqual({ epoch: 1_000, settled: 42 });
    await third.close();
    expect(readdirSync(at)).toEqual([]);
  });

  test('a journal tells counters, their periods and their organisations apart', () => {
    const at = folder();
    const journal = new LimitJournal(at);
    const written = [
      entry('a', 1),
      { ...entry('a', 2), epoch: 2_000, endsAt: 3_000 },
      { ...entry('b', 3), organisationId: 'another' },
      // A late settle of the period before.
      entry('a', 4),
      { ...entry('a', -5), epoch: 2_000, endsAt: 3_000 },
    ];
    journal.append(written.slice(0, 2));
    journal.append(written.slice(2));
    journal.rotate();
    expect(new LimitJournal(at).left().flatMap(({ entries }) => entries)).toEqual(written);
  });

  test('a segment that is in the database already is not counted again', async () => {
    const at = folder();
    const journal = new LimitJournal(at);
    journal.append([entry('twice', 9)]);
    const id = journal.rotate() ?? '';
    await store.db.insertInto('limit_journal_segments').values({ id, applied_at: now().toISOString() }).execute();
    const ledger = await open(at);
    expect(await settled('twice')).toBeUndefined();
    await ledger.close();
    expect(readdirSync(at)).toEqual([]);
  });

  test('a line that was cut short is left out, the others count', async () => {
    const at = folder();
    const journal = new LimitJournal(at);
    journal.append([entry('cut', 9)]);
    const id = journal.rotate() ?? '';
    const file = join(at, `${id}.journal`);
    await Bun.write(file, `${await Bun.file(file).text()}[0,1`);
    const ledger = await open(at);
    expect(await settled('cut')).toEqual({ epoch: 1_000, settled: 9 });
    await ledger.close();
  });

  test('what the database cannot take now is written when it can', async () => {
    let isAway = true;
    const failing = new Proxy(store, {
      get: (of, name) => {
        if (name === 'db' && isAway) throw new Error('The database is away');
        return Reflect.get(of, name);
      },
    });
    isAway = false;
    const ledger = await open(folder(), () => undefined, failing);
    isAway = true;
    ledger.record([entry('away', 5)]);
    await expect(ledger.flush()).rejects.toThrow('away');
    ledger.record([entry('away', 6)]);
    isAway = false;
    await ledger.flush();
    expect(await settled('away')).toEqual({ epoch: 1_000, settled: 11 });
    await ledger.close();
  });

  test('it knows what still counts of an organisation', async () => {
    const ledger = await open(folder());
    const rate = (id: string, endsAt: number): LedgerEntry => ({
      counter: `workspace/${id}/rate/requests/rpm`,
      organisationId: 'knows',
      epoch: 1_000,
      amount: 2,
      endsAt,
    });
    ledger.record([rate('over', now().getTime()), rate('running', now().getTime() + 1)]);
    expect((await ledger.known('knows')).map((spend) => spend.counter)).toEqual([
      'workspace/running/rate/requests/rpm',
    ]);
    await ledger.close();
  });
};

describe('the ledger of limits (SQLite)', () =>
  suite(async () => ({ engine: 'sqlite', file: join(folder(), 'state.db') })));
describe.if(postgresInstalled)('the ledger of limits (PostgreSQL)', () =>
  suite(async () => ({ engine: 'postgres', url: await newDatabase() })),
);
