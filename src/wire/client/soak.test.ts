import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eachRequest, type RawServer, startRaw } from '../../../test/servers/raw-server.ts';
import { ask, bodyOf, until } from '../../../test/servers/wire-calls.ts';
import { collected } from './collected.ts';
import { decodedBody } from './decoded.ts';
import { HttpClient } from './http-client.ts';

const calls = 20_000;
const atOnce = 200;

/** Each answers with the call's own id, long enough to come in several pieces now and then. */
const manners: readonly ((socket: Socket, id: string) => void)[] = [
  (socket, id) => socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: ${id.length}\r\n\r\n${id}`),
  (socket, id) => {
    socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ntransfer-encoding: chunked\r\n\r\n`);
    for (const letter of id) socket.write(`1\r\n${letter}\r\n`);
    setImmediate(() => socket.write('0\r\n\r\n'));
  },
  (socket, id) => {
    const text = id.repeat(10_000);
    socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
  },
  (socket, id) => {
    const packed = gzipSync(id);
    socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-encoding: gzip\r\n`);
    socket.write(`content-length: ${packed.length}\r\n\r\n`);
    socket.write(packed);
  },
  (socket, id) => socket.end(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\n\r\n${id}`),
  // A second answer, which must reach nobody.
  (socket, id) => socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: ${id.length}\r\n\r\n${id}`.repeat(2)),
  // The beginning only: the caller leaves, and what is left must reach nobody either.
  (socket, id) => {
    socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: 5000\r\n\r\n${id}`);
    setImmediate(() => socket.write('x'.repeat(4_000)));
  },
];
const leaves = manners.length - 1;

let server: RawServer;
beforeAll(async () => {
  server = await startRaw((socket) =>
    eachRequest(socket, (_, body) => {
      const id = body.toString();
      manners[Number(id) % manners.length]?.(socket, id);
    }),
  );
});
afterAll(() => server.stop());

test('thousands of calls at once each get their own answer, and leave nothing behind', async () => {
  const wire = new HttpClient({});
  const wrong: string[] = [];
  let next = 0;

  const call = async (number: number) => {
    const id = String(number).padStart(8, '0');
    const answer = await ask(wire, server.url, { method: 'POST', body: Buffer.from(id) });
    const body = bodyOf(answer);
    if (answer.headers.get('x-id') !== id) wrong.push(`${id}: ${answer.headers.get('x-id')}`);
    if (number % manners.length === leaves) {
      await body.cancel();
      return;
    }
    const text = Buffer.from(await collected(decodedBody(body, answer.headers), 1e6)).toString();
    if (text !== id && text !== id.repeat(10_000)) wrong.push(`${id}: ${text.slice(0, 100)}`);
  };
  const worker = async () => {
    while (next < calls) await call(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));

  expect(wrong).toEqual([]);
  await until(() => server.open.size === wire.waiting);
  expect(wire.waiting).toBeLessThanOrEqual(atOnce);
  wire.close();
  await until(() => server.open.size === 0);
});
