/** Pages of long lists: how many rows match, and the ids of one page, both answered from an index. Rows are wide, so they are read by id. */
import { type Expression, type SelectQueryBuilder, sql } from 'kysely';
import { countOf } from './list-queries.ts';

interface Order {
  by: Expression<string>;
  /** Settles the order of rows whose `by` is the same, so that none stands on two pages. */
  id: Expression<string>;
  direction: 'asc' | 'desc';
}

export interface PageOfIds {
  ids: string[];
  total: number;
}

interface List<Tables, Named extends keyof Tables> {
  /** Says which rows, and nothing yet about their columns. */
  matches: SelectQueryBuilder<Tables, Named, object>;
  order: Order;
  page: { offset: number; size: number };
}

export async function pageOfIds<Tables, Named extends keyof Tables>({
  matches,
  order,
  page,
}: List<Tables, Named>): Promise<PageOfIds> {
  const total = await countOf(matches);
  const size = Math.max(0, Math.min(page.size, total - page.offset));
  if (size === 0) return { ids: [], total };
  // An index is walked from its nearer end.
  const skippedFromEnd = total - page.offset - size;
  const backwards = skippedFromEnd < page.offset;
  const direction = backwards ? opposite[order.direction] : order.direction;
  const rows = await matches
    .select(sql<string>`${order.id}`.as('id'))
    .orderBy(order.by, direction)
    .orderBy(order.id, direction)
    .limit(size)
    .offset(backwards ? skippedFromEnd : page.offset)
    .$castTo<{ id: string }>()
    .execute();
  const ids = rows.map(({ id }) => id);
  return { ids: backwards ? ids.reverse() : ids, total };
}

const opposite = { asc: 'desc', desc: 'asc' } as const;
