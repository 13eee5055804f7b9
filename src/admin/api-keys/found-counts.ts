/** How many keys a search finds, kept in slices: after a change only the slice of the changed key is gone through again. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../../store/database.ts';
import type { Schema } from '../../store/schema.ts';

type Matches = SelectQueryBuilder<Schema, 'api_keys', object>;

/** The shards of a slice begin with the same digit. */
const slices = [...'0123456789abcdef'];

interface Slice {
  /** How often its keys had been changed before they were counted. */
  changes: number;
  found: number;
}

const mostKept = 500;

export class FoundCounts {
  readonly #kept = new Map<string, ReadonlyMap<string, Slice>>();

  /** Not for use inside a transaction: what it changed and takes back would be remembered. */
  async of(db: Db, matches: Matches): Promise<number> {
    const query = matches.compile();
    const name = `${query.sql}\n${JSON.stringify(query.parameters)}`;
    const known = this.#kept.get(name);
    // Read before the count: whatever is written meanwhile makes its slice stale.
    const changes = await changesBySlice(db);
    const stale = slices.filter((slice) => (changes.get(slice) ?? 0) !== known?.get(slice)?.changes);
    const found = await countIn(db, matches, stale);
    const current = new Map(known);
    for (const slice of stale) {
      current.set(slice, { changes: changes.get(slice) ?? 0, found: found.get(slice) ?? 0 });
    }
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(name, current);
    return [...current.values()].reduce((sum, slice) => sum + slice.found, 0);
  }
}

async function changesBySlice(db: Db): Promise<Map<string, number>> {
  const slice = sql<string>`substr(shard, 1, 1)`;
  const rows = await db
    .selectFrom('table_changes')
    .select((eb) => [slice.as('slice'), eb.fn.sum<number>('changes').as('changes')])
    .where('table_name', '=', 'api_keys')
    .groupBy(slice)
    .execute();
  return new Map(rows.map((row) => [row.slice, row.changes]));
}

/** Many slices are gone through on both sides of the middle at once. */
async function countIn(db: Db, matches: Matches, some: readonly string[]): Promise<Map<string, number>> {
  const middle = some.length === slices.length ? some.length / 2 : some.length;
  const halves = await Promise.all([some.slice(0, middle), some.slice(middle)].map((half) => count(db, matches, half)));
  return new Map(halves.flat().map((slice) => [slice.name, slice.found]));
}

async function count(db: Db, matches: Matches, some: readonly string[]): Promise<{ name: string; found: number }[]> {
  if (some.length === 0) return [];
  // A key without a shard stands before all others, and `g` behind the last digit.
  const named = some.map((slice) => {
    const index = slices.indexOf(slice);
    const [first, next] = [index === 0 ? '' : slice, slices[index + 1] ?? 'g'];
    return sql`select ${sql.lit(slice)} as name, ${sql.lit(first)} as first, ${sql.lit(next)} as next`;
  });
  const within = matches
    .where(sql<boolean>`shard >= slice.first and shard < slice.next`)
    .select((eb) => eb.fn.countAll<number>().as('found'));
  const { rows } = await sql<{ name: string; found: number }>`
    select slice.name, (${within}) as found from (${sql.join(named, sql` union all `)}) as slice`.execute(db);
  return rows;
}
