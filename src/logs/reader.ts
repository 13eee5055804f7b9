/** Finds a record wherever it is on its way: in memory, in the store, or in a segment between the two. */
import { SQLiteError } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { LogFinder } from './finder.ts';
import type { KeptRecord, LogReader } from './record.ts';
import { findInSegment } from './segment.ts';
import type { Spool, WaitingSegment } from './spool.ts';
import { withoutVectors } from './vectors.ts';

/** With the store away for long there are many segments; a search opens no more than these. */
const segmentsSearched = 64;
const searches = 5;
/** File systems tell the time of a write by a coarser clock than ids do. */
const clockSlackMs = 1_000;

export class SpoolAwareReader implements LogReader {
  readonly #spool: Spool;
  readonly #file: string;
  #finder: LogFinder | null = null;

  constructor(spool: Spool, file: string) {
    this.#spool = spool;
    this.#file = file;
  }

  async find(id: string): Promise<KeptRecord | null> {
    for (let search = 1; ; search++) {
      const fresh = this.#spool.inMemory(id);
      if (fresh) return clean(fresh);
      const stored = this.#inStore(id);
      if (stored) return stored;
      const { found, moved } = await searchSegments(this.#spool.segments, id);
      if (found) return clean(found);
      // A segment that was renamed or carried while we looked may have held it: it is further on its way now.
      if (!moved || search === searches) return this.#inStore(id);
    }
  }

  close(): void {
    this.#finder?.close();
  }

  #inStore(id: string): KeptRecord | null {
    if (!this.#finder) {
      if (!existsSync(this.#file)) return null;
      try {
        this.#finder = new LogFinder(this.#file);
      } catch (error) {
        // The carrier has made the file this very moment and not the tables yet.
        if (error instanceof SQLiteError && error.message.includes('no such table')) return null;
        throw error;
      }
    }
    return this.#finder.find(id);
  }
}

async function searchSegments(segments: readonly WaitingSegment[], id: string) {
  const madeAt = timeOf(id) - clockSlackMs;
  let moved = false;
  for (const { path } of segments.filter(({ until }) => until >= madeAt).slice(0, segmentsSearched)) {
    const segment = await readFile(path).catch(() => null);
    if (segment === null) moved = true;
    const found = segment && findInSegment(segment, id);
    if (found) return { found, moved };
  }
  return { found: null, moved };
}

/** When a time-ordered id was made; any other counts as old. */
function timeOf(id: string): number {
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return id[14] === '7' && !Number.isNaN(ms) ? ms : 0;
}

/** The carrier takes vectors out; what has not passed it yet must read the same. */
const clean = (record: KeptRecord): KeptRecord =>
  record.metrics.endpoint_type === 'embed' ? { ...record, bodies: withoutVectors(record.bodies) } : record;
