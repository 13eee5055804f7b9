/** The form of a segment file: frames one after the other, each a batch of records with a check sum over all of it.
 *
 * A frame is its head (mark, length of the rows, length of the messages, check sum; 32 bits each), the rows, and the
 * messages. The rows are the JSON of `[contexts, rows]`. The messages are the length of their index, the index as
 * JSON, and the kept bodies in its order; this part goes into the store as it is.
 */
import { type Context, contextOf, metricsOf, type Row, rowOf, sameContext } from './layout.ts';
import type { KeptBodies, KeptRecord, LogBodies, LogMessage, LogMetrics, LogRecord } from './record.ts';

const mark = 0x314c_5747; // `GWL1` on disk
const headBytes = 16;
/** Records with other contexts than the first few are written with a context of their own; the store joins them again. */
const contextsCompared = 16;
/** UTF-16 to UTF-8 makes of one unit three bytes at most. */
const bytesPerUnit = 3;
/** A longer body is kept as its size alone. */
export const bodyLimit = 16 * 1024 * 1024;

const slots = ['request', 'transformedRequest', 'response', 'originalResponse'] as const satisfies (keyof LogBodies)[];

/** One message in the index: which it is, its content type, its size on the wire, how many bytes of it are kept (-1: it had none), its headers. */
type IndexEntry = [slot: number, contentType: string, size: number, kept: number, headers: LogMessage['headers']];

const readableType = /^text\/|json|xml|javascript|urlencoded|yaml|graphql/;

/** Bodies that no reader would see as text are not kept: a type that says nothing is given the chance. */
const isReadable = (contentType: string): boolean =>
  contentType === 'application/json' || contentType === '' || readableType.test(contentType.toLowerCase());

/** The body as far as it is kept. */
export const keptBody = ({ body, contentType }: LogMessage): Uint8Array | null =>
  body !== null && body.length > 0 && body.length <= bodyLimit && isReadable(contentType) ? body : null;

export const sizeOf = ({ body, size }: LogMessage): number => size ?? body?.length ?? 0;

/** Makes frames, each in the memory of the one before. */
export class FrameWriter {
  #buffer = Buffer.alloc(0);

  /** The frame of these records. It is good until the next call. */
  encode(records: readonly LogRecord[]): Buffer {
    const bodies: Uint8Array[] = [];
    const [rows, index] = describe(records, bodies);
    const rowsText = JSON.stringify(rows);
    const indexText = JSON.stringify(index);
    let most = headBytes + 4 + (rowsText.length + indexText.length) * bytesPerUnit;
    for (const body of bodies) most += body.length;
    const buffer = this.#reserve(most);
    const rowsEnd = headBytes + buffer.write(rowsText, headBytes);
    const end = index.length === 0 ? rowsEnd : writeMessages(buffer, rowsEnd, indexText, bodies);
    buffer.writeUInt32LE(mark, 0);
    buffer.writeUInt32LE(rowsEnd - headBytes, 4);
    buffer.writeUInt32LE(end - rowsEnd, 8);
    buffer.writeUInt32LE(Bun.hash.crc32(buffer.subarray(headBytes, end)), 12);
    return buffer.subarray(0, end);
  }

  #reserve(bytes: number): Buffer {
    // A giant batch leaves; its buffer should not stay.
    const tooSmall = this.#buffer.length < bytes;
    const tooLarge = this.#buffer.length > 4 * 1024 * 1024 && bytes < 1024 * 1024;
    if (tooSmall || tooLarge) this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, 1024 * 1024));
    return this.#buffer;
  }
}

/** The rows and the index of these records; the bodies to be kept are added to `bodies`. */
function describe(records: readonly LogRecord[], bodies: Uint8Array[]): [[Context[], Row[]], IndexEntry[][]] {
  const seen: LogMetrics[] = [];
  const contexts: Context[] = [];
  const rows: Row[] = [];
  const index: IndexEntry[][] = [];
  for (const { metrics, bodies: messages } of records) {
    let context = seen.findIndex((other) => sameContext(other, metrics));
    if (context === -1) {
      context = contexts.push(contextOf(metrics)) - 1;
      if (seen.length < contextsCompared) seen.push(metrics);
    }
    const entries = indexEntries(messages, bodies);
    rows.push(rowOf(metrics, context, entries.length === 0 ? null : index.push(entries) - 1));
  }
  return [[contexts, rows], index];
}

function indexEntries(messages: Partial<LogBodies>, bodies: Uint8Array[]): IndexEntry[] {
  const entries: IndexEntry[] = [];
  let slot = -1;
  for (const name of slots) {
    slot += 1;
    const message = messages[name];
    if (!message) continue;
    const body = keptBody(message);
    if (body) bodies.push(body);
    entries.push([slot, message.contentType, sizeOf(message), body ? body.length : -1, message.headers]);
  }
  return entries;
}

function writeMessages(buffer: Buffer, start: number, indexText: string, bodies: readonly Uint8Array[]): number {
  const written = buffer.write(indexText, start + 4);
  buffer.writeUInt32LE(written, start);
  let end = start + 4 + written;
  for (const body of bodies) {
    buffer.set(body, end);
    end += body.length;
  }
  return end;
}

export interface Frame {
  contexts: Context[];
  rows: Row[];
  /** Empty when no record of the frame has any. */
  messages: Buffer;
}

/** The frames of a segment up to its end or to the first that is not whole: a kill leaves such a tail. */
export function* framesIn(segment: Buffer): Generator<Frame> {
  for (let at = 0; at + headBytes <= segment.length; ) {
    const rowsEnd = at + headBytes + segment.readUInt32LE(at + 4);
    const end = rowsEnd + segment.readUInt32LE(at + 8);
    if (segment.readUInt32LE(at) !== mark || end > segment.length) return;
    if (Bun.hash.crc32(segment.subarray(at + headBytes, end)) !== segment.readUInt32LE(at + 12)) return;
    const [contexts, rows] = JSON.parse(segment.toString('utf8', at + headBytes, rowsEnd)) as [Context[], Row[]];
    yield { contexts, rows, messages: segment.subarray(rowsEnd, end) };
    at = end;
  }
}

/** The messages of one record, by its place among those of its frame. */
export function messagesAt(messages: Buffer, place: number): KeptBodies {
  const indexEnd = 4 + messages.readUInt32LE(0);
  const index = JSON.parse(messages.toString('utf8', 4, indexEnd)) as IndexEntry[][];
  let at = indexEnd;
  for (const entries of index.slice(0, place)) for (const [, , , kept] of entries) at += Math.max(kept, 0);
  const found: KeptBodies = {};
  for (const [slot, contentType, size, kept, headers] of index[place] ?? []) {
    const body = kept < 0 ? null : messages.subarray(at, at + kept);
    at += Math.max(kept, 0);
    const name = slots[slot];
    if (name) found[name] = { headers, contentType, size, body };
  }
  return found;
}

/** The same messages with some records' changed. */
export function replaceMessages(messages: Buffer, change: (place: number, bodies: KeptBodies) => KeptBodies): Buffer {
  const count = (JSON.parse(messages.toString('utf8', 4, 4 + messages.readUInt32LE(0))) as unknown[]).length;
  const bodies: Uint8Array[] = [];
  const index: IndexEntry[][] = [];
  for (let place = 0; place < count; place++)
    index.push(indexEntries(change(place, messagesAt(messages, place)), bodies));
  const indexText = JSON.stringify(index);
  const size = bodies.reduce((sum, body) => sum + body.length, 4 + indexText.length * bytesPerUnit);
  const buffer = Buffer.allocUnsafe(size);
  return buffer.subarray(0, writeMessages(buffer, 0, indexText, bodies));
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
