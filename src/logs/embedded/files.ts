/** The files of the embedded log store: rows by the month of their call, bodies by the day on which they were written. Retention deletes whole files. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const dayMs = 86_400_000;
const rowsName = /^rows-(\d{4}-\d{2})\.db$/;
const bodiesName = /^bodies-(\d{4}-\d{2}-\d{2})\.db$/;
/** What SQLite keeps beside a file. */
const companions = ['-wal', '-shm', ''];

/** How long stored things are kept, in milliseconds. */
export interface Retention {
  bodyMs: number;
  rowMs: number;
}

export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const rowsFile = (folder: string, month: string): string => join(folder, `rows-${month}.db`);
export const bodiesFile = (folder: string, day: string): string => join(folder, `bodies-${day}.db`);
export const feedbackFile = (folder: string): string => join(folder, 'feedback.db');

const startOf = (month: string): number => Date.parse(`${month}-01T00:00:00Z`);

function endOf(month: string): number {
  const next = new Date(startOf(month));
  next.setUTCMonth(next.getUTCMonth() + 1);
  return next.getTime();
}

/** The months that have a file, oldest first. */
export const monthsIn = (folder: string): string[] => namesIn(folder, rowsName);

/** Of these months, those that can hold rows of the range. */
export const monthsWithin = (months: readonly string[], from: number, to: number): string[] =>
  months.filter((month) => endOf(month) > from && startOf(month) < to);

/** Deletes the files of which everything is older than it may be. */
export function deleteExpired(folder: string, now: number, { bodyMs, rowMs }: Retention): void {
  for (const month of monthsIn(folder)) if (endOf(month) < now - rowMs) remove(rowsFile(folder, month));
  for (const day of namesIn(folder, bodiesName)) {
    if (Date.parse(day) + dayMs < now - bodyMs) remove(bodiesFile(folder, day));
  }
}

function namesIn(folder: string, form: RegExp): string[] {
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder).flatMap((name) => form.exec(name)?.[1] ?? []);
  return found.sort();
}

function remove(file: string): void {
  for (const companion of companions) rmSync(file + companion, { force: true });
}
