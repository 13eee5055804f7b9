/** A page of the chosen rows in an order, and how many there are in all. */
import type { ListQuery, LogPage, SortField } from '../query.ts';
import { countRows, type FeedbackSums } from './aggregate.ts';
import type { Chunk, Month } from './month.ts';
import { type Checkpoint, isOfContexts, type RowFinder, select } from './selection.ts';

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
  finder: RowFinder & FeedbackSums,
  checkpoint: Checkpoint,
): LogPage {
  const { filter, sort, descending, after, offset, limit } = query;
  const best = new BestRows(after ? limit : offset + limit, descending, after ? cursorRow(months, after) : null);
  // Where rollups count the rows, those in the order of time are read only until the page is full.
  const stopsEarly = sort === 'created_at' && isOfContexts(filter);
  let total = stopsEarly ? countRows(months, filter, finder, checkpoint) : 0;
  for (const [number, month] of descending ? [...months.entries()].reverse() : months.entries()) {
    const selection = select(month, filter, finder);
    if (!selection) continue;
    for (const chunk of inOrderOfTime(month.chunks(filter.from, filter.to), descending)) {
      if (stopsEarly && best.isBehind(descending ? chunk.lastAt : chunk.firstAt)) continue;
      checkpoint();
      const rows = selection.rowsOf(chunk);
      best.add(rows, chunk, sort, number);
      if (!stopsEarly) total += rows.length;
    }
  }
  const page = best.rows().slice(after ? 0 : offset);
  const rows = page.flatMap(({ month, n }) => months[month]?.row(n) ?? []);
  return {
    total,
    rows: rows.map(({ metrics, promptPreview, answerPreview }) => ({ metrics, promptPreview, answerPreview })),
  };
}

function inOrderOfTime(chunks: Chunk[], descending: boolean): Chunk[] {
  return chunks.sort((a, b) => (descending ? b.lastAt - a.lastAt : a.firstAt - b.firstAt));
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

  add(rows: Uint32Array, chunk: Chunk, sort: SortField, month: number): void {
    const values = chunk.column(sort);
    for (const row of rows) {
      const value = values[row] ?? 0;
      if (this.#last && this.#sign * (value - this.#last.value) > 0) continue;
      const candidate = { value, month, n: chunk.first + row };
      if (this.#after && this.#compare(candidate, this.#after) <= 0) continue;
      this.#gathered.push(candidate);
      if (this.#gathered.length > this.#wanted + spare) this.#cut();
    }
  }

  /** True where no row of this value or of one behind it can count any more. */
  isBehind(value: number): boolean {
    if (!this.#last && this.#gathered.length >= this.#wanted) this.#cut();
    return this.#last !== null && this.#sign * (value - this.#last.value) > 0;
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
