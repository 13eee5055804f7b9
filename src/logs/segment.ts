/** The form of a segment file: frames one after the other, each a batch of records with a check sum over all of it.
 *
 * A frame is its head (mark, length of the rows, length of the messages, check sum; 32 bits each), the rows as the JSON
 * of `[contexts, rows, previews]`, and the messages.
 */
import { type Context, contextOf, metricsOf, type Row, rowOf, sameContext, traceOf, workspaceAt } from './layout.ts';
import { bytesPerUnit, MessageList, messagesAt } from './messages.ts';
import { type KnownPreviews, knownPreviewsOf, type Previews } from './preview.ts';
import type { KeptRecord, LogMetrics, LogRecord } from './record.ts';
import type { Tally } from './space-shares.ts';

const mark = 0x314c_5747; // `GWL1` on disk
const markBytes = Buffer.from('GWL1');
export const headBytes = 16;
/** Records with other contexts than the first few are written with a context of their own; the store joins them again. */
const contextsCompared = 16;
const usualBytes = 512 * 1024;

/** Frames that were made and not written yet. */
export class Frames {
  /** How many records they hold. */
  records = 0;
  /** How much of them belongs to whom, roughly. */
  tally: Tally = new Map();
  #buffer = Buffer.alloc(0);
  #end = 0;

  get size(): number {
    return this.#end;
  }

  /** Good until another frame is added. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  /** Adds the frame of these records. */
  add(records: readonly LogRecord[]): void {
    const messages = new MessageList();
    const rowsText = JSON.stringify(rowsOf(records, messages));
    const start = this.#end;
    const buffer = this.#reserve(start + headBytes + rowsText.length * bytesPerUnit + messages.prepare());
    const rowsStart = start + headBytes;
    const rowsEnd = rowsStart + buffer.write(rowsText, rowsStart);
    const end = messages.write(buffer, rowsEnd);
    buffer.writeUInt32LE(mark, start);
    buffer.writeUInt32LE(rowsEnd - rowsStart, start + 4);
    buffer.writeUInt32LE(end - rowsEnd, start + 8);
    buffer.writeUInt32LE(Bun.hash.crc32(buffer.subarray(rowsStart, end)), start + 12);
    this.#end = end;
    this.records += records.length;
  }

  /** Forgets them. The memory stays for others, unless a giant has been in it. */
  clear(): void {
    this.#end = 0;
    this.records = 0;
    this.tally = new Map();
    if (this.#buffer.length > 2 * usualBytes) this.#buffer = Buffer.alloc(0);
  }

  #reserve(bytes: number): Buffer {
    if (this.#buffer.length < bytes) {
      const larger = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#buffer.length, usualBytes));
      this.#buffer.copy(larger, 0, 0, this.#end);
      this.#buffer = larger;
    }
    return this.#buffer;
  }
}

function rowsOf(records: readonly LogRecord[], messages: MessageList): FrameRows {
  const seen: LogMetrics[] = [];
  const contexts: Context[] = [];
  const rows: Row[] = [];
  const previews: KnownPreviews[] = [];
  for (const { metrics, bodies } of records) {
    let context = seen.findIndex((other) => sameContext(other, metrics));
    if (context === -1) {
      context = contexts.push(contextOf(metrics)) - 1;
      if (seen.length < contextsCompared) seen.push(metrics);
    }
    const place = messages.add(bodies);
    if (place !== null) previews.push(knownPreviewsOf(bodies));
    rows.push(rowOf(metrics, context, place));
  }
  return [contexts, rows, previews];
}

type FrameRows = [contexts: Context[], rows: Row[], previews?: KnownPreviews[]];

export interface SegmentFrame {
  contexts: Context[];
  rows: Row[];
  /** By the places of messages; empty in what an older release wrote. */
  previews: KnownPreviews[];
  /** Empty when no record of the frame has any. */
  messages: Buffer;
  /** By the row: where its messages lie, if they lie in an object store. */
  objects?: readonly (StoredObject | null)[];
}

/** Messages in an object store, and the beginnings of what they say. */
export interface StoredObject extends Previews {
  path: string;
}

/** The frames of a segment up to its end or to the first that is not whole: a kill leaves such a tail. */
export function* framesIn(segment: Buffer): Generator<SegmentFrame> {
  for (let at = 0; at + headBytes <= segment.length; ) {
    const end = at + frameLength(segment, at);
    const frame = end > segment.length ? null : frameAt(segment, at);
    if (!frame) return;
    yield frame;
    at = end;
  }
}

/** The frames behind a damaged one: each is found by its mark and counts where its check sum is right. */
export function* framesBehindDamage(rest: Buffer): Generator<SegmentFrame> {
  for (let at = rest.indexOf(markBytes, 1); at !== -1; ) {
    const length = at + headBytes <= rest.length ? frameLength(rest, at) : Number.POSITIVE_INFINITY;
    const frame = at + length <= rest.length ? frameAt(rest, at) : null;
    if (frame) yield frame;
    at = rest.indexOf(markBytes, frame ? at + length : at + 1);
  }
}

/** True for what a kill in the middle of a write leaves: the beginning of a frame. */
export const isTorn = (rest: Buffer): boolean =>
  rest.length < headBytes || (rest.readUInt32LE(0) === mark && frameLength(rest, 0) > rest.length);

/** By its head. Where that is none, nobody knows. */
export function frameLength(segment: Buffer, at: number): number {
  if (segment.readUInt32LE(at) !== mark) return Number.POSITIVE_INFINITY;
  return headBytes + segment.readUInt32LE(at + 4) + segment.readUInt32LE(at + 8);
}

/** The frame that begins here and is here to its end; null where its check sum is wrong. */
export function frameAt(segment: Buffer, at: number): SegmentFrame | null {
  const rowsStart = at + headBytes;
  const rowsEnd = rowsStart + segment.readUInt32LE(at + 4);
  const end = at + frameLength(segment, at);
  if (Bun.hash.crc32(segment.subarray(rowsStart, end)) !== segment.readUInt32LE(at + 12)) return null;
  const [contexts, rows, previews = []] = JSON.parse(segment.toString('utf8', rowsStart, rowsEnd)) as FrameRows;
  return { contexts, rows, previews, messages: segment.subarray(rowsEnd, end) };
}

/** Those of these traces that a record of the workspace in the segment belongs to. */
export function tracesInSegment(segment: Buffer, workspaceId: string, traceIds: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  // As in the search for one record: most segments hold none of them.
  if (![...traceIds].some((id) => segment.includes(JSON.stringify(id)))) return found;
  for (const { contexts, rows } of framesIn(segment)) {
    for (const row of rows) {
      const traceId = traceOf(row);
      if (traceIds.has(traceId) && contexts[row[0]]?.[workspaceAt] === workspaceId) found.add(traceId);
    }
  }
  return found;
}

/** The record with this id, if the segment has it. */
export function findInSegment(segment: Buffer, id: string): KeptRecord | null {
  // Most segments do not hold it; looking for the bytes is far cheaper than parsing them all.
  if (!segment.includes(id)) return null;
  for (const { contexts, rows, messages } of framesIn(segment)) {
    for (const row of rows) {
      const context = contexts[row[0]];
      const [, place, rowId] = row;
      if (rowId !== id || !context) continue;
      return { metrics: metricsOf(context, row), bodies: place === null ? {} : messagesAt(messages, place) };
    }
  }
  return null;
}
