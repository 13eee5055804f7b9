/** Tells which traces nobody knows: neither a call under way, nor the spool, nor the log store. */
import { readFile } from 'node:fs/promises';
import type { OpenTraces } from './open-traces.ts';
import type { LogFilter, LogQueries } from './query.ts';
import { tracesInSegment } from './segment.ts';
import type { Spool } from './spool.ts';
import type { Timer } from './timer.ts';

/** What is asked: traces of one workspace. */
export interface TraceQuestion {
  organisationId: string;
  workspaceId: string;
  traceIds: readonly string[];
}

interface Places {
  open: OpenTraces;
  spool: Spool;
  store: Pick<LogQueries, 'traces'>;
  /** The oldest call that still exists for readers. */
  since: number;
  now: number;
  /** True: other nodes write the store too, and what they have answered may be on its way. */
  shared: boolean;
  timer: Timer;
}

/** A search opens no more segments; with more of them it cannot say that a trace is nowhere. */
const segmentsSearched = 64;
const searches = 5;
/** Another node hands its records over after a second at the latest, and its importer stores them within another. */
const otherNodesMs = 2_500;
const pollMs = 250;
/** For so long after records were dropped, a trace that is nowhere may be one of theirs. */
const droppedMs = 600_000;

/** Where the places cannot all be searched, every trace counts as known. */
export async function unknownTraces(question: TraceQuestion, places: Places): Promise<string[]> {
  const sought = new Set(question.traceIds);
  const filter = filterOf(question, places);
  for (let search = 1; sought.size > 0 && search <= searches; search++) {
    const moved = await searchOurs(question.workspaceId, sought, places);
    if (moved === 'unsearchable' || !(await searchStore(filter, sought, places))) return [];
    // A segment that was imported while we looked may have held them: they are in the store by now.
    if (!moved) break;
  }
  if (sought.size === 0) return [];
  if (places.spool.hasDroppedSince(places.now - droppedMs)) return [];
  for (let waited = 0; places.shared && sought.size > 0 && waited < otherNodesMs; waited += pollMs) {
    await new Promise<void>((resolve) => void places.timer(pollMs, resolve));
    if (!(await searchStore(filter, sought, places))) return [];
  }
  return [...sought];
}

const filterOf = ({ organisationId, workspaceId }: TraceQuestion, { since }: Places): LogFilter => ({
  organisationId,
  scopes: [{ workspaceId, userId: null }],
  from: since,
  to: Number.MAX_SAFE_INTEGER,
});

/** Takes out what this node has; true where a segment went away meanwhile. */
async function searchOurs(
  workspaceId: string,
  sought: Set<string>,
  { open, spool }: Places,
): Promise<boolean | 'unsearchable'> {
  takeOut(sought, open.among(workspaceId, sought));
  if (sought.size > 0) takeOut(sought, spool.tracesInMemory(workspaceId, sought));
  const { segments } = spool;
  if (segments.length > segmentsSearched) return sought.size > 0 ? 'unsearchable' : false;
  let moved = false;
  for (const { path } of segments) {
    if (sought.size === 0) return false;
    const segment = await readFile(path).catch(() => null);
    if (segment) takeOut(sought, tracesInSegment(segment, workspaceId, sought));
    else moved = true;
  }
  return moved;
}

/** Takes out what the store has; false where it could not be asked. */
async function searchStore(filter: LogFilter, sought: Set<string>, { store }: Places): Promise<boolean> {
  if (sought.size === 0) return true;
  try {
    takeOut(sought, await store.traces({ ...filter, traceIds: [...sought] }));
    return true;
  } catch {
    // What it would have said is not known, so that nobody is refused; the importer tells the operator of a store that is away.
    return false;
  }
}

const takeOut = (sought: Set<string>, found: Iterable<string>): void => {
  for (const one of found) sought.delete(one);
};
