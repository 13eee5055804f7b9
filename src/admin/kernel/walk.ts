/** Finds the ids of a page by walking along an index: from the nearer end, or from where an earlier walk came by and nothing changed since. */
import { type CompiledQuery, type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { stateOf } from '../../store/answers.ts';
import { countOf } from './list-queries.ts';

export interface Order {
  by: Expression<string>;
  /** Settles the order of rows whose `by` is the same, so that none stands on two pages. */
  id: Expression<string>;
  direction: 'asc' | 'desc';
}

interface List<Tables, Named extends keyof Tables> {
  /** Says which rows, and nothing yet about their columns; `there` first of all, as SQLite enters an index by what is said first. */
  matches(there: Expression<SqlBool>): SelectQueryBuilder<Tables, Named, object>;
  order: Order;
  page: { size: number; offset: number };
}

const everywhere = sql<boolean>`1 = 1`;

/** The ids of a page and how many match; the two are found side by side when the page stood in the first half the last time. */
export async function countedPage<Tables, Named extends keyof Tables>(
  marks: PageMarks,
  list: List<Tables, Named>,
): Promise<{ ids: string[]; total: number }> {
  const matches = list.matches(everywhere);
  const name = nameOf(matches.compile());
  const likely = marks.lastTotal(name);
  const begun = list.page.offset < likely / 2 ? walk(marks, { ...list, total: likely }) : null;
  const [total, early] = await Promise.all([countOf(matches), begun]);
  marks.putTotal(name, total);
  const full = list.page.offset + list.page.size <= Math.min(likely, total);
  if (early && (full || total === likely)) return { ids: early, total };
  return { ids: await walk(marks, { ...list, total }), total };
}

interface Walk<Tables, Named extends keyof Tables> extends List<Tables, Named> {
  /** How many match. */
  total: number;
}

/** Not for use inside a transaction: what it changed and takes back would leave marks behind. */
export async function walk<Tables, Named extends keyof Tables>(
  marks: PageMarks,
  { matches, order, page, total }: Walk<Tables, Named>,
): Promise<string[]> {
  const size = Math.min(page.size, total - page.offset);
  if (size <= 0) return [];
  const fromEnd = page.offset > total / 2;
  const direction = fromEnd === (order.direction === 'desc') ? 'asc' : 'desc';
  const skip = fromEnd ? total - page.offset - size : page.offset;
  const ordered = (there: Expression<SqlBool>) =>
    matches(there)
      .select([sql<string>`${order.id}`.as('id'), sql<string>`${order.by}`.as('place')])
      .orderBy(order.by, direction)
      .orderBy(order.id, direction);
  const list = ordered(everywhere).compile();
  const state = stateOf(list.sql);
  const name = nameOf(list);
  const stepsFrom = (mark: Mark | null): Promise<Step[]> => {
    const onwards = sql.raw(direction === 'asc' ? '>=' : '<=');
    const there = mark && sql<boolean>`(${order.by}, ${order.id}) ${onwards} (${mark.place}, ${mark.id})`;
    return ordered(there ?? everywhere)
      .select(sql<number | null>`(${sql.raw(state ?? 'null')})`.as('state'))
      .limit(size)
      .offset(skip - (mark?.offset ?? 0))
      .$castTo<Step>()
      .execute();
  };
  const mark = state === null ? null : marks.before(name, skip);
  let found = await stepsFrom(mark);
  if (mark && found[0]?.state !== mark.state) found = await stepsFrom(null);
  if (found[0]) marks.put(name, skip, found[0]);
  const ids = found.map((row) => row.id);
  return fromEnd ? ids.reverse() : ids;
}

const nameOf = ({ sql: text, parameters }: CompiledQuery): string => `${text}\n${JSON.stringify(parameters)}`;

interface Step {
  id: string;
  place: string;
  /** Of the tables, in the very moment of this walk; null where they do not tell. */
  state: number | null;
}

/** A row that stands behind so many others, as long as the tables are in this state. */
interface Mark extends Step {
  offset: number;
}

const mostLists = 500;
const mostMarks = 100;
const nearestMark = 100;

/** What walks left behind. Whoever uses a mark looks whether its state is still that of the tables. */
export class PageMarks {
  readonly #marks = new Map<string, Mark[]>();
  readonly #totals = new Map<string, number>();

  /** How long a list was the last time; zero when it is not known. */
  lastTotal(list: string): number {
    return this.#totals.get(list) ?? 0;
  }

  putTotal(list: string, total: number): void {
    keep(this.#totals, list, total);
  }

  before(list: string, offset: number): Mark | null {
    let nearest: Mark | null = null;
    for (const mark of this.#marks.get(list) ?? []) {
      if (mark.offset <= offset && mark.offset > (nearest?.offset ?? 0)) nearest = mark;
    }
    return nearest;
  }

  put(list: string, offset: number, { id, place, state }: Step): void {
    if (state === null || offset < nearestMark) return;
    const current = (this.#marks.get(list) ?? []).filter((mark) => mark.state === state && mark.offset !== offset);
    keep(this.#marks, list, [...current.slice(1 - mostMarks), { offset, id, place, state }]);
  }
}

function keep<Value>(known: Map<string, Value>, list: string, value: Value): void {
  if (known.size >= mostLists) known.clear();
  known.set(list, value);
}
