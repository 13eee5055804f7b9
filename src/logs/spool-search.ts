/** Finds a record wherever it is on its way: in memory, in the store, or in a segment between the two. */
import { readFile } from 'node:fs/promises';
import type { LogQueries } from './query.ts';
import type { KeptRecord } from './record.ts';
import { findInSegment } from './segment.ts';
import type { Spool, WaitingSegment } from './spool.ts';
import { withoutVectors } from './vectors.ts';

/** With the store away for long there are many segments; a search opens no more than these. */
const segmentsSearched = 64;
const searches = 5;
/** File systems tell the time of a write by a coarser clock than ids do. */
const clockSlackMs = 1_000;

export async function findOnTheWay(spool: Spool, store: LogQueries, id: string): Promise<KeptRecord | null> {
  for (let search = 1; ; search++) {
    const fresh = spool.inMemory(id);
    if (fresh) return clean(fresh);
    const { found, moved } = await searchSegments(spool.segments, id);
    if (found) return clean(found);
    // A segment that was renamed or imported while we looked may have held it: it is further on its way now.
    if (!moved || search === searches) return store.find(id);
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

/** The importer takes vectors out; what has not passed it yet must read the same. */
const clean = (record: KeptRecord): KeptRecord =>
  record.metrics.endpoint_type === 'embed' ? { ...record, bodies: withoutVectors(record.bodies) } : record;
