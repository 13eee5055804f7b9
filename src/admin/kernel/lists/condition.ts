/** What a list asks of its rows, told once: to the store as SQL, and to the rows that are held in memory. */
import { type Expression, type SqlBool, sql } from 'kysely';
import { holds, holdsFolded } from './list-queries.ts';

export type Condition<Column extends string = string> = Is<Column> | Holds<Column> | AtMost<Column> | AnyOf<Column>;

interface Is<Column> {
  kind: 'is';
  column: Column;
  values: readonly (string | number)[];
  /** Said so that the store does not look for rows by it, and keeps to an index in the order of the list. */
  unsought?: boolean;
}

interface Holds<Column> {
  kind: 'holds';
  column: Column;
  part: string;
  /** Whether the column holds small letters alone, so that the part is found in any case. */
  folded: boolean;
}

/** Of times, which are texts in the same order. */
interface AtMost<Column> {
  kind: 'at most';
  column: Column;
  value: string;
}

interface AnyOf<Column extends string> {
  kind: 'any of';
  cases: readonly (readonly Condition<Column>[])[];
}

export const is = <Column extends string>(column: Column, ...values: (string | number)[]): Is<Column> => ({
  kind: 'is',
  column,
  values,
});

const never = sql<boolean>`1 = 0`;

export function said(condition: Condition): Expression<SqlBool> {
  switch (condition.kind) {
    case 'is':
      return saidOfValues(condition);
    case 'holds':
      return (condition.folded ? holdsFolded : holds)(sql.ref(condition.column), condition.part);
    case 'at most':
      return sql<boolean>`${sql.ref(condition.column)} <= ${condition.value}`;
    case 'any of':
      return condition.cases.length === 0
        ? never
        : sql<boolean>`(${sql.join(condition.cases.map(allSaid), sql` or `)})`;
  }
}

export const allSaid = (conditions: readonly Condition[]): Expression<SqlBool> =>
  conditions.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`(${sql.join(conditions.map(said), sql` and `)})`;

function saidOfValues({ column, values, unsought = false }: Is<string>): Expression<SqlBool> {
  if (values.length === 0) return never;
  const asked = unsought ? sql`coalesce(${sql.ref(column)}, '')` : sql.ref(column);
  return values.length === 1 ? sql<boolean>`${asked} = ${values[0]}` : sql<boolean>`${asked} in (${sql.join(values)})`;
}
