/** A list too long to be counted for every page: how it is declared, and what the store is asked about it. */
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../../store/database.ts';
import type { Moments } from '../../../store/list-changes.ts';
import { type ListedTable, listedTables } from '../../../store/listed-tables.ts';
import { allSaid, type Condition } from './condition.ts';
import type { ListChange } from './known-list.ts';
import {
  everywhere,
  isBefore,
  isFrom,
  type Mark,
  type Order,
  type Point,
  type Span,
  type Step,
  start,
  walk,
} from './walk.ts';

export type Way = 'seek' | 'walk';

export interface LongList {
  table: ListedTable;
  /** Which rows are listed, said for the way they are looked for: `seek` for rows wherever they are, `walk` for those in the order of the list. */
  conditions(way: Way): readonly Condition[];
  /** Says how many they are, where that is known without counting. */
  tallied?: Expression<unknown> | null;
  /** By a column of times or of texts. */
  order: { by: string; direction: Order['direction'] };
  /** Where the list ends, if not with its last row. It may move from call to call. */
  until?: Point;
  page: Span;
}

/** More changes than these take as long to follow as a list takes to be counted. */
const mostChanges = 1_000;
/** So many rows are counted in no time. */
const fewBetween = 1_000;

interface Counted {
  total: number;
  /** When that was so. */
  moment: string;
  /** Zero when the list had changed since the moment that was asked about. */
  still: number;
}

export class ListQueries {
  readonly #db: Db;
  readonly #list: LongList;
  readonly #moments: Moments;
  readonly order: Order;

  constructor(db: Db, list: LongList, moments: Moments) {
    this.#db = db;
    this.#list = list;
    this.#moments = moments;
    this.order = { ...list.order, by: sql.ref(list.order.by), id: sql.ref('id') };
  }

  /** Tells this list from others, whatever its order and wherever it ends. */
  get name(): string {
    const { sql: text, parameters } = this.#rows(everywhere, 'seek').compile();
    return `${text}\n${JSON.stringify(parameters)}`;
  }

  get orderName(): string {
    const { by, direction } = this.#list.order;
    return `${by} ${direction}`;
  }

  /** The rows of the list, as far as it goes. */
  rows(there: Expression<SqlBool>, way: Way, until: Point | null = this.#list.until ?? null) {
    const rows = this.#rows(there, way);
    return until ? rows.where(isBefore(this.order, until)) : rows;
  }

  #rows(there: Expression<SqlBool>, way: Way) {
    return this.#listedIn(sql.table(this.#list.table), there, way);
  }

  /**
   * The listed among the rows of the table itself, of some of it, or of the table that notes its changes, told by the same columns.
   * `there` first of all, as SQLite enters an index by what is said first.
   */
  #listedIn(source: RawBuilder<unknown>, there: Expression<SqlBool>, way: Way) {
    const { table, conditions } = this.#list;
    return this.#db
      .selectFrom(sql<object>`${source}`.as('listed'))
      .where(there)
      .where(listedTables[table].listed)
      .where(allSaid(conditions(way)));
  }

  async now(): Promise<string> {
    const { rows } = await sql<{ moment: string }>`select ${this.#now} as moment`.execute(this.#db);
    return rows[0]?.moment ?? '';
  }

  get #now() {
    return this.#moments.now(this.#list.table);
  }

  /** What the list gained and lost since a moment, and when that was so; null when that cannot be told any more. */
  async changesSince(moment: string): Promise<{ moment: string; changes: ListChange[] } | null> {
    const { table } = this.#list;
    const changes = this.#changes(moment)
      .select([sql`sign`.as('sign'), sql`${this.order.id}`.as('id'), sql`${this.order.by}`.as('place')])
      .limit(mostChanges + 1);
    const { rows } = await sql<{ moment: string; reaches: number } & (ListChange | { sign: null })>`
      select here.moment, here.reaches, change.sign, change.id, change.place
      from (select ${this.#now} as moment, ${this.#moments.reaches(table, moment)} as reaches) as here
      left join ${changes} as change on true`.execute(this.#db);
    const [here] = rows;
    if (!here?.reaches || rows.length > mostChanges) return null;
    return { moment: here.moment, changes: rows.flatMap((row) => (row.sign === null ? [] : [row])) };
  }

  #changes(moment: string) {
    const { changes } = listedTables[this.#list.table];
    return this.#listedIn(sql.table(changes), this.#moments.since(moment), 'walk');
  }

  /** One while the list is what it was at that moment. */
  still(moment: string) {
    const changes = this.#changes(moment).select(sql.lit(1).as('one'));
    const reaches = this.#moments.reaches(this.#list.table, moment);
    // A query of its own is asked once, not for every row that is passed by.
    return sql<number>`(select case when exists ${changes} then 0 else ${reaches} end)`;
  }

  /** How many rows the list has, as far as it goes. */
  async count(still: Expression<number> = sql.lit(1)): Promise<Counted> {
    const total = this.#list.tallied ?? this.rows(everywhere, 'seek').select((eb) => eb.fn.countAll().as('total'));
    const { rows } = await sql<Counted>`
      select ${total} as total, ${this.#now} as moment, ${still} as still`.execute(this.#db);
    return rows[0] ?? { total: 0, moment: '', still: 0 };
  }

  /** How many rows stand before a point that has these marks on its two sides; null when it is far from both. */
  async rankBetween(
    before: Mark,
    point: Point,
    after: Mark | null,
    still: Expression<number>,
  ): Promise<Counted | null> {
    const { order } = this;
    const number = (rows: ReturnType<ListQueries['rows']>) =>
      sql`(select count(*) from ${rows.select(sql.lit(1).as('one')).limit(fewBetween + 1)} as counted)`;
    const since = this.rows(before.point ? isFrom(order, before.point) : everywhere, 'walk', point);
    const ahead = this.rows(isFrom(order, point), 'walk', after?.point ?? null);
    const { rows } = await sql<{ since: number; ahead: number; moment: string; still: number }>`
      select ${number(since)} as since, ${after ? number(ahead) : sql.lit(fewBetween + 1)} as ahead,
        ${this.#now} as moment, ${still} as still`.execute(this.#db);
    const [found] = rows;
    if (!found) return null;
    if (found.since <= fewBetween) return { ...found, total: before.rank + found.since };
    return after && found.ahead <= fewBetween ? { ...found, total: after.rank - found.ahead } : null;
  }

  /** The rows of a span, found from a mark. */
  walk(mark: Mark, span: Span, still: Expression<number>): Promise<Step[]> {
    return walk({ matches: (there) => this.#rows(there, 'walk'), order: this.order }, mark, span, still);
  }

  /** Those of these rows that are in the list as far as `until`, in its order. */
  among(ids: readonly string[], until: Point | null, still: Expression<number>): Promise<Step[]> {
    const { order } = this;
    // The limit keeps the engines from looking for the whole list first.
    const some = sql`(select * from ${sql.table(this.#list.table)} where id in (${sql.join(ids)}) limit ${sql.lit(ids.length)})`;
    const rows = (there: Expression<SqlBool>) => this.#listedIn(some, there, 'seek');
    const listed = {
      order,
      matches: (there: Expression<SqlBool>) => (until ? rows(there).where(isBefore(order, until)) : rows(there)),
    };
    return walk(listed, start, { offset: 0, size: ids.length }, still);
  }

  /** The ids of some rows, in no order. */
  async someIds(most: number): Promise<string[]> {
    const found = await this.rows(everywhere, 'seek')
      .select(sql<string>`${this.order.id}`.as('id'))
      .limit(most)
      .$castTo<{ id: string }>()
      .execute();
    return found.map(({ id }) => id);
  }
}
