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

/** A counter gets a number in each segment, since its name is long and comes again with every call. */
const naming = lazy(() => z.tuple([z.number(), z.string(), z.string(), z.number(), z.number().nullable()]));
/** A counter's number, and what was spent of it. */
const spending = lazy(() => z.tuple([z.number(), z.number()]));
const ending = '.journal';

interface OpenSegment {
  id: string;
  descriptor: number;
  /** By the names of counters: the number of the epoch that came last. */
  numbers: Map<string, { epoch: number; number: number }>;
  named: number;
}

export class LimitJournal {
  readonly #folder: string;
  #open: OpenSegment | null = null;

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
    const { descriptor, numbers } = this.#open;
    let text = '';
    for (const { counter, organisationId, epoch, amount, endsAt } of entries) {
      let known = numbers.get(counter);
      if (known?.epoch !== epoch) {
        known = { epoch, number: this.#open.named++ };
        numbers.set(counter, known);
        text += `${JSON.stringify([known.number, counter, organisationId, epoch, endsAt])}\n`;
      }
      text += `[${known.number},${amount}]\n`;
    }
    writeSync(descriptor, text);
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

  #begin(): OpenSegment {
    const id = Bun.randomUUIDv7();
    return { id, descriptor: openSync(this.#path(id), 'a', 0o600), numbers: new Map(), named: 0 };
  }

  #path(id: string): string {
    return join(this.#folder, id + ending);
  }

  #read(name: string): LedgerEntry[] {
    const entries: LedgerEntry[] = [];
    const counters = new Map<number, Omit<LedgerEntry, 'amount'>>();
    for (const text of readFileSync(join(this.#folder, name), 'utf8').split('\n')) {
      const line = parsed(text);
      const spent = spending().safeParse(line);
      const known = spent.success && counters.get(spent.data[0]);
      if (known) entries.push({ ...known, amount: spent.data[1] });
      const named = naming().safeParse(line);
      if (!named.success) continue;
      const [number, counter, organisationId, epoch, endsAt] = named.data;
      counters.set(number, { counter, organisationId, epoch, endsAt });
    }
    return entries;
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
