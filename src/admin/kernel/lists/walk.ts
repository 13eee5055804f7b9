/** Finds the ids of a page by walking along an index, from the nearest place whose number of rows before it is known. */
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { countOf } from './list-queries.ts';

export interface Order {
  by: Expression<string>;
  /** Settles the order of rows whose `by` is the same, so that none stands on two pages. */
  id: Expression<string>;
  direction: 'asc' | 'desc';
}

/** A place in the order of a list, whether or not a row stands there. */
export interface Point {
  place: string;
  id: string;
}

/** So many rows of a list stand before this point; without a point, at one of its ends. */
export interface Mark {
  point: Point | null;
  rank: number;
}

export interface Span {
  offset: number;
  size: number;
}

interface List<Tables, Named extends keyof Tables> {
  /** Says which rows, and nothing yet about their columns; `there` first of all, as SQLite enters an index by what is said first. */
  matches(there: Expression<SqlBool>): SelectQueryBuilder<Tables, Named, object>;
  order: Order;
}

export interface PageOfIds {
  ids: string[];
  total: number;
}

export const everywhere = sql<boolean>`1 = 1`;

/** A walk of so many rows takes less time than counting them, so that it need not wait for that. */
const shortWalk = 5_000;

/** The ids of a page and how many match, both found anew: for lists of some ten thousand rows. */
export async function countedPage<Tables, Named extends keyof Tables>(
  list: List<Tables, Named> & { page: Span },
): Promise<PageOfIds> {
  const { matches, page } = list;
  const begun = page.offset <= shortWalk ? walk(list, start, page) : null;
  const [total, early] = await Promise.all([countOf(matches(everywhere)), begun]);
  const end = { point: null, rank: total };
  const found = early ?? (await walk(list, nearest([start, end], page.offset), within(page, total)));
  return { ids: found.map(({ id }) => id), total };
}

export const start: Mark = { point: null, rank: 0 };

/** What there is of a page in a list of so many rows. */
export const within = ({ offset, size }: Span, total: number): Span => ({
  offset,
  size: Math.max(0, Math.min(size, total - offset)),
});

export const nearest = (marks: readonly Mark[], rank: number): Mark =>
  marks.reduce((best, mark) => (Math.abs(mark.rank - rank) < Math.abs(best.rank - rank) ? mark : best));

export interface Step extends Point {
  /** What `still` said when the step was taken. */
  still: number;
}

/** The rows of a span, each with its place: those before the mark are walked to backwards, the others onwards. */
export async function walk<Tables, Named extends keyof Tables>(
  { matches, order }: List<Tables, Named>,
  mark: Mark,
  { offset, size }: Span,
  still: Expression<number> = sql.lit(1),
): Promise<Step[]> {
  const steps = async (direction: Order['direction'], there: Expression<SqlBool>, skipped: number, count: number) =>
    count === 0
      ? []
      : matches(there)
          .select([
            sql<string>`${order.id}`.as('id'),
            sql<string>`${order.by}`.as('place'),
            sql<number>`${still}`.as('still'),
          ])
          .orderBy(order.by, direction)
          .orderBy(order.id, direction)
          .limit(count)
          .offset(skipped)
          .$castTo<Step>()
          .execute();
  const { point, rank } = mark;
  const end = offset + size;
  const turn = Math.min(Math.max(rank, offset), end);
  const back = order.direction === 'asc' ? 'desc' : 'asc';
  const [before, after] = await Promise.all([
    steps(back, point ? isBefore(order, point) : everywhere, rank - turn, turn - offset),
    steps(order.direction, point ? isFrom(order, point) : everywhere, turn - rank, end - turn),
  ]);
  return [...before.reverse(), ...after];
}

const comparison = ({ by, id }: Order, sign: '<' | '<=' | '>' | '>=', point: Point) =>
  sql<boolean>`(${by}, ${id}) ${sql.raw(sign)} (${point.place}, ${point.id})`;

export const isBefore = (order: Order, point: Point) => comparison(order, order.direction === 'asc' ? '<' : '>', point);
export const isFrom = (order: Order, point: Point) => comparison(order, order.direction === 'asc' ? '>=' : '<=', point);
