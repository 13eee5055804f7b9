/** A listed table in memory: read in the background piece by piece, then carried along with the changes that the store notes. */
import { sql } from 'kysely';
import type { Store } from '../../../store/database.ts';
import { type Moments, momentsOf } from '../../../store/list-changes.ts';
import { type ListedTable, listedTables } from '../../../store/listed-tables.ts';
import { Unholdable, type Value } from './columns.ts';
import { HeldRows, type Row } from './held-rows.ts';

/** How many rows a table has that is worth holding. */
export interface Bounds {
  fewest: number;
  most: number;
}

/** A piece takes about so long: on any machine, and as long as the code that reads it is not compiled yet. */
const pieceMs = 3;
const [smallestPiece, largestPiece] = [10, 1_000];
/** Where few rows are, or where they change too fast, the store is not kept busy with reading them. */
const readingsApartMs = 60_000;
/** A table that cannot be held seldom changes so that it can. */
const triesApartMs = 3_600_000;
/** More take too long to be followed at once: then all is read again, in pieces. */
const mostChanges = 1_000;

interface Held {
  rows: HeldRows;
  /** They are right when what changed since then is put in. */
  moment: string;
}

type Followed = { moment: string; reaches: number; changed: Value } & Row;

export class HeldTable {
  readonly #store: Pick<Store, 'db' | 'engine'>;
  readonly #table: ListedTable;
  readonly #bounds: Bounds;
  readonly #moments: Moments;
  #held: Held | null = null;
  #reading: Promise<void> | null = null;
  #nextReading = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #next: Promise<HeldRows | null> | null = null;

  constructor(store: Pick<Store, 'db' | 'engine'>, table: ListedTable, bounds: Bounds) {
    this.#store = store;
    this.#table = table;
    this.#bounds = bounds;
    this.#moments = momentsOf(store.engine);
  }

  /** The rows as of a moment after this was asked for; null while they are not held. */
  current(): Promise<HeldRows | null> {
    if (!this.#held) return Promise.resolve(null);
    // One follows at a time, and whoever asks meanwhile shares the next: it begins after all of them have asked.
    if (this.#next) return this.#next;
    const next = this.#turn.then(() => {
      this.#next = null;
      return this.#follow();
    });
    this.#next = next;
    // How it ended is for those who asked.
    this.#turn = next.catch(() => undefined);
    return next;
  }

  async #follow(): Promise<HeldRows | null> {
    const held = this.#held;
    if (!held) return null;
    const followed = await this.#carryAlong(held);
    if (!followed && this.#held === held) this.#held = null;
    return followed ? held.rows : null;
  }

  /** Keeps the rows up to date while nobody asks, and reads them when they are not held and that is worth it. */
  async tend(signal?: AbortSignal): Promise<void> {
    const rows = await this.current();
    if (this.#reading) return this.#reading;
    if (rows && !rows.isWasteful) return;
    if (performance.now() < this.#nextReading) return;
    this.#nextReading = performance.now() + readingsApartMs;
    this.#reading = this.#read(signal).finally(() => {
      this.#reading = null;
    });
    await this.#reading;
  }

  async #read(signal?: AbortSignal): Promise<void> {
    try {
      this.#held = (await this.#isWorthHolding()) ? await this.#readAll(signal) : null;
    } catch (error) {
      if (error instanceof Unholdable) this.#nextReading = performance.now() + triesApartMs;
      throw error;
    }
  }

  async #readAll(signal?: AbortSignal): Promise<Held | null> {
    const held = { rows: new HeldRows(listedTables[this.#table]), moment: await this.#now() };
    // While a transaction is open since long ago nothing can be followed: the reading, which would be in vain, begins when that is over.
    if (!(await this.#carryAlong(held))) {
      this.#nextReading = 0;
      return null;
    }
    // Pieces are of different moments, all after this one: whoever follows what changed since then makes them one.
    return (await this.#readPieces(held.rows, signal)) ? held : null;
  }

  async #now(): Promise<string> {
    const { rows } = await sql<{ moment: string }>`select ${this.#moments.now(this.#table)} as moment`.execute(
      this.#store.db,
    );
    return rows[0]?.moment ?? '';
  }

  async #isWorthHolding(): Promise<boolean> {
    const { fewest } = this.#bounds;
    const { rows } = await sql<{ size: number }>`select count(*) as size from (
      select 1 from ${sql.table(this.#table)} where ${listedTables[this.#table].listed}
      limit ${sql.lit(fewest)}) as counted`.execute(this.#store.db);
    return (rows[0]?.size ?? 0) >= fewest;
  }

  async #readPieces(rows: HeldRows, signal?: AbortSignal): Promise<boolean> {
    let last = '';
    let size = smallestPiece;
    while (!signal?.aborted) {
      const begun = performance.now();
      const piece = await this.#pieceAfter(last, size);
      for (const row of piece) rows.put(row);
      if (rows.size > this.#bounds.most) {
        this.#nextReading = begun + triesApartMs;
        return false;
      }
      if (piece.length < size) return true;
      last = String(piece.at(-1)?.id);
      const tookMs = performance.now() - begun;
      size = Math.min(largestPiece, Math.max(smallestPiece, Math.round((size * pieceMs) / tookMs)));
      // Calls go first: the background takes half of the time at most.
      await Bun.sleep(tookMs);
    }
    return false;
  }

  async #pieceAfter(id: string, size: number): Promise<Row[]> {
    const { listed } = listedTables[this.#table];
    const piece = sql<Row>`select ${this.#columnsIn('listed')} from ${sql.table(this.#table)} as listed
      where id > ${id} and ${listed} order by id limit ${size}`;
    return (await piece.execute(this.#store.db)).rows;
  }

  #columnsIn(source: string) {
    const names = ['id', ...Object.keys(listedTables[this.#table].columns)];
    return sql.join(names.map((name) => sql.ref(`${source}.${name}`)));
  }

  /** Puts in what changed since the last time; false when that cannot be told, or is too much. */
  async #carryAlong(held: Held): Promise<boolean> {
    const found = await this.#changesSince(held.moment);
    const [here] = found;
    if (!here?.reaches || found.length > mostChanges) return false;
    try {
      for (const row of found) {
        if (row.id !== null) held.rows.put(row);
        else if (row.changed !== null) held.rows.remove(row.changed);
      }
    } catch (error) {
      if (error instanceof Unholdable) return false;
      throw error;
    }
    held.moment = here.moment;
    return held.rows.size <= this.#bounds.most;
  }

  /** Every row that changed, as it is now, all of one moment. What was noted of it has no order where transactions overlap. */
  async #changesSince(moment: string): Promise<Followed[]> {
    const { changes, listed } = listedTables[this.#table];
    const { rows } = await sql<Followed>`
      select here.moment, here.reaches, change.id as changed, ${this.#columnsIn('listed')}
      from (select ${this.#moments.now(this.#table)} as moment,
        ${this.#moments.reaches(this.#table, moment)} as reaches) as here
      left join (select distinct id from ${sql.table(changes)} where ${this.#moments.since(moment)}
        limit ${sql.lit(mostChanges + 1)}) as change on true
      left join ${sql.table(this.#table)} as listed on listed.id = change.id and ${listed}`.execute(this.#store.db);
    return rows;
  }
}
