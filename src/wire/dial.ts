/** Makes connections: the name is looked up, the server reached, its certificate checked; until then all of it can be given up. */
import type { Socket, SocketHandler, TLSOptions } from 'bun';
import type { Abortable } from './abort.ts';
import type { Endpoint } from './address.ts';
import { Connection, type Keeper } from './connection.ts';
import { closedByServer, WireFault } from './fault.ts';

export function dial(endpoint: Endpoint, keeper: Keeper, signal: Abortable): Promise<Connection> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw signal.reason;
    const line = new Line(endpoint.key, keeper, signal, { resolve, reject });
    connect(endpoint, line).catch((fault) => line.fail(fault));
  });
}

/** The runtime throws at once what it can tell at once. */
async function connect({ hostname, port, tlsName }: Endpoint, data: Line): Promise<void> {
  if (tlsName === null) await Bun.connect({ hostname, port, data, socket: plain });
  else await Bun.connect({ hostname, port, data, socket: secured, tls: tlsFor(tlsName) });
}

/** The list that says HTTP/1.1 and nothing else, as it stands in a handshake. */
const protocols = Buffer.from('\x08http/1.1');

const tlsFor = (serverName: string): TLSOptions => ({ serverName, ALPNProtocols: protocols });

interface Outcome {
  resolve(connection: Connection): void;
  reject(fault: unknown): void;
}

const probedEveryMs = 60_000;

/** A socket from the first attempt to its end, with the connection that it becomes. */
class Line {
  connection: Connection | null = null;
  readonly #key: string;
  readonly #keeper: Keeper;
  #signal: Abortable | null;
  #outcome: Outcome | null;
  #socket: Socket<Line> | null = null;

  constructor(key: string, keeper: Keeper, signal: Abortable, outcome: Outcome) {
    this.#key = key;
    this.#keeper = keeper;
    this.#signal = signal;
    this.#outcome = outcome;
    signal.addEventListener('abort', this.#onAbort);
  }

  /** The server is there; over TLS its certificate is still to be seen. */
  reach(socket: Socket<Line>): void {
    this.#socket = socket;
    // Given up while nobody had answered yet.
    if (!this.#outcome) socket.terminate();
  }

  stand(socket: Socket<Line>): void {
    const outcome = this.#settle();
    if (!outcome) return;
    // Models think for minutes, and what stands between forgets connections that are silent for so long.
    socket.setKeepAlive(true, probedEveryMs);
    this.connection = new Connection(this.#key, socket, this.#keeper);
    outcome.resolve(this.connection);
  }

  fail(fault: unknown): void {
    const outcome = this.#settle();
    this.#socket?.terminate();
    outcome?.reject(fault);
  }

  readonly #onAbort = (): void => this.fail(this.#signal?.reason);

  #settle(): Outcome | null {
    const outcome = this.#outcome;
    this.#outcome = null;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    // A connection outlives the call that it was made for.
    this.#signal = null;
    return outcome;
  }
}

const plain: SocketHandler<Line> = {
  open(socket) {
    socket.data.reach(socket);
    socket.data.stand(socket);
  },
  // Each delivery is memory of its own.
  data: ({ data }, bytes) => data.connection?.received(bytes as Buffer<ArrayBuffer>),
  drain: ({ data }) => data.connection?.drained(),
  error: ({ data }, fault) => (data.connection ? data.connection.failed(fault) : data.fail(fault)),
  close: ({ data }, fault) =>
    data.connection ? data.connection.gone(fault ?? null) : data.fail(fault ?? closedByServer()),
  timeout: ({ data }) => data.connection?.expired(),
  // The promise tells.
  connectError: () => undefined,
};

const secured: SocketHandler<Line> = {
  ...plain,
  open: (socket) => socket.data.reach(socket),
  handshake(socket, authorized, fault) {
    if (authorized || process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') socket.data.stand(socket);
    else socket.data.fail(fault ?? new WireFault('CertificateRefused', 'the certificate was not accepted'));
  },
};
