/** Numbers of rows in an order, in runs short enough that one more is soon put in its place. */
import type { Mask } from './columns.ts';

type Compare = (one: number, other: number) => number;

const longestRun = 1_024;

interface Run {
  rows: Uint32Array;
  length: number;
}

export class OrderedRows {
  readonly #compare: Compare;
  /** None is empty, but for the only one. */
  readonly #runs: Run[] = [runOf(new Uint32Array())];

  /** `compare` finds no two rows equal, and never thinks of them otherwise. */
  constructor(compare: Compare) {
    this.#compare = compare;
  }

  insert(row: number): void {
    const { run, index, place } = this.#find(row);
    if (run.length < longestRun) {
      putIn(run, place, row);
      return;
    }
    // At the end the next run starts with the new one alone, as more will come there.
    const kept = place === longestRun ? longestRun : longestRun / 2;
    const next = runOf(run.rows.subarray(kept));
    run.length = kept;
    this.#runs.splice(index + 1, 0, next);
    if (place < kept) putIn(run, place, row);
    else putIn(next, place - kept, row);
  }

  remove(row: number): void {
    const { run, index, place } = this.#find(row);
    run.rows.copyWithin(place, place + 1, run.length);
    run.length--;
    if (run.length === 0 && this.#runs.length > 1) this.#runs.splice(index, 1);
  }

  /** Of the rows that are meant, so many from one on. */
  among(mask: Mask, first: number, size: number): number[] {
    const found: number[] = [];
    let passed = 0;
    for (const { rows, length } of this.#runs) {
      for (let place = 0; place < length && found.length < size; place++) {
        const row = rows[place] ?? 0;
        if (mask[row] && passed++ >= first) found.push(row);
      }
    }
    return found;
  }

  /** Where a row is, or belongs. */
  #find(row: number): { run: Run; index: number; place: number } {
    const runs = this.#runs;
    let index = runs.length - 1;
    const last = runs[index] ?? runOf(new Uint32Array());
    // Rows come in about the order in which they were made, so most belong behind all others.
    if (last.length > 0 && this.#compare(last.rows[last.length - 1] ?? row, row) < 0) {
      return { run: last, index, place: last.length };
    }
    index = 0;
    for (let behind = runs.length; index + 1 < behind; ) {
      const middle = (index + behind) >> 1;
      if (this.#compare(runs[middle]?.rows[0] ?? row, row) > 0) behind = middle;
      else index = middle;
    }
    const run = runs[index] ?? last;
    let place = 0;
    for (let end = run.length; place < end; ) {
      const middle = (place + end) >> 1;
      if (this.#compare(run.rows[middle] ?? row, row) < 0) place = middle + 1;
      else end = middle;
    }
    return { run, index, place };
  }
}

function runOf(rows: Uint32Array): Run {
  const run = { rows: new Uint32Array(longestRun), length: rows.length };
  run.rows.set(rows);
  return run;
}

function putIn(run: Run, place: number, row: number): void {
  run.rows.copyWithin(place + 1, place, run.length);
  run.rows[place] = row;
  run.length++;
}
