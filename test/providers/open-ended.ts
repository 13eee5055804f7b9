/** A provider that gets each call as it arrives, unread, so that a test can read slowly, answer early or watch a connection close. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

type Answering = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface OpenEndedProvider {
  /** The address to save as custom host, version segment included. */
  url: string;
  /** How the next calls are answered. */
  answer(answering: Answering): void;
  stop(): Promise<void>;
}

export async function startOpenEnded(): Promise<OpenEndedProvider> {
  let answering: Answering = (_, response) => void response.end();
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => void answering(request, response));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Whoever watches a connection break expects it to.
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    answer: (next) => {
      answering = next;
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Resolves when the caller has closed the connection of this call. */
export const abandoned = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    response.on('close', () => {
      if (!response.writableFinished) resolve();
    });
  });
