/** A line to another HTTP server of the tests that can be cut: calls are refused, or reach it and their answers are lost. */
import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface CutLine {
  /** The same address on our port. */
  url: string;
  /** `refuses`: nothing reaches the server. `loses answers`: everything reaches it, and nobody hears of it. */
  mode: 'carries' | 'refuses' | 'loses answers';
  /** Answers that were lost. */
  readonly lost: number;
  stop(): Promise<void>;
}

export async function startCutLine(target: string): Promise<CutLine> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let lost = 0;
  const server = createServer((incoming, response) => {
    if (line.mode === 'refuses') {
      incoming.socket.destroy();
      return;
    }
    const onward = request({
      hostname,
      port,
      path: incoming.url,
      method: incoming.method,
      headers: incoming.headers,
      agent: false,
    });
    onward.on('response', (answer) => {
      if (line.mode === 'loses answers') {
        answer.resume();
        answer.on('end', () => {
          lost += 1;
        });
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => incoming.socket.destroy());
    incoming.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = new URL(target);
  address.port = String((server.address() as AddressInfo).port);
  const line: CutLine = {
    url: address.href,
    mode: 'carries',
    get lost() {
      return lost;
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return line;
}
