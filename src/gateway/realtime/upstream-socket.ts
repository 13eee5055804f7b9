/** The provider's side of a session: a WebSocket that holds what arrives until somebody listens. */
import { isSendable } from '../../wire/websocket/close-frame.ts';
import type { SocketMessage } from '../../wire/websocket/relay.ts';
import { concealedText } from '../upstream/conceal.ts';

export interface UpstreamListener {
  message(frame: SocketMessage): void;
  /** Any sign of life, frames included. */
  alive(): void;
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

/** Bun's client can send headers and pause; its type is hidden by the browser's, which can do neither. */
const BunWebSocket = WebSocket as unknown as new (url: string, options: Bun.WebSocketOptions) => Bun.WebSocket;

/** An error, or something that holds one: only then may a provider repeat the credential. */
const isError = (frame: SocketMessage): frame is string => typeof frame === 'string' && frame.includes('"error"');

export class UpstreamSocket {
  readonly #socket: Bun.WebSocket;
  #listener: UpstreamListener | null = null;
  #held: SocketMessage[] = [];
  #ended: { code: number; reason: string } | null = null;

  private constructor(socket: Bun.WebSocket, secrets: () => readonly string[]) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data: received }: MessageEvent<SocketMessage>) => {
      const data = isError(received) ? concealedText(received, secrets()) : received;
      this.#listener?.alive();
      if (this.#listener) this.#listener.message(data);
      else this.#held.push(data);
    });
    socket.addEventListener('pong', () => this.#listener?.alive());
    socket.addEventListener('close', ({ code, reason: given }: CloseEvent) => {
      const reason = given === '' ? '' : concealedText(given, secrets());
      this.#ended = { code, reason };
      this.#listener?.closed(code, reason);
    });
  }

  /** Resolves when the provider has accepted; rejects with the error of the handshake, or with the reason of the signal. */
  static open(
    address: DialAddress,
    signal: AbortSignal,
    secrets: () => readonly string[] = () => [],
  ): Promise<UpstreamSocket> {
    const { url, headers, protocols, serverName } = address;
    const socket = new BunWebSocket(url, {
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
    for (const frame of this.#held) listener.message(frame);
    this.#held = [];
    if (this.#ended) listener.closed(this.#ended.code, this.#ended.reason);
    else this.#socket.resume();
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
    return this.#socket.isPaused;
  }

  send(frame: SocketMessage): void {
    this.#socket.send(frame);
  }

  ping(): void {
    this.#socket.ping();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Passes a client's close frame on: its code and reason, or none. A client that disconnected without a close frame makes this connection be cut. */
  close(code: number, reason: string): void {
    if (code === 1006) this.#socket.terminate();
    else if (isSendable(code)) this.#socket.close(code, reason);
    else this.#socket.close();
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
