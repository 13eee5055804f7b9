/** The messages of a frame's records: the length of their index, the index as JSON, and the kept bodies in its order. They go into the store as they are. */
import type { KeptBodies, LogBodies, LogMessage } from './record.ts';

/** UTF-16 to UTF-8 makes of one unit three bytes at most. */
export const bytesPerUnit = 3;
/** A longer body is kept as its size alone. */
export const bodyLimit = 16 * 1024 * 1024;

const slots = [
  'request',
  'transformedRequest',
  'response',
  'originalResponse',
  'hookResults',
  'finalRequest',
] as const satisfies (keyof LogBodies)[];

type Headers = LogMessage['headers'];

/** One message in the index: which it is, its content type, its size on the wire, how many bytes of it are kept (-1: it had none), and its headers or their place in the list of those. */
type IndexEntry = [slot: number, contentType: string, size: number, kept: number, headers: Headers | number];

interface Index {
  /** Those of requests: clients send the same ones again and again. */
  headers: Headers[];
  /** The messages of each record that has any. */
  messages: IndexEntry[][];
}

const readableType = /^text\/|json|xml|javascript|urlencoded|yaml|graphql/;

/** Bodies that no reader would see as text are not kept: a type that says nothing is given the chance. */
const isReadable = (contentType: string): boolean =>
  contentType === 'application/json' || contentType === '' || readableType.test(contentType.toLowerCase());

/** The body as far as it is kept. */
const keptBody = ({ body, contentType }: LogMessage): Uint8Array | null =>
  body !== null && body.length > 0 && body.length <= bodyLimit && isReadable(contentType) ? body : null;

const sizeOf = ({ body, size }: LogMessage): number => size ?? body?.length ?? 0;

/** Messages as a reader will get them, before they are written. */
export function keptBodies(messages: Partial<LogBodies>): KeptBodies {
  const kept: KeptBodies = {};
  for (const name of slots) {
    const message = messages[name];
    if (!message) continue;
    const { headers, contentType } = message;
    kept[name] = { headers, contentType, size: sizeOf(message), body: keptBody(message) };
  }
  return kept;
}

/** The messages of some records before they are written. */
export class MessageList {
  readonly #index: Index = { headers: [], messages: [] };
  readonly #bodies: Uint8Array[] = [];
  #bodyBytes = 0;
  #text = '';

  /** Answers the record's place; null where it has no messages. */
  add(messages: Partial<LogBodies>): number | null {
    const entries: IndexEntry[] = [];
    let slot = -1;
    for (const name of slots) {
      slot += 1;
      const message = messages[name];
      if (!message) continue;
      const body = keptBody(message);
      if (body) {
        this.#bodies.push(body);
        this.#bodyBytes += body.length;
      }
      const headers = slot === 0 ? this.#placeOf(message.headers) : message.headers;
      entries.push([slot, message.contentType, sizeOf(message), body ? body.length : -1, headers]);
    }
    return entries.length === 0 ? null : this.#index.messages.push(entries) - 1;
  }

  /** Readies them to be written, and answers how many bytes they need at most. */
  prepare(): number {
    if (this.#index.messages.length === 0) return 0;
    this.#text = JSON.stringify(this.#index);
    return 4 + this.#text.length * bytesPerUnit + this.#bodyBytes;
  }

  /** Writes them, prepared, into as many bytes, and answers where they end. */
  write(buffer: Buffer, start: number): number {
    if (this.#text === '') return start;
    const written = buffer.write(this.#text, start + 4);
    buffer.writeUInt32LE(written, start);
    let end = start + 4 + written;
    for (const body of this.#bodies) {
      buffer.set(body, end);
      end += body.length;
    }
    return end;
  }

  #placeOf(headers: Headers): number {
    const known = this.#index.headers.lastIndexOf(headers);
    return known === -1 ? this.#index.headers.push(headers) - 1 : known;
  }
}

/** The messages of one record, by its place among those of its frame. */
export function messagesAt(bytes: Buffer, place: number): KeptBodies {
  const { index, bodiesFrom } = indexIn(bytes);
  let at = bodiesFrom;
  for (const entries of index.messages.slice(0, place)) for (const [, , , kept] of entries) at += Math.max(kept, 0);
  return messagesOf(index.messages[place] ?? [], index, bytes, at).found;
}

/** The messages of a record whose bodies begin here, and where they end. */
function messagesOf(entries: readonly IndexEntry[], { headers }: Index, bytes: Buffer, start: number) {
  const found: KeptBodies = {};
  let end = start;
  for (const [slot, contentType, size, kept, named] of entries) {
    const body = kept < 0 ? null : bytes.subarray(end, end + kept);
    end += Math.max(kept, 0);
    const name = slots[slot];
    if (name)
      found[name] = { headers: typeof named === 'number' ? (headers[named] ?? {}) : named, contentType, size, body };
  }
  return { found, end };
}

/** The messages of every record that has any, in their order. */
export function everyMessage(bytes: Buffer): KeptBodies[] {
  const { index, bodiesFrom } = indexIn(bytes);
  let at = bodiesFrom;
  return index.messages.map((entries) => {
    const { found, end } = messagesOf(entries, index, bytes, at);
    at = end;
    return found;
  });
}

/** The same messages with some records' changed. */
export function replaceMessages(bytes: Buffer, change: (place: number, bodies: KeptBodies) => KeptBodies): Buffer {
  const list = new MessageList();
  for (const [place, bodies] of everyMessage(bytes).entries()) list.add(change(place, bodies));
  const buffer = Buffer.allocUnsafe(list.prepare());
  return buffer.subarray(0, list.write(buffer, 0));
}

function indexIn(bytes: Buffer): { index: Index; bodiesFrom: number } {
  const bodiesFrom = 4 + bytes.readUInt32LE(0);
  return { index: JSON.parse(bytes.toString('utf8', 4, bodiesFrom)) as Index, bodiesFrom };
}
