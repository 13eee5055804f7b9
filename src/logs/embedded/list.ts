/** A page of the chosen rows in an order, and how many there are in all. */
import type { ListQuery, LogPage, SortField } from '../query.ts';
import type { Chunk, Month } from './month.ts';
import { type Checkpoint, type RowFinder, select } from './selection.ts';

/** A row as far as its place in the list goes. Rows of one value stand in the order in which they were written. */
interface Candidate {
  value: number;
  month: number;
  n: number;
}

const spare = 8_192;

export function listRows(
  months: readonly Month[],
  query: ListQuery,
  finder: RowFinder,
  checkpoint: Checkpoint,
): LogPage {
  const { filter, sort, after, offset, limit } = query;
  const best = new BestRows(after ? limit : offset + limit, query.descending, after ? cursorRow(months, after) : null);
  let total = 0;
  for (const [number, month] of months.entries()) {
    const selection = select(month, filter, finder);
    if (!selection) continue;
    for (const chunk of month.chunks(filter.from, filter.to)) {
      checkpoint();
      const marks = selection.rowsOf(chunk);
      if (marks) total += best.add(marks, chunk, sort, number);
    }
  }
  const page = best.rows().slice(after ? 0 : offset);
  const rows = page.flatMap(({ month, n }) => months[month]?.row(n) ?? []);
  return {
    total,
    rows: rows.map(({ metrics, promptPreview, answerPreview }) => ({ metrics, promptPreview, answerPreview })),
  };
}

/** The place behind which the page begins. A row that is gone meanwhile stands before all others of its value. */
function cursorRow(months: readonly Month[], after: NonNullable<ListQuery['after']>): Candidate {
  for (const [number, month] of months.entries()) {
    const n = month.numberOf(after.id);
    if (n !== null) return { value: after.value, month: number, n };
  }
  return { value: after.value, month: -1, n: 0 };
}

/** The first rows of a list, gathered in any order. */
class BestRows {
  readonly #wanted: number;
  readonly #sign: 1 | -1;
  readonly #after: Candidate | null;
  #gathered: Candidate[] = [];
  /** The last of those that can still count; none before enough have been gathered. */
  #last: Candidate | null = null;

  constructor(wanted: number, descending: boolean, after: Candidate | null) {
    this.#wanted = wanted;
    this.#sign = descending ? -1 : 1;
    this.#after = after;
  }

  /** Answers how many rows are marked. */
  add(marks: Uint8Array, chunk: Chunk, sort: SortField, month: number): number {
    const values = chunk.column(sort);
    let marked = 0;
    for (let row = 0; row < marks.length; row++) {
      if (marks[row] !== 1) continue;
      marked += 1;
      const value = values[row] ?? 0;
      if (this.#last && this.#sign * (value - this.#last.value) > 0) continue;
      const candidate = { value, month, n: chunk.first + row };
      if (this.#after && this.#compare(candidate, this.#after) <= 0) continue;
      this.#gathered.push(candidate);
      if (this.#gathered.length > this.#wanted + spare) this.#cut();
    }
    return marked;
  }

  rows(): Candidate[] {
    this.#cut();
    return this.#gathered;
  }

  #cut(): void {
    this.#gathered.sort((a, b) => this.#compare(a, b));
    this.#gathered.length = Math.min(this.#gathered.length, this.#wanted);
    if (this.#gathered.length === this.#wanted) this.#last = this.#gathered.at(-1) ?? null;
  }

  #compare(a: Candidate, b: Candidate): number {
    return this.#sign * (a.value - b.value || a.month - b.month || a.n - b.n);
  }
}
