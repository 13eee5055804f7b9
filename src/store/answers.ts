/** Answers that took going through a whole list, remembered as long as its tables stand as they were. */
import { watchedTables } from './migrations/0005_table_changes.ts';

const mostKept = 1_000;
const mostRows = 100;
const watched: ReadonlySet<string | undefined> = new Set(watchedTables);

export class RememberedAnswers {
  readonly #kept = new Map<string, { state: number; rows: unknown[] }>();

  /** What was answered in this very state of its tables. */
  recall<R>(sql: string, parameters: readonly unknown[], state: number): R[] | null {
    const kept = this.#kept.get(keyOf(sql, parameters));
    return kept?.state === state ? (kept.rows as R[]) : null;
  }

  /** `state` is from before the answer: whatever was written meanwhile has changed it, and the entry is never used. */
  remember(sql: string, parameters: readonly unknown[], state: number, rows: unknown[]): void {
    if (rows.length > mostRows) return;
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(keyOf(sql, parameters), { state, rows });
  }
}

const keyOf = (sql: string, parameters: readonly unknown[]): string => `${sql}\n${JSON.stringify(parameters)}`;

/** Counts as `countOf` of the lists writes them, and searches that begin with what they found. */
export const isWholeList = (sql: string): boolean =>
  sql.startsWith('select count(*) as "total" from ') || sql.startsWith('with found as materialized ');

/**
 * A query that tells the state of all tables that a statement reads, or null when one of them does not note its changes: another
 * number after every change that was committed. What a transaction changed may still be taken back, so inside one it tells nothing.
 */
export function stateOf(statement: string): string | null {
  const steps = new Set(Array.from(statement.matchAll(/\b(\w+) as materialized\b/g), ([, step]) => step));
  const sources = new Set(Array.from(statement.matchAll(/\b(?:from|join) "?(\w+)/g), ([, source]) => source));
  const tables = [...sources.difference(steps)];
  if (!tables.every((table) => watched.has(table))) return null;
  return `select coalesce(sum(changes), 0) as state from table_changes where table_name in ('${tables.join("', '")}')`;
}
