/** What was spent, on this node's disk before it is forgotten: a killed process finds it again when it starts. */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { lazy } from '../lazy.ts';
import type { LedgerEntry } from './engine.ts';

export interface JournalSegment {
  id: string;
  entries: LedgerEntry[];
}

const line = lazy(() => z.tuple([z.string(), z.string(), z.number(), z.number(), z.number().nullable()]));
const ending = '.journal';

export class LimitJournal {
  readonly #folder: string;
  #open: { id: string; descriptor: number } | null = null;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** The segments that an earlier process left. */
  left(): JournalSegment[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(ending))
      .sort()
      .map((name) => ({ id: name.slice(0, -ending.length), entries: this.#read(name) }));
  }

  /** The system has the entries when this returns: what kills the process does not take them along. */
  append(entries: readonly LedgerEntry[]): void {
    this.#open ??= this.#begin();
    let text = '';
    for (const { counter, organisationId, epoch, amount, endsAt } of entries) {
      text += `${JSON.stringify([counter, organisationId, epoch, amount, endsAt])}\n`;
    }
    writeSync(this.#open.descriptor, text);
  }

  /** Ends the running segment, if there is one, and names it. */
  rotate(): string | null {
    if (!this.#open) return null;
    const { id, descriptor } = this.#open;
    this.#open = null;
    closeSync(descriptor);
    return id;
  }

  /** Its entries are in the ledger. */
  remove(id: string): void {
    unlinkSync(this.#path(id));
  }

  #begin(): { id: string; descriptor: number } {
    const id = Bun.randomUUIDv7();
    return { id, descriptor: openSync(this.#path(id), 'a', 0o600) };
  }

  #path(id: string): string {
    return join(this.#folder, id + ending);
  }

  #read(name: string): LedgerEntry[] {
    return readFileSync(join(this.#folder, name), 'utf8')
      .split('\n')
      .flatMap((text) => {
        const read = line().safeParse(parsed(text));
        if (!read.success) return [];
        const [counter, organisationId, epoch, amount, endsAt] = read.data;
        return [{ counter, organisationId, epoch, amount, endsAt }];
      });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The last line of a process that was killed while it wrote, or no line at all.
    return null;
  }
}
