/** A server on bare sockets that accepts every WebSocket; what is said over it is the test's own. */
import type { Socket } from 'bun';
import { readFields } from '../../src/wire/http1/fields.ts';
import { acceptance } from '../../src/wire/websocket/handshake.ts';
import type { SocketMessage } from '../../src/wire/websocket/relay.ts';
import { ServerSocket } from '../../src/wire/websocket/server-socket.ts';
import type { CloseFrame } from '../providers/realtime.ts';

/** One accepted WebSocket. */
export interface Served {
  socket: ServerSocket;
  /** What came and was not sent back. */
  arrived: SocketMessage[];
  /** How often bytes of the client's have come. */
  deliveries: number;
  echoes: boolean;
  /** How often everything had left that had waited. */
  drains: number;
  /** How the client left. */
  closed: Promise<CloseFrame>;
  /** Nothing more is asked of the connection. */
  ended: Promise<void>;
}

export interface SocketServer {
  url: string;
  /** The next one that is accepted. */
  next(): Promise<Served>;
  /** Connections that are open. */
  open: number;
  stop(): void;
}

/** A connection before and after its handshake. */
interface Connection {
  head: Buffer;
  served: Served | null;
}

/** Takes the protocol that it is given; empty takes none. */
export function startSocketServer(protocol = ''): SocketServer {
  let accepted = Promise.withResolvers<Served>();
  const listener = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(line) {
        line.data = { head: Buffer.alloc(0), served: null };
        server.open++;
      },
      data(line, bytes) {
        const { served } = line.data;
        if (!served) return accept(line, bytes);
        served.deliveries++;
        served.socket.received(bytes);
      },
      drain: (line) => line.data.served?.socket.drained(),
      close(line) {
        server.open--;
        line.data.served?.socket.gone();
      },
    },
  });

  function accept(line: Socket<Connection>, bytes: Buffer): void {
    line.data.head = Buffer.concat([line.data.head, bytes]);
    const end = line.data.head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = line.data.head.toString('latin1', 0, end + 2);
    const fields = readFields(head, head.indexOf('\r\n') + 2);
    const answer = acceptance(head.slice(0, head.indexOf(' ')), fields ?? {}, { 'sec-websocket-protocol': protocol });
    if (answer === null) {
      line.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    line.write(answer);
    const served = serve(line);
    line.data.served = served;
    accepted.resolve(served);
    const rest = line.data.head.subarray(end + 4);
    if (rest.length > 0) served.socket.received(rest);
  }

  const server: SocketServer = {
    url: `ws://127.0.0.1:${listener.port}`,
    open: 0,
    async next() {
      const served = await accepted.promise;
      accepted = Promise.withResolvers();
      return served;
    },
    stop: () => listener.stop(true),
  };
  return server;
}

function serve(line: Socket<Connection>): Served {
  const closed = Promise.withResolvers<CloseFrame>();
  const ended = Promise.withResolvers<void>();
  const relay = {
    opened: () => undefined,
    message(frame: SocketMessage) {
      if (served.echoes) served.socket.send(frame);
      else served.arrived.push(frame);
    },
    drained: () => void served.drains++,
    closed: (code: number, reason: string) => closed.resolve({ code, reason }),
    dismissed: () => undefined,
  };
  const ways = {
    write: (bytes: Uint8Array) => line.write(bytes),
    pause: () => line.pause(),
    resume: () => line.resume(),
    end: () => line.end(),
    terminate: () => line.terminate(),
  };
  const socket = new ServerSocket(ways, relay, ended.resolve);
  const served: Served = {
    socket,
    arrived: [],
    deliveries: 0,
    echoes: true,
    drains: 0,
    closed: closed.promise,
    ended: ended.promise,
  };
  return served;
}
