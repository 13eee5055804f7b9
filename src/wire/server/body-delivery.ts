/** A body that is made while it is sent: its pieces leave as they come, framed so that the client knows its end. */
import { lastChunk, type Outgoing } from '../http1/outgoing.ts';
import type { Sink } from './reply.ts';

/** Who is told how it ended. */
export interface DeliveredBody {
  delivered(): void;
  brokeOff(): void;
}

export class BodyDelivery implements Sink {
  readonly #outgoing: Outgoing;
  /** Waits for the first piece, so that the two travel together. */
  #head: string | null;
  readonly #inChunks: boolean;
  /** Of what was announced; null where the length is not known before. */
  #left: number | null;
  /** Null when it is over. */
  #told: DeliveredBody | null;

  constructor(outgoing: Outgoing, head: string, inChunks: boolean, length: number | null, told: DeliveredBody) {
    this.#outgoing = outgoing;
    this.#head = head;
    this.#inChunks = inChunks;
    this.#left = length;
    this.#told = told;
  }

  write(bytes: Uint8Array): Promise<void> | undefined {
    if (bytes.length === 0 || !this.#told) return undefined;
    if (this.#left !== null) {
      this.#left -= bytes.length;
      if (this.#left < 0) throw new Error('A body is longer than was announced');
    }
    const head = this.#head;
    this.#head = null;
    if (this.#inChunks) this.#outgoing.sendChunk(head ?? '', bytes);
    else if (head !== null) this.#outgoing.send(head, bytes);
    else this.#outgoing.write(bytes);
    return this.#outgoing.done ? undefined : this.#outgoing.room();
  }

  /** Nothing came with the head. */
  flush(): void {
    if (this.#head !== null) this.#outgoing.send(this.#head, null);
    this.#head = null;
  }

  end(): void {
    // It is shorter than was announced.
    if (this.#left !== null && this.#left > 0) {
      this.cut();
      return;
    }
    const told = this.#over();
    if (!told) return;
    this.flush();
    if (this.#inChunks) this.#outgoing.write(lastChunk);
    told.delivered();
  }

  /** Whoever made it has told why. */
  cut(): void {
    this.#over()?.brokeOff();
  }

  /** Answers whom to tell; nobody is told twice. */
  #over(): DeliveredBody | null {
    const told = this.#told;
    this.#told = null;
    return told;
  }
}
