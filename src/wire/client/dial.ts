/** Makes connections: the name is looked up, the server reached, its certificate checked; until then all of it can be given up. */
import type { Socket, SocketHandler, TLSOptions } from 'bun';
import type { Abortable } from '../abort.ts';
import { closedByServer, WireFault } from '../fault.ts';
import type { ServerAddress } from './address.ts';
import { Connection, type Keeper } from './connection.ts';
import { noFileIsLeft } from './open-files.ts';

export function dial(endpoint: ServerAddress, keeper: Keeper, signal: Abortable): Promise<Connection> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw signal.reason;
    const line = new Line(endpoint.key, keeper, signal, { resolve, reject });
    connect(endpoint, line).catch((fault) => line.failed(isRefusal(fault) && noFileIsLeft() ? tooManyFiles() : fault));
  });
}

/** The runtime throws at once what it can tell at once. */
async function connect({ hostname, port, tlsName }: ServerAddress, data: Line): Promise<void> {
  if (tlsName === null) await Bun.connect({ hostname, port, data, socket: plain });
  else await Bun.connect({ hostname, port, data, socket: secured, tls: tlsFor(tlsName) });
}

const isRefusal = (fault: unknown): boolean =>
  fault instanceof Error && 'code' in fault && fault.code === 'ECONNREFUSED';

const tooManyFiles = (): WireFault => new WireFault('TooManyOpenFiles', 'no further connection can be opened');

/** The list that says HTTP/1.1 and nothing else, as it stands in a handshake. */
const protocols = Buffer.from('\x08http/1.1');

const tlsFor = (serverName: string): TLSOptions => ({ serverName, ALPNProtocols: protocols });

interface Outcome {
  resolve(connection: Connection): void;
  reject(fault: unknown): void;
}

const probedEveryMs = 60_000;

/** What a socket is: a line, which hears nothing yet, and a connection from the moment that it stands. */
interface Held {
  failed(fault: unknown): void;
  gone(fault: Error | null): void;
  received?(bytes: Buffer<ArrayBuffer>): void;
  drained?(): void;
  expired?(): void;
}

/** A socket that is no connection yet. */
class Line implements Held {
  readonly #key: string;
  readonly #keeper: Keeper;
  #signal: Abortable | null;
  #outcome: Outcome | null;
  #socket: Socket<Held> | null = null;

  constructor(key: string, keeper: Keeper, signal: Abortable, outcome: Outcome) {
    this.#key = key;
    this.#keeper = keeper;
    this.#signal = signal;
    this.#outcome = outcome;
    signal.addEventListener('abort', this);
  }

  /** The server is there; over TLS its certificate is still to be seen. */
  reach(socket: Socket<Held>): void {
    this.#socket = socket;
    // Given up while nobody had answered yet.
    if (!this.#outcome) socket.terminate();
  }

  stand(socket: Socket<Held>): void {
    const outcome = this.#settle();
    if (!outcome) return;
    // Models think for minutes, and what stands between forgets connections that are silent for so long.
    socket.setKeepAlive(true, probedEveryMs);
    const connection = new Connection(this.#key, socket, this.#keeper);
    socket.data = connection;
    outcome.resolve(connection);
  }

  failed(fault: unknown): void {
    const outcome = this.#settle();
    this.#socket?.terminate();
    outcome?.reject(fault);
  }

  gone(fault: Error | null): void {
    this.failed(fault ?? closedByServer());
  }

  /** The call is given up. */
  handleEvent(): void {
    this.failed(this.#signal?.reason);
  }

  #settle(): Outcome | null {
    const outcome = this.#outcome;
    this.#outcome = null;
    this.#signal?.removeEventListener('abort', this);
    // A connection outlives the call that it was made for.
    this.#signal = null;
    return outcome;
  }
}

const plain: SocketHandler<Held> = {
  open(socket) {
    const { data } = socket;
    if (!(data instanceof Line)) return;
    data.reach(socket);
    data.stand(socket);
  },
  // Each delivery is memory of its own.
  data: ({ data }, bytes) => data.received?.(bytes as Buffer<ArrayBuffer>),
  drain: ({ data }) => data.drained?.(),
  error: ({ data }, fault) => data.failed(fault),
  close: ({ data }, fault) => data.gone(fault ?? null),
  timeout: ({ data }) => data.expired?.(),
  // The promise tells.
  connectError: () => undefined,
};

const secured: SocketHandler<Held> = {
  ...plain,
  open(socket) {
    if (socket.data instanceof Line) socket.data.reach(socket);
  },
  handshake(socket, authorized, fault) {
    const { data } = socket;
    if (!authorized && process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') {
      data.failed(fault ?? new WireFault('CertificateRefused', 'the certificate was not accepted'));
    } else if (data instanceof Line) {
      data.stand(socket);
    }
  },
};
