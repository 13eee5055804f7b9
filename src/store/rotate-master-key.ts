/** Puts another master key in the place of the present one while the program serves: every sealed value is wrapped anew. */
import { sql } from 'kysely';
import type { Db, Store } from './database.ts';
import { followEveryMs, learnMasterKeys, leaveKey } from './master-key.ts';
import { createVault, type KeyRing, sealedMark, sealedPrefix } from './vault.ts';

interface Rotation {
  store: Store;
  current: Buffer;
  next: Buffer;
  now(): Date;
  /** Waits until running processes have looked for keys; tests need not. */
  pause(ms: number): Promise<void>;
  /** Told how many values a column had. */
  onProgress(table: string, column: string, values: number): void;
}

/** Several looks of every running process, should one of them be slow. */
const settleMs = followEveryMs * 5;
const valuesAtOnce = 200;

/**
 * Can be stopped at any point and begun again. First every process learns the next key, then they seal under it, then
 * what is there is wrapped anew, until nothing is left under another key. Both keys open everything meanwhile.
 */
export async function rotateMasterKey(rotation: Rotation): Promise<{ values: number }> {
  const { store, current, next, now, pause } = rotation;
  const { db } = store;
  const vault = createVault(current);
  const currentId = vault.sealingKey;
  await learnMasterKeys(db, vault);
  vault.sealUnder(currentId);
  const nextId = vault.add(next);
  await leaveKey(db, vault, { id: nextId, bytes: next, role: 'next' }, now());
  vault.sealUnder(nextId);
  await leaveKey(db, vault, { id: currentId, bytes: current, role: 'previous' }, now());
  await pause(settleMs);
  await store.atomically(async (tx) => {
    await tx.updateTable('master_keys').set({ role: 'previous' }).where('id', '!=', nextId).execute();
    await tx.updateTable('master_keys').set({ role: 'sealing' }).where('id', '=', nextId).execute();
  });
  await pause(settleMs);
  return { values: await rewrapEverything(rotation, vault) };
}

/** The key is the one that is being replaced. */
export class ReplacedKeyError extends Error {
  constructor() {
    super('Another master key takes the place of this one: give this command the next key as its master key.');
  }
}

/** Ends a rotation: the keys that were left for each other go, so that the old one opens nothing any more. */
export async function retireMasterKeys(store: Store, current: Buffer): Promise<void> {
  const vault = createVault(current);
  const { sealingKey } = vault;
  await learnMasterKeys(store.db, vault);
  if (vault.sealingKey !== sealingKey) throw new ReplacedKeyError();
  await rewrapEverything({ store, onProgress: () => undefined }, vault);
  await store.db.deleteFrom('master_keys').execute();
}

export async function valuesUnderOtherKeys(store: Store, keyId: string): Promise<number> {
  let left = 0;
  for (const { table, column } of await sealedColumns(store.db)) {
    const { rows } = await sql<{ total: number }>`
      select count(*) as total from ${sql.table(table)}
      where ${isUnderAnotherKey(column, keyId)}`.execute(store.db);
    left += Number(rows[0]?.total ?? 0);
  }
  return left;
}

/** Columns with sealed values say so in their names; one is older than that rule. The keys of the rotation itself stay as they are. */
async function sealedColumns(db: Db): Promise<{ table: string; column: string }[]> {
  const tables = await db.introspection.getTables();
  return tables.flatMap(({ name: table, columns }) =>
    columns.flatMap(({ name: column }) =>
      column.endsWith('sealed') || (table === 'managed_batches' && column === 'options') ? [{ table, column }] : [],
    ),
  );
}

const isUnderAnotherKey = (column: string, keyId: string) => sql`
  substr(${sql.ref(column)}, 1, ${sealedMark.length}) = ${sealedMark}
  and substr(${sql.ref(column)}, 1, ${sealedPrefix(keyId).length}) <> ${sealedPrefix(keyId)}`;

/** Again and again, until nothing is left that somebody has sealed meanwhile. */
async function rewrapEverything(rotation: Pick<Rotation, 'store' | 'onProgress'>, vault: KeyRing): Promise<number> {
  let values = 0;
  for (;;) {
    const moved = await rewrapAll(rotation, vault);
    values += moved;
    if (moved === 0) return values;
  }
}

async function rewrapAll(rotation: Pick<Rotation, 'store' | 'onProgress'>, vault: KeyRing): Promise<number> {
  let all = 0;
  for (const { table, column } of await sealedColumns(rotation.store.db)) {
    const values = await rewrapColumn(rotation.store, vault, table, column);
    if (values > 0) rotation.onProgress(table, column, values);
    all += values;
  }
  return all;
}

/** Where a row stands, in the engine's own words: in the order in which it keeps them. */
const places = {
  sqlite: { place: sql.raw('rowid'), from: (last: string) => sql`rowid > ${Number(last)}`, first: '-1' },
  postgres: { place: sql.raw('ctid'), from: (last: string) => sql`ctid > ${last}::tid`, first: '(0,0)' },
};

async function rewrapColumn(store: Store, vault: KeyRing, table: string, column: string): Promise<number> {
  const { place, from, first } = places[store.engine];
  let last = first;
  let values = 0;
  for (;;) {
    const batch = await store.atomically(async (tx) => {
      const { rows } = await sql<{ place: unknown; value: string }>`
        select ${place} as place, ${sql.ref(column)} as value from ${sql.table(table)}
        where ${from(last)} and ${isUnderAnotherKey(column, vault.sealingKey)}
        order by ${place} limit ${valuesAtOnce}`.execute(tx);
      for (const { place: at, value } of rows) {
        const placed = store.engine === 'sqlite' ? sql`rowid = ${at}` : sql`ctid = ${String(at)}::tid`;
        // A value that somebody has changed since is left to the next round.
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${vault.rewrapped(value)}
          where ${placed} and ${sql.ref(column)} = ${value}`.execute(tx);
      }
      return rows;
    });
    values += batch.length;
    const end = batch.at(-1);
    if (!end || batch.length < valuesAtOnce) return values;
    last = String(end.place);
  }
}
