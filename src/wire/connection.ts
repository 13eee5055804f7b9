/** One connection to a server: a request at a time, for as long as both sides keep it open. */
import type { Socket, SocketHandler } from 'bun';
import type { Endpoint } from './address.ts';
import type { WireAnswer } from './answer.ts';
import { WireFault } from './fault.ts';
import type { Flow } from './incoming-body.ts';
import { Outgoing } from './outgoing.ts';
import { headOf, lengthOf, type WireRequest } from './request.ts';
import { Turn } from './turn.ts';

/** The server closed a connection that it had held open, before it said a word: it may not have seen the request. */
export class StaleConnection extends Error {}

/** Has the connections that wait for another request. */
export interface Keeper {
  keep(connection: Connection, seconds: number): void;
  /** It has closed, and is of no more use. */
  drop(connection: Connection): void;
}

export class Connection implements Flow {
  readonly key: string;
  readonly #outgoing = new Outgoing((bytes) => this.#socket?.write(bytes) ?? -1);
  readonly #keeper: Keeper;
  #socket: Socket<Connection> | null = null;
  #turn: Turn | null = null;
  #signal: AbortSignal | null = null;
  #reused = false;
  /** The request has been handed over to the last byte. */
  #sent = true;
  #fault: unknown = null;
  #opened: { resolve(): void; reject(fault: unknown): void } | null = null;

  private constructor(key: string, keeper: Keeper) {
    this.key = key;
    this.#keeper = keeper;
  }

  static open(endpoint: Endpoint, keeper: Keeper): Promise<Connection> {
    const { hostname, port, tlsName } = endpoint;
    const connection = new Connection(endpoint.key, keeper);
    return new Promise((resolve, reject) => {
      connection.#opened = { resolve: () => resolve(connection), reject };
      const options = { hostname, port, data: connection };
      const dialled =
        tlsName === null
          ? Bun.connect({ ...options, socket: plain })
          : Bun.connect({ ...options, socket: secured, tls: { serverName: tlsName } });
      dialled.catch(reject);
    });
  }

  ask(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const head = headOf(request);
    const turn = new Turn(this, request.method);
    this.#turn = turn;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
    if (signal.aborted) {
      this.#onAbort();
      return turn.answer;
    }
    const { body } = request;
    if (body instanceof ReadableStream) {
      this.#outgoing.send(head, null);
      this.#sendStream(body, lengthOf(request));
    } else {
      this.#outgoing.send(head, body);
    }
    return turn.answer;
  }

  /** Taken from among those that wait. */
  reuse(): void {
    this.#reused = true;
    this.#socket?.timeout(0);
  }

  /** Waits for another request, but not for ever. */
  rest(seconds: number): void {
    this.#socket?.timeout(seconds);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  abandon(): void {
    this.#break(new WireFault('ConnectionClosed', 'nobody waits for the answer'));
  }

  close(): void {
    const socket = this.#socket;
    this.#detach();
    socket?.terminate();
  }

  #sendStream(body: ReadableStream<Uint8Array>, length: number | null): void {
    this.#sent = false;
    this.#outgoing.sendStream(body, length).then(
      () => {
        this.#sent = true;
      },
      (fault) => this.#break(fault),
    );
  }

  readonly #onAbort = (): void => this.#break(this.#signal?.reason);

  #break(fault: unknown): void {
    const turn = this.#turn;
    this.#endTurn();
    this.close();
    turn?.break(fault);
  }

  #detach(): void {
    this.#socket = null;
    this.#outgoing.close();
    if (!this.#turn) this.#keeper.drop(this);
  }

  #endTurn(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#signal = null;
    this.#turn = null;
  }

  /** The connection stands. */
  opened(socket: Socket<Connection>): void {
    this.#socket = socket;
    this.#opened?.resolve();
    this.#opened = null;
  }

  refused(socket: Socket<Connection>, fault: Error): void {
    this.#opened?.reject(fault);
    this.#opened = null;
    socket.terminate();
  }

  received(bytes: Buffer<ArrayBuffer>): void {
    const turn = this.#turn;
    if (!turn) {
      // An answer that nobody asked for could be taken for the next one.
      this.close();
      return;
    }
    try {
      turn.receive(bytes);
    } catch (fault) {
      this.#break(fault);
      return;
    }
    if (!turn.over) return;
    this.#endTurn();
    const seconds = this.#sent && this.#outgoing.empty ? turn.worthKeeping : 0;
    if (seconds <= 0) {
      this.close();
      return;
    }
    this.#socket?.resume();
    this.#keeper.keep(this, seconds);
  }

  drained(): void {
    this.#outgoing.drain();
  }

  failed(fault: Error): void {
    this.#fault = fault;
  }

  gone(fault: Error | null): void {
    this.#opened?.reject(fault ?? new WireFault('ConnectionClosed', 'the server closed the connection'));
    this.#opened = null;
    this.#detach();
    const turn = this.#turn;
    this.#endTurn();
    const reason = fault ?? this.#fault;
    // A server that ends what had waited for too long closes it in order; a reset may be its answer to the request.
    if (turn?.silent && this.#reused && reason === null) turn.break(new StaleConnection());
    else turn?.closed(reason);
  }
}

const plain: SocketHandler<Connection> = {
  open: (socket) => socket.data.opened(socket),
  // Each delivery is memory of its own.
  data: (socket, bytes) => socket.data.received(bytes as Buffer<ArrayBuffer>),
  drain: (socket) => socket.data.drained(),
  error: (socket, fault) => socket.data.failed(fault),
  close: (socket, fault) => socket.data.gone(fault ?? null),
  timeout: (socket) => socket.data.close(),
  // The promise tells.
  connectError: () => undefined,
};

const secured: SocketHandler<Connection> = {
  ...plain,
  open: () => undefined,
  handshake(socket, authorized, fault) {
    if (authorized || process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') socket.data.opened(socket);
    else socket.data.refused(socket, fault ?? new WireFault('CertificateRefused', 'the certificate was not accepted'));
  },
};
