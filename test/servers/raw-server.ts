/** A server on bare sockets: what it does with a connection is the test's own. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';

export interface RawServer {
  port: number;
  url: string;
  /** How many connections there were. */
  accepted: number;
  /** Those that are open. */
  open: Set<Socket>;
  stop(): void;
}

interface Manner {
  host?: string;
  tls?: TlsOptions;
}

export async function startRaw(
  serve: (socket: Socket | TLSSocket, index: number) => void,
  { host = '127.0.0.1', tls }: Manner = {},
): Promise<RawServer> {
  const open = new Set<Socket>();
  const accept = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // Whoever watches a connection break expects it to.
    socket.on('error', () => undefined);
    serve(socket, raw.accepted++);
  };
  const server = tls ? createTlsServer(tls, accept) : createServer(accept);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = {
    port,
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    accepted: 0,
    open,
    stop: () => {
      for (const socket of open) socket.destroy();
      // One that never got as far as being accepted would be waited for.
      server.close();
    },
  };
  return raw;
}

/** Calls back with each request that came whole: its head, and as much body as its length says. */
export function eachRequest(socket: Socket, answer: (head: string, body: Buffer) => void): void {
  let received: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = received.toString('latin1', 0, end + 4);
      const size = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
      if (received.length < end + 4 + size) return;
      const body = received.subarray(end + 4, end + 4 + size);
      received = received.subarray(end + 4 + size);
      answer(head, body);
    }
  });
}

export const said = (text: string, ...lines: string[]): string =>
  ['HTTP/1.1 200 OK', `content-length: ${Buffer.byteLength(text)}`, ...lines, '', text].join('\r\n');
