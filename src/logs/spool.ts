/** Takes finished records and writes them to segment files, many at a time, before anything else happens to them. */
import { existsSync, renameSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { faultFields, type Log, throttled } from '../log.ts';
import { readySuffix } from './importer.ts';
import { keptBodies } from './messages.ts';
import type { KeptRecord, LogRecord, LogSink } from './record.ts';
import { Frames, findInSegment, tracesInSegment } from './segment.ts';
import { addTo, SpaceShares, type Tally } from './space-shares.ts';

export const openSuffix = '.open';
const flushDelayMs = 50;
const flushBytes = 256 * 1024;
/** So many records are read together, which costs each of them less. */
const framedTogether = 16;
/** What one write takes at most, but for a frame that is larger by itself. */
const batchBytes = 512 * 1024;
const segmentBytes = 4 * 1024 * 1024;
const segmentAgeMs = 1_000;
/** What may wait in memory while the disk does not take it; beyond this, records are dropped and counted. */
const waitingLimitBytes = 64 * 1024 * 1024;
/** What a record without its bodies takes, roughly. */
const recordBytes = 1_024;
/** How long a disk that took nothing is left alone. */
const restMs = 1_000;

/** A segment that the importer has not stored yet. */
export interface WaitingSegment {
  path: string;
  /** When the last record went into it, in ms since the epoch. */
  until: number;
}

/** A finished segment: when the last record went into it, and how large it is. */
interface ClosedSegment {
  until: number;
  bytes: number;
  /** How much of it belongs to whom; not known of segments of an earlier run. */
  tally?: Tally;
}

interface OpenSegment {
  name: string;
  file: FileHandle;
  bytes: number;
  records: number;
  openedAt: number;
  tally: Tally;
}

export class Spool implements LogSink {
  /** Records that could not be kept since the start. */
  dropped = 0;
  #droppedAt = Number.NEGATIVE_INFINITY;
  readonly #folder: string;
  readonly #warn: Log['warn'];
  readonly #onReady: (segment: string) => void;
  readonly #observe: ((record: LogRecord) => void) | null;
  readonly #waiting = new Map<string, ClosedSegment>();
  readonly #diskLimit: number;
  /** What the segments that wait take on the disk. */
  #waitingBytes = 0;
  /** Records that will make the next frame. */
  #gathered: LogRecord[] = [];
  #gatheredBytes = 0;
  #gatheredTally: Tally = new Map();
  /** What workspaces have in memory, and what on the disk. */
  readonly #memoryShares = new SpaceShares();
  readonly #diskShares = new SpaceShares();
  #filling = new Frames();
  /** Waits for the disk, oldest first. */
  #full: Frames[] = [];
  /** What `#filling` and `#full` hold. */
  #framedBytes = 0;
  /** The frames of the write under way. */
  #underway: Frames | null = null;
  /** Memory for the next frames. */
  #spare: Frames | null = null;
  #segment: OpenSegment | null = null;
  #drain: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #closed = false;
  #whenEmpty: (() => void)[] = [];
  /** True while segments are finished however young they are. */
  #handingOver = false;
  #restUntil = Number.NEGATIVE_INFINITY;

  constructor(
    folder: string,
    diskLimit: number,
    log: Log,
    onReady: (segment: string) => void,
    observe: ((record: LogRecord) => void) | null = null,
  ) {
    this.#observe = observe;
    this.#folder = folder;
    this.#diskLimit = diskLimit;
    this.#warn = throttled((message, fields) => log.warn(message, fields));
    this.#onReady = onReady;
  }

  append(record: LogRecord): void {
    const bytes = weightOf(record);
    const workspaceId = this.#workspaceOf(record);
    const refusal = this.#refusal(bytes, workspaceId);
    if (refusal !== null) {
      this.#observe?.(record);
      this.#drop(1, refusal);
      return;
    }
    this.#gathered.push(record);
    this.#gatheredBytes += bytes;
    addTo(this.#gatheredTally, workspaceId, bytes);
    this.#memoryShares.add(workspaceId, bytes);
    if (this.#gathered.length >= framedTogether || this.#gatheredBytes >= flushBytes) this.#frame();
    if (this.#framedBytes >= flushBytes) this.#flush();
    else this.#timer ??= setTimeout(this.#tick, flushDelayMs);
  }

  /** Why no further record can be taken; null when one can. What reached a file is kept: the newest give way. */
  #refusal(size: number, workspaceId: string): string | null {
    if (this.#closed) return 'the spool is closed';
    const inMemory = this.#framedBytes + this.#gatheredBytes + size;
    if (inMemory > waitingLimitBytes) return 'the disk is too slow';
    const onDisk = this.#waitingBytes + (this.#segment?.bytes ?? 0);
    if (onDisk + inMemory > this.#diskLimit) return 'the spool has reached LOG_SPOOL_MAX_BYTES';
    const over =
      this.#memoryShares.isOver(workspaceId, size, inMemory - size, waitingLimitBytes) ||
      this.#diskShares.isOver(workspaceId, size, onDisk + inMemory - size, this.#diskLimit);
    return over ? `the workspace ${workspaceId} has used up its share of the spool` : null;
  }

  /** One that cannot be worked out belongs to nobody. */
  #workspaceOf(record: LogRecord): string {
    try {
      return record.workspaceId ?? record.metrics.workspace_id;
    } catch {
      return '';
    }
  }

  /** A record that has not reached a file yet. */
  inMemory(id: string): KeptRecord | null {
    const fresh = this.#gathered.find(({ metrics }) => metrics.id === id);
    if (fresh) return { metrics: fresh.metrics, bodies: keptBodies(fresh.bodies) };
    for (const frames of this.#framesInMemory) {
      const found = findInSegment(frames.bytes, id);
      if (found) return found;
    }
    return null;
  }

  /** Those of these traces that a record belongs to which has not reached a file yet. */
  tracesInMemory(workspaceId: string, traceIds: ReadonlySet<string>): Set<string> {
    const found = new Set<string>();
    for (const record of this.#gathered) {
      if (!this.#isReadable(record) || this.#workspaceOf(record) !== workspaceId) continue;
      if (traceIds.has(record.metrics.trace_id)) found.add(record.metrics.trace_id);
    }
    for (const frames of this.#framesInMemory) {
      for (const traceId of tracesInSegment(frames.bytes, workspaceId, traceIds)) found.add(traceId);
    }
    return found;
  }

  get #framesInMemory(): Frames[] {
    return [this.#filling, ...this.#full, ...(this.#underway ? [this.#underway] : [])];
  }

  hasDroppedSince(moment: number): boolean {
    return this.#droppedAt >= moment;
  }

  /** The segments that hold what the store may not have yet, oldest first. */
  get segments(): WaitingSegment[] {
    const closed = [...this.#waiting].map(([name, { until }]) => ({ path: join(this.#folder, name), until }));
    if (!this.#segment) return closed;
    return [...closed, { path: join(this.#folder, this.#segment.name), until: Number.POSITIVE_INFINITY }];
  }

  /** Counts a segment of an earlier run among those that wait. */
  adopt(name: string, segment: ClosedSegment): void {
    this.#waiting.set(name, segment);
    this.#waitingBytes += segment.bytes;
  }

  forget(name: string): void {
    const segment = this.#waiting.get(name);
    this.#waitingBytes -= segment?.bytes ?? 0;
    if (segment?.tally) this.#diskShares.removeAll(segment.tally);
    this.#waiting.delete(name);
    if (this.#waiting.size > 0) return;
    for (const resolve of this.#whenEmpty) resolve();
    this.#whenEmpty = [];
  }

  /** Hands over what was appended so far, and resolves when no segment waits any longer. */
  async emptied(): Promise<void> {
    this.#handingOver = true;
    do {
      this.#frame();
      this.#flush();
      await this.#drain;
    } while ((this.#segment || this.#framedBytes > 0) && !this.#rests && !this.#closed);
    this.#handingOver = false;
    if (this.#waiting.size === 0) return;
    await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
  }

  /** Writes what is in memory and hands the last segment over. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#drain;
    this.#flush();
    await this.#drain;
    await this.#finishSegment();
  }

  readonly #tick = (): void => {
    this.#timer = null;
    this.#frame();
    this.#flush();
  };

  /** Puts what was gathered into a frame, while it is still at hand: later it would cost more to look at again. */
  #frame(): void {
    if (this.#gathered.length === 0) return;
    const records = this.#gathered.filter((record) => this.#isReadable(record));
    const tally = this.#gatheredTally;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#gatheredTally = new Map();
    if (records.length === 0) {
      this.#memoryShares.removeAll(tally);
      return;
    }
    if (this.#observe) for (const record of records) this.#observe(record);
    const frames = this.#filling;
    const before = frames.size;
    try {
      frames.add(records);
    } catch (error) {
      this.#memoryShares.removeAll(tally);
      this.#drop(records.length, error);
      return;
    }
    for (const [workspaceId, bytes] of tally) addTo(frames.tally, workspaceId, bytes);
    this.#framedBytes += frames.size - before;
    if (frames.size >= batchBytes) this.#turnOver();
  }

  /** What fills is full. */
  #turnOver(): void {
    this.#full.push(this.#filling);
    this.#filling = this.#spare ?? new Frames();
    this.#spare = null;
  }

  #flush(): void {
    this.#drain ??= this.#writeFramed().finally(() => {
      this.#drain = null;
      // While a segment is open something must finish it, traffic or none.
      const more = this.#framedBytes > 0 || this.#gathered.length > 0 || this.#segment !== null;
      if (more && !this.#closed) this.#timer ??= setTimeout(this.#tick, this.#nextTickMs());
    });
  }

  #nextTickMs(): number {
    if (this.#framedBytes > 0) return Math.max(flushDelayMs, this.#restUntil - performance.now());
    if (!this.#segment || this.#gathered.length > 0) return flushDelayMs;
    return Math.max(flushDelayMs, this.#segment.openedAt + segmentAgeMs - performance.now());
  }

  async #writeFramed(): Promise<void> {
    if (this.#closed) this.#frame();
    // While the disk rests it goes on filling, so that little takes no memory of its own.
    if (this.#filling.size > 0 && !this.#rests) this.#turnOver();
    while (this.#full.length > 0 && !this.#rests) {
      await this.#writeOldest();
      if (this.#segment && this.#segment.bytes >= segmentBytes) await this.#finishSegment();
    }
    const age = this.#segment ? performance.now() - this.#segment.openedAt : 0;
    if (age >= segmentAgeMs || (this.#handingOver && !this.#rests)) await this.#finishSegment();
  }

  get #rests(): boolean {
    return !this.#closed && performance.now() < this.#restUntil;
  }

  async #writeOldest(): Promise<void> {
    const frames = this.#full.shift();
    if (!frames) return;
    this.#underway = frames;
    this.#framedBytes -= frames.size;
    try {
      await this.#write(frames);
      this.#memoryShares.removeAll(frames.tally);
      frames.clear();
      this.#spare = frames;
    } catch (error) {
      await this.#finishSegment();
      if (this.#closed) {
        this.#memoryShares.removeAll(frames.tally);
        this.#drop(frames.records, error);
      } else this.#putBack(frames, error);
    }
    this.#underway = null;
  }

  /** A full disk may be emptied: what it did not take waits as long as memory allows. */
  #putBack(frames: Frames, cause: unknown): void {
    this.#full.unshift(frames);
    this.#framedBytes += frames.size;
    this.#restUntil = performance.now() + restMs;
    this.#warn('The spool takes no records; they wait in memory until it does.', faultFields(cause));
  }

  /** A record may be worked out only now; one that cannot be is dropped alone. */
  #isReadable(record: LogRecord): boolean {
    try {
      return record.metrics !== undefined && record.bodies !== undefined;
    } catch (error) {
      this.#drop(1, error);
      return false;
    }
  }

  async #write({ bytes, records, tally }: Frames): Promise<void> {
    this.#segment ??= await this.#openSegment();
    const { file } = this.#segment;
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
    this.#segment.bytes += bytes.length;
    this.#segment.records += records;
    for (const [workspaceId, share] of tally) addTo(this.#segment.tally, workspaceId, share);
    this.#diskShares.addAll(tally);
  }

  async #openSegment(): Promise<OpenSegment> {
    // Made again where someone removed it while we ran.
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const name = Bun.randomUUIDv7() + openSuffix;
    const file = await open(join(this.#folder, name), 'ax', 0o600);
    return { name, file, bytes: 0, records: 0, openedAt: performance.now(), tally: new Map() };
  }

  /** A segment is finished when it is full or old, and after a failed write: what follows a torn frame is never read. */
  async #finishSegment(): Promise<void> {
    const segment = this.#segment;
    if (!segment) return;
    const ready = segment.name.slice(0, -openSuffix.length) + readySuffix;
    try {
      // A disk that cannot sync still has what was written; the importer reads as far as it is whole.
      await segment.file.datasync().catch((error) => this.#warn('The spool could not be synced.', faultFields(error)));
      await segment.file.close();
      renameSync(join(this.#folder, segment.name), join(this.#folder, ready));
      this.adopt(ready, { until: Date.now(), bytes: segment.bytes, tally: segment.tally });
      this.#onReady(ready);
    } catch (error) {
      if (existsSync(join(this.#folder, segment.name))) {
        this.#warn('A segment of the spool could not be finished; the next start looks for it.', faultFields(error));
      } else {
        this.#diskShares.removeAll(segment.tally);
        this.#drop(segment.records, error);
      }
    }
    this.#segment = null;
  }

  #drop(count: number, cause: unknown): void {
    this.dropped += count;
    this.#droppedAt = Date.now();
    this.#warn('Log records are dropped; requests go on.', {
      dropped_since_start: this.dropped,
      ...faultFields(cause),
    });
  }
}

const weightOf = (record: LogRecord): number => recordBytes + (record.weight ?? bytesOf(record.bodies));

function bytesOf(bodies: LogRecord['bodies']): number {
  const { request, transformedRequest, response, originalResponse, finalRequest } = bodies;
  return (
    (request?.body?.length ?? 0) +
    (transformedRequest?.body?.length ?? 0) +
    (response?.body?.length ?? 0) +
    (originalResponse?.body?.length ?? 0) +
    (finalRequest?.body?.length ?? 0)
  );
}
