/** One connection to a server: a request at a time, for as long as both sides keep it open. */
import type { Socket } from 'bun';
import type { Abortable } from '../abort.ts';
import { closedByServer, WireFault } from '../fault.ts';
import type { Flow } from '../http1/incoming-body.ts';
import { Outgoing } from '../http1/outgoing.ts';
import type { WireAnswer } from './answer.ts';
import type { WireRequest } from './request.ts';
import { ResponseReader } from './response-reader.ts';

/** Has the connections that wait for another request. */
export interface Keeper {
  keep(connection: Connection, seconds: number): void;
  /** It has closed, and is of no more use. */
  drop(connection: Connection): void;
  now(): number;
  /** A request of this tenant is over, however it ended. */
  release(tenant: string): void;
  /** Once more, over a connection that nobody has used. */
  replay(request: WireRequest, signal: Abortable): Promise<WireAnswer>;
}

/** A server that closes a waiting connection within this long of a request had begun to before the request came. */
const unseenMs = 100;

export class Connection implements Flow {
  readonly key: string;
  readonly #keeper: Keeper;
  readonly #socket: Socket<unknown>;
  readonly #outgoing: Outgoing;
  #closed = false;
  #paused = false;
  #turn: ResponseReader | null = null;
  #signal: Abortable | null = null;
  /** Whose share of the connections it takes. */
  #tenant: string | null = null;
  /** As long as it may have to be asked anew. */
  #request: WireRequest | null = null;
  /** When it was asked, where it had been asked before. */
  #askedAgainAt = Number.NEGATIVE_INFINITY;
  /** Until when it waits for another request. */
  #restsUntil: number | null = null;

  constructor(key: string, socket: Socket<unknown>, keeper: Keeper) {
    this.key = key;
    this.#keeper = keeper;
    this.#socket = socket;
    this.#outgoing = new Outgoing(socket);
  }

  /** A request that may be replayed is, once and over another connection, where the server closes one that it had held open in the very moment of asking. */
  ask(request: WireRequest, signal: Abortable): Promise<WireAnswer> {
    const turn = new ResponseReader(this, request.method);
    this.#turn = turn;
    this.#signal = signal;
    this.#request = request;
    this.#tenant = request.tenant;
    signal.addEventListener('abort', this);
    if (signal.aborted || this.#closed) {
      this.#break(signal.aborted ? signal.reason : closedByServer());
      return turn.answer;
    }
    const { head, body } = request;
    if (body instanceof ReadableStream) {
      this.#outgoing.send(head, null);
      this.#outgoing.sendStream(body, request.length).catch((fault) => this.#break(fault));
    } else {
      this.#outgoing.send(head, body);
    }
    return turn.answer;
  }

  /** Waits for another request, but not for ever. */
  rest(seconds: number): void {
    this.#restsUntil = this.#keeper.now() + seconds * 1_000;
    this.#socket.timeout(seconds);
  }

  /** Taken from among those that wait. False when it has waited for too long. */
  wake(): boolean {
    const now = this.#keeper.now();
    const fresh = this.#restsUntil !== null && now < this.#restsUntil;
    this.#restsUntil = null;
    this.#askedAgainAt = now;
    if (fresh) this.#socket.timeout(0);
    else this.close();
    return fresh;
  }

  pause(): void {
    this.#paused = true;
    if (!this.#closed) this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.#closed) this.#socket.resume();
  }

  abandon(): void {
    this.#break(new WireFault('ConnectionClosed', 'nobody waits for the answer'));
  }

  /** In order, when there is nothing more to say. */
  close(): void {
    if (this.#closed) return;
    this.#leave();
    // Over TLS the server is to say goodbye too; the runtime waits for that no longer than some seconds.
    this.#socket.end();
  }

  received(bytes: Buffer<ArrayBuffer>): void {
    const turn = this.#turn;
    if (!turn) {
      // An answer that nobody asked for could be taken for the next one.
      this.close();
      return;
    }
    this.#request = null;
    try {
      turn.receive(bytes);
    } catch (fault) {
      this.#break(fault);
      return;
    }
    if (turn.over && this.#turn === turn) this.#finish(turn);
  }

  /** It has waited for as long as it may. */
  expired(): void {
    if (this.#restsUntil !== null) this.close();
  }

  drained(): void {
    this.#outgoing.drain();
  }

  failed(fault: unknown): void {
    this.#break(fault);
  }

  gone(fault: Error | null): void {
    const turn = this.#turn;
    const request = this.#request;
    const signal = this.#signal;
    this.#leave();
    // A server that ends what had waited for too long closes it in order; a reset may be its answer to the request.
    const unseen = fault === null && turn?.silent && this.#keeper.now() - this.#askedAgainAt < unseenMs;
    if (unseen && request?.replayable && signal) turn?.redo(this.#keeper.replay(request, signal));
    else turn?.closed(fault);
  }

  /** The call is given up. */
  handleEvent(): void {
    this.#break(this.#signal?.reason);
  }

  #finish(turn: ResponseReader): void {
    this.#endTurn();
    if (!this.#outgoing.done) {
      this.#cut();
      return;
    }
    const seconds = turn.worthKeeping;
    if (seconds <= 0) {
      this.close();
      return;
    }
    if (this.#paused) this.resume();
    this.#keeper.keep(this, seconds);
  }

  #break(fault: unknown): void {
    const turn = this.#turn;
    this.#endTurn();
    this.#cut();
    turn?.break(fault);
  }

  /** At once, whatever is on its way. */
  #cut(): void {
    if (this.#closed) return;
    this.#leave();
    this.#socket.terminate();
  }

  #leave(): void {
    this.#closed = true;
    this.#endTurn();
    this.#outgoing.close();
    if (this.#restsUntil !== null) this.#keeper.drop(this);
    this.#restsUntil = null;
  }

  #endTurn(): void {
    this.#signal?.removeEventListener('abort', this);
    this.#signal = null;
    this.#request = null;
    this.#turn = null;
    if (this.#tenant !== null) this.#keeper.release(this.#tenant);
    this.#tenant = null;
  }
}
