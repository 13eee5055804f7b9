/** The queries behind a list: how many rows match, and one page of them. */
import { type Expression, type SelectQueryBuilder, sql } from 'kysely';
import type { Schema } from '../../../store/schema.ts';
import type { Page } from './page.ts';

/** A query that says which rows, and nothing yet about their columns. */
type Matches<Tables, Named extends keyof Tables> = SelectQueryBuilder<Tables, Named, object>;

export async function countOf<Tables, Named extends keyof Tables>(matches: Matches<Tables, Named>): Promise<number> {
  const { total } = await matches
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .$castTo<{ total: number }>()
    .executeTakeFirstOrThrow();
  return total;
}

type Dated = { [Table in keyof Schema]: 'id' | 'created_at' extends keyof Schema[Table] ? Table : never }[keyof Schema];

/** Ids settle the order of rows made in the same instant, so that none stands on two pages. */
export async function newestFirst<Table extends Dated>(matches: Matches<Schema, Table>, page: Page) {
  const total = await countOf(matches);
  if (page.offset >= total) return { rows: [], total };
  const rows = await matches
    .selectAll()
    .orderBy(sql.ref('created_at'), 'desc')
    .orderBy(sql.ref('id'), 'desc')
    .limit(page.size)
    .offset(page.offset)
    .execute();
  return { rows, total };
}

/**
 * Holds for rows whose text has the part in it, case minded. LIKE is quick and minds the case on one engine only; a text that
 * changes when the part is taken out holds it on both.
 */
export const holds = (text: Expression<string>, part: string) =>
  sql<boolean>`(${text} like ${patternOf(part)} escape '\\' and replace(${text}, ${part}, '') != ${text})`;

/** Small letters in every script, which one of the engines does not know. */
export const folded = (text: string): string => text.toLowerCase();

/** Holds for rows whose text, stored folded, has the part in it. An index can hold such a text. */
export const holdsFolded = (text: Expression<string>, part: string) =>
  isLike(text, sql`${patternOf(folded(part))}`, part);

/** The same for a text in the engine's own small letters: it lowers both sides, so that letters outside ASCII meet whichever way it treats them. */
export const holdsLowered = (text: Expression<string>, part: string) =>
  isLike(text, sql`lower(${patternOf(part)})`, part);

/**
 * The indexes of searches know threes of letters, and only texts that are not empty: a query must say so in so many words to
 * use them. A part without such a three does not say it, as it would go through the whole index and all rows besides.
 */
const isLike = (text: Expression<string>, pattern: Expression<unknown>, part: string) =>
  /[\p{L}\p{N}]{3}/u.test(part)
    ? sql<boolean>`(${text} like ${pattern} escape '\\' and ${text} != '')`
    : sql<boolean>`${text} like ${pattern} escape '\\'`;

/** SQLite lowers ASCII alone, so that a part is also looked for as people write it: all small, all large, with a large letter first. */
export const holdsInAnyCase = (text: Expression<string>, part: string) => {
  const spellings = new Set([part, part.toLowerCase(), part.toUpperCase(), capitalised(part)]);
  const found = [...spellings].map((spelling) => holdsLowered(sql`lower(${text})`, spelling));
  return sql<boolean>`(${sql.join(found, sql` or `)})`;
};

/** The same where it is enough that one of the texts has the part in it. */
export const oneHoldsInAnyCase = (part: string, ...texts: Expression<string>[]) =>
  sql<boolean>`(${sql.join(
    texts.map((text) => holdsInAnyCase(text, part)),
    sql` or `,
  )})`;

const capitalised = (part: string): string => part.charAt(0).toUpperCase() + part.slice(1).toLowerCase();

const patternOf = (part: string): string => `%${part.replace(/[\\%_]/g, '\\$&')}%`;
