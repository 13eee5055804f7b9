/** The queries behind a list: how many rows match, and one page of them. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import type { Page } from './endpoint.ts';

export async function countOf<Tables, Named extends keyof Tables, Chosen>(
  matches: SelectQueryBuilder<Tables, Named, Chosen>,
): Promise<number> {
  const counted = matches.clearSelect().select((eb) => eb.fn.countAll<number>().as('total'));
  const { total } = await counted.executeTakeFirstOrThrow();
  return total;
}

type Dated = { [T in keyof Schema]: 'id' | 'created_at' extends keyof Schema[T] ? T : never }[keyof Schema];

/** Ids settle the order of rows made in the same instant, so that no row stands on two pages. */
export async function newestFirst<Table extends Dated, Chosen>(
  matches: SelectQueryBuilder<Schema, Table, Chosen>,
  page: Page,
) {
  const total = await countOf(matches);
  const rows = await matches
    .clearSelect()
    .selectAll()
    .orderBy(sql.ref('created_at'), 'desc')
    .orderBy(sql.ref('id'), 'desc')
    .limit(page.size)
    .offset(page.offset)
    .execute();
  return { rows, total };
}
