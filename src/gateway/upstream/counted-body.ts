/** Bodies of answers that are gathered in memory, counted against the budget for bodies while they come. */
import type { ByteReader, ReadBytes } from '../../wire/client/answer.ts';
import { type Bytes, collected, type Look } from '../../wire/client/collected.ts';
import { type BodyLease, countedFrom, GrowingBody, type HoldBytes } from '../request/body-budget.ts';
import { endOfEvents } from '../streaming/sse.ts';

/** The whole of a body; every piece is counted before the next is read. */
export async function countedWhole(body: ByteReader, limit: number, hold: HoldBytes, look?: Look): Promise<Bytes> {
  const growing = new GrowingBody(hold);
  const bytes = await collected(body, limit, (piece) => {
    growing.add(piece.length);
    look?.(piece);
  });
  // One that came in a single piece was seen by nobody.
  growing.reach(bytes.length);
  return bytes;
}

/** An answer that somebody reads whole or event by event: what waits for its end is counted. */
export class CountedBody implements ByteReader {
  readonly #body: ByteReader;
  readonly #lease: BodyLease;
  readonly #events: GrowingBody | null;
  /** Bytes since the last event that is known to be whole. */
  #open = 0;

  constructor(body: ByteReader, lease: BodyLease, isEvents: boolean) {
    this.#body = body;
    this.#lease = lease;
    this.#events = isEvents ? new GrowingBody(lease.hold) : null;
  }

  async read(): Promise<ReadBytes> {
    try {
      const read = await this.#body.read();
      if (read.done) this.#lease.release();
      else if (this.#events) this.#count(read.value, this.#events);
      return read;
    } catch (fault) {
      await this.cancel().catch(() => undefined);
      throw fault;
    }
  }

  /** The largest event so far stays counted until the end, so that small pieces cost nothing. */
  #count(piece: Bytes, events: GrowingBody): void {
    this.#open += piece.length;
    if (this.#open < countedFrom) return;
    const end = endOfEvents(piece);
    if (end > 0) this.#open = piece.length - end;
    events.reach(this.#open);
  }

  cancel(): Promise<void> {
    this.#lease.release();
    return this.#body.cancel();
  }

  async whole(limit: number, look?: Look): Promise<Bytes> {
    try {
      return await countedWhole(this.#body, limit, this.#lease.hold, look);
    } finally {
      this.#lease.release();
    }
  }
}
