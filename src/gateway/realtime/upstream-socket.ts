/** The provider's side of a session: a WebSocket that holds what arrives until somebody listens. */
import { openClientSocket } from '../../wire/websocket/client-socket.ts';
import { isSendable } from '../../wire/websocket/close-frame.ts';
import type { SocketMessage } from '../../wire/websocket/relay.ts';
import { concealedText } from '../upstream/conceal.ts';

export interface UpstreamListener {
  message(frame: SocketMessage): void;
  /** Any sign of life, frames included. */
  alive(): void;
  /** It sends faster than its frames can be told, and cannot be held back. */
  flooded(): void;
  closed(code: number, reason: string): void;
}

export interface DialAddress {
  url: string;
  headers: Record<string, string>;
  protocols: readonly string[];
  /** The name on the certificate, where the address is a pinned one. */
  serverName: string | null;
}

/** What a session needs of its provider's side. */
export type ProviderSocket = Pick<
  UpstreamSocket,
  'listen' | 'protocol' | 'waiting' | 'paused' | 'send' | 'ping' | 'pause' | 'resume' | 'close' | 'terminate'
>;

/** An error, or something that holds one: only then may a provider repeat the credential. */
const isError = (frame: SocketMessage): frame is string => typeof frame === 'string' && frame.includes('"error"');

/** Frames that are told in one turn of the event loop; after them other work gets its turn. */
export const framesATurn = 64;
/** Frames that one read may bring besides; the runtime tells all of them, whether it is paused or not. */
const mostHeld = 4_096;

export class UpstreamSocket {
  readonly #socket: Bun.WebSocket;
  #listener: UpstreamListener | null = null;
  /** What came and was not told yet, in order. */
  #held: SocketMessage[] = [];
  #toldThisTurn = 0;
  #isTelling = false;
  #turnIsWatched = false;
  /** The session wants nothing for now. */
  #rests = false;
  #isGone = false;
  #isTold = false;
  #ended: { code: number; reason: string } | null = null;

  private constructor(socket: Bun.WebSocket, secrets: () => readonly string[]) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data: received }: MessageEvent<SocketMessage>) => {
      this.#take(isError(received) ? concealedText(received, secrets()) : received);
    });
    socket.addEventListener('pong', () => this.#listener?.alive());
    socket.addEventListener('close', ({ code, reason: given }: CloseEvent) => {
      const reason = given === '' ? '' : concealedText(given, secrets());
      this.#ended = { code, reason };
      this.#tellHeld();
    });
  }

  /** A frame is told in the turn in which it came, unless many others came before it. */
  #take(frame: SocketMessage): void {
    if (this.#isGone) return;
    const isNext = !this.#rests && !this.#isTelling && this.#held.length === 0;
    if (this.#listener && isNext && this.#toldThisTurn < framesATurn) {
      this.#tell(this.#listener, frame);
      return;
    }
    this.#held.push(frame);
    if (this.#held.length > mostHeld) {
      this.#listener?.flooded();
      this.terminate();
      return;
    }
    this.#socket.pause();
    this.#watchTurn();
  }

  #tell(listener: UpstreamListener, frame: SocketMessage): void {
    this.#toldThisTurn++;
    this.#watchTurn();
    listener.alive();
    listener.message(frame);
  }

  #watchTurn(): void {
    if (this.#turnIsWatched) return;
    this.#turnIsWatched = true;
    setImmediate(() => {
      this.#turnIsWatched = false;
      this.#toldThisTurn = 0;
      this.#tellHeld();
    });
  }

  /** As much as fits into this turn; the socket is read again once nothing waits. */
  #tellHeld(): void {
    const listener = this.#listener;
    // Whoever hears a frame may ask for the next; they keep their order.
    if (!listener || this.#isTelling) return;
    this.#isTelling = true;
    let told = 0;
    while (told < this.#held.length && !this.#rests && this.#toldThisTurn < framesATurn) {
      const frame = this.#held[told++];
      if (frame !== undefined) this.#tell(listener, frame);
    }
    this.#isTelling = false;
    if (told > 0) this.#held = this.#held.slice(told);
    if (this.#held.length > 0) {
      if (!this.#rests) this.#watchTurn();
      return;
    }
    if (this.#ended && !this.#isTold) {
      this.#isTold = true;
      listener.closed(this.#ended.code, this.#ended.reason);
    } else if (!this.#rests && !this.#ended && this.#socket.isPaused) this.#socket.resume();
  }

  /** Resolves when the provider has accepted; rejects with the error of the handshake, or with the reason of the signal. */
  static open(
    address: DialAddress,
    signal: AbortSignal,
    secrets: () => readonly string[] = () => [],
  ): Promise<UpstreamSocket> {
    const { url, headers, protocols, serverName } = address;
    const socket = openClientSocket(url, {
      headers,
      protocols: [...protocols],
      // The frames are speech or short; squeezing them again costs more than it saves.
      perMessageDeflate: false,
      ...(serverName !== null && { tls: { serverName } }),
    });
    const upstream = new UpstreamSocket(socket, secrets);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        reject(signal.reason);
        socket.terminate();
      };
      const settle = () => signal.removeEventListener('abort', giveUp);
      socket.addEventListener('open', () => {
        settle();
        // Until a listener is there nothing more is read, so that what is held stays small.
        socket.pause();
        resolve(upstream);
      });
      socket.addEventListener('error', ({ error }: ErrorEvent) => {
        settle();
        reject(error);
      });
      socket.addEventListener('close', ({ code }: CloseEvent) => {
        settle();
        reject(new Error(`Closed with ${code} before it opened`));
      });
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  listen(listener: UpstreamListener): void {
    this.#listener = listener;
    this.#tellHeld();
  }

  /** Calls this once when it has closed, however that came. */
  whenClosed(run: () => void): void {
    if (this.#ended) run();
    else this.#socket.addEventListener('close', run, { once: true });
  }

  /** The subprotocol that the provider chose, or empty. */
  get protocol(): string {
    return this.#socket.protocol;
  }

  /** Bytes that were sent and have not left yet. */
  get waiting(): number {
    return this.#socket.bufferedAmount;
  }

  get paused(): boolean {
    return this.#rests || this.#socket.isPaused;
  }

  send(frame: SocketMessage): void {
    this.#socket.send(frame);
  }

  ping(): void {
    this.#socket.ping();
  }

  pause(): void {
    this.#rests = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#rests = false;
    this.#tellHeld();
  }

  /** Passes a client's close frame on: its code and reason, or none. A client that disconnected without a close frame makes this connection be cut. */
  close(code: number, reason: string): void {
    if (code === 1006) this.terminate();
    else if (isSendable(code)) this.#socket.close(code, reason);
    else this.#socket.close();
  }

  /** Nothing more is told of it but its end. */
  terminate(): void {
    this.#isGone = true;
    this.#held = [];
    this.#socket.terminate();
  }
}
