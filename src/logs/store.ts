/** The two sides of a log store. An engine offers both; the spool feeds the one, the administration reads the other. */
import type { Retention } from './embedded/files.ts';
import type { LogQueries } from './query.ts';
import type { SegmentFrame } from './segment.ts';

/** The side that the importer writes. */
export interface LogWriter {
  /**
   * Stores the frames of a segment, all of which are taken before the first wait. The same segment may come again; its records are
   * stored once.
   */
  write(frames: Iterable<SegmentFrame>, segment: string): Promise<void>;
  /** Deletes what is older than it may be. */
  purge(now: number, retention: Retention): Promise<void>;
  close(): Promise<void>;
}

/** The side that everybody else reads. */
export interface OpenQueries extends LogQueries {
  close(): Promise<void>;
}
