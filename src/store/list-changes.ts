/** The changes of listed tables as their triggers note them: what changed since a moment, told by each engine in its own way. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db, Store } from './database.ts';
import { type ListedTable, listedTables } from './listed-tables.ts';

/** Changes that are kept at least; older ones may be forgotten. */
const mostKept = 10_000;
/** Fewer than are kept: as long as no more than these came after a moment, none of them can be forgotten yet. */
const mostFollowed = mostKept / 2;
const forgottenAtOnce = 2_000;

/** A moment is a text that only its engine reads. */
export interface Moments {
  /** The moment that the asking statement sees the table in. */
  now(table: ListedTable): RawBuilder<string>;
  /** Holds for the changes that a statement at that moment did not see. */
  since(moment: string): RawBuilder<SqlBool>;
  /** One while the changes since that moment are all there to be read, and not too many; zero when the moment is lost. */
  reaches(table: ListedTable, moment: string): RawBuilder<0 | 1>;
  /** Takes away some of what need not be kept, so that no statement holds the store for long; false when that was all. */
  forget(db: Db, table: ListedTable): Promise<boolean>;
}

export const momentsOf = (engine: Store['engine']): Moments => (engine === 'postgres' ? onPostgres : onSqlite);

const fewer = (changes: RawBuilder<unknown>) =>
  sql`(select count(*) from (${changes} limit ${sql.lit(mostFollowed + 1)}) as followed) <= ${sql.lit(mostFollowed)}`;

/** One writes at a time, so changes are numbered in the order in which they are seen. */
const onSqlite: Moments = {
  now: (table) => sql`(select cast(coalesce(max(moment), 0) as text) from ${sql.table(listedTables[table].changes)})`,
  since: (moment) => sql`moment > ${Number(moment)}`,
  reaches(table, moment) {
    const changes = sql`select 1 from ${sql.table(listedTables[table].changes)} where moment > ${Number(moment)}`;
    return sql`(case when ${fewer(changes)} then 1 else 0 end)`;
  },
  async forget(db, table) {
    const changes = sql.table(listedTables[table].changes);
    const { numAffectedRows = 0n } = await sql`delete from ${changes} where moment in (
      select moment from ${changes} where moment <= (select max(moment) from ${changes}) - ${mostKept}
      limit ${forgottenAtOnce})`.execute(db);
    return numAffectedRows >= forgottenAtOnce;
  },
};

/** Transactions are seen in another order than they began in, so a moment is the snapshot itself, and the era in which it means something. */
const onPostgres: Moments = {
  now: (table) => sql`(list_era(${sql.lit(table)}) || ' ' || pg_current_snapshot()::text)`,
  since(moment) {
    const { snapshot } = parts(moment);
    return sql`${mayBeSince(moment)} and not pg_visible_in_snapshot(moment, ${snapshot}::pg_snapshot)`;
  },
  reaches(table, moment) {
    const { era } = parts(moment);
    const changes = sql`select 1 from ${sql.table(listedTables[table].changes)} where ${mayBeSince(moment)}`;
    return sql`(case when list_era(${sql.lit(table)}) = ${era} and ${fewer(changes)} then 1 else 0 end)`;
  },
  async forget(db, table) {
    const changes = sql.table(listedTables[table].changes);
    const ours = sql`list_era(${sql.lit(table)})`;
    const { numAffectedRows = 0n } = await sql`delete from ${changes} where ctid = any(array(
      select ctid from ${changes} where era != ${ours} or moment < (
        select moment from ${changes} where era = ${ours} order by moment desc limit 1 offset ${mostKept})
      limit ${forgottenAtOnce}))`.execute(db);
    return numAffectedRows >= forgottenAtOnce;
  },
};

/** All that was not over yet when the oldest open transaction began: an index finds them. */
const mayBeSince = (moment: string) => {
  const { era, oldestOpen } = parts(moment);
  return sql`era = ${era} and moment >= ${oldestOpen}::xid8`;
};

function parts(moment: string): { era: string; snapshot: string; oldestOpen: string } {
  const [era = '', snapshot = ''] = moment.split(' ');
  const [oldestOpen = ''] = snapshot.split(':');
  return { era, snapshot, oldestOpen };
}
