/** Counts of rows, remembered as long as nothing was written: counting is the one part of a list whose cost grows with the table. */

const mostKept = 1_000;

export class RememberedCounts {
  readonly #kept = new Map<string, { state: string; rows: unknown[] }>();

  /** The rows of a count that was made in this very state of the store. */
  recall<R>(sql: string, parameters: readonly unknown[], state: string): R[] | null {
    const kept = this.#kept.get(keyOf(sql, parameters));
    return kept?.state === state ? (kept.rows as R[]) : null;
  }

  /** `state` is from before the count was made: whatever was written meanwhile has changed it, and the entry is never used. */
  remember(sql: string, parameters: readonly unknown[], state: string, rows: unknown[]): void {
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(keyOf(sql, parameters), { state, rows });
  }
}

const keyOf = (sql: string, parameters: readonly unknown[]): string => `${sql}\n${JSON.stringify(parameters)}`;

/** As `countOf` of the lists writes it. */
export const isCount = (sql: string): boolean => sql.startsWith('select count(*) as "total" from ');

/** Whether a statement leaves everything as it was. */
export const isRead = (sql: string): boolean =>
  sql.startsWith('select ') || (sql.trimStart().startsWith('with ') && !/\b(insert|update|delete)\b/i.test(sql));
