import { describe, expect, test } from 'bun:test';
import { createHash, type Hash } from 'node:crypto';
import type { Socket } from 'node:net';
import { anyCertificate } from '../../../test/servers/certificates.ts';
import { said } from '../../../test/servers/raw-server.ts';
import { selfSigned } from '../../../test/servers/self-signed.ts';
import { ask, bodyOf, faultOf, textOf, until } from '../../../test/servers/wire-calls.ts';
import { wireWorld } from '../../../test/servers/wire-world.ts';

const { newWire, serve } = wireWorld();

/** Long enough for everything that goes on by itself to come to rest. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 3_000; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const piece = Buffer.from(Array.from({ length: 65_537 }, (_, index) => (index * 7) % 251));
const pieces = 1_600;
const large = piece.length * pieces;
const digestOfLarge = (() => {
  const hash = createHash('sha256');
  for (let index = 0; index < pieces; index++) hash.update(piece);
  return hash.digest('hex');
})();
/** Far less than the whole, far more than what sockets hold by themselves. */
const bounded = large / 3;

const self = Bun.which('openssl') ? selfSigned() : null;

describe('a reader who is slow slows the server down', () => {
  /** Sends the large body as fast as it is taken. */
  function sendLarge(socket: Socket, told: { sent: number }): void {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${large}\r\n\r\n`);
    const go = () => {
      while (told.sent < pieces) {
        told.sent++;
        if (!socket.write(piece)) {
          socket.once('drain', go);
          return;
        }
      }
    };
    go();
  }

  test.each(self ? [['plain', {}] as const, ['over TLS', { tls: self }] as const] : [['plain', {}] as const])(
    'and gets every byte of 100 MB, %s',
    async (_, manner) => {
      const told = { sent: 0 };
      const server = await serve((socket) => socket.once('data', () => sendLarge(socket, told)), manner);
      const body = bodyOf(await anyCertificate(() => ask(newWire(), server.url)));
      await manyTurns();
      expect(told.sent * piece.length).toBeLessThan(bounded);
      const hash = createHash('sha256');
      for (let read = await body.read(); !read.done; read = await body.read()) hash.update(read.value);
      expect(hash.digest('hex')).toBe(digestOfLarge);
    },
  );

  test('who stops altogether closes the connection', async () => {
    const server = await serve((socket) => socket.once('data', () => sendLarge(socket, { sent: 0 })));
    const body = bodyOf(await ask(newWire(), server.url));
    await manyTurns();
    await body.cancel();
    await until(() => server.open.size === 0);
    expect(await faultOf(body.read())).toBe('ConnectionClosed');
  });

  test('also when it sends crumbs', async () => {
    let sent = 0;
    const server = await serve((socket) =>
      socket.once('data', async () => {
        socket.setNoDelay(true);
        socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
        for (; sent < 20_000; sent++) await new Promise((resolve) => socket.write('x', resolve));
        socket.end();
      }),
    );
    const wire = newWire();
    const body = bodyOf(await ask(wire, server.url));
    await until(() => sent === 20_000);
    let read = 0;
    for (let next = await body.read(); !next.done; next = await body.read()) read += next.value.length;
    expect(read).toBe(20_000);
  });

  test('the whole of what the server sent before it closed is read, however late', async () => {
    const server = await serve((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
        for (let index = 0; index < 20; index++) socket.write(piece);
        socket.end();
      }),
    );
    const body = bodyOf(await ask(newWire(), server.url));
    await manyTurns();
    let size = 0;
    for (let read = await body.read(); !read.done; read = await body.read()) size += read.value.length;
    expect(size).toBe(20 * piece.length);
  });

  test('a connection that was held back by the end of an answer serves the next call', async () => {
    const text = 'x'.repeat(256 * 1024);
    const server = await serve((socket) => socket.on('data', () => socket.write(said(text))));
    const wire = newWire();
    for (let call = 0; call < 3; call++) {
      await ask(wire, server.url);
      await until(() => wire.waiting === 1);
    }
    expect(await textOf(await ask(wire, server.url))).toBe(text);
    expect(server.accepted).toBe(1);
  });

  test('a connection that was held back serves the next call', async () => {
    const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${20 * piece.length}\r\n\r\n`;
    const server = await serve((socket) =>
      socket.on('data', () => {
        socket.write(answer);
        for (let index = 0; index < 20; index++) socket.write(piece);
      }),
    );
    const wire = newWire();
    for (let call = 0; call < 3; call++) {
      const response = await ask(wire, server.url);
      await manyTurns();
      expect((await textOf(response)).length).toBe(20 * piece.length);
    }
    expect(server.accepted).toBe(1);
  });
});

interface Source {
  stream: ReadableStream<Uint8Array>;
  made: number;
  cancelled: boolean;
}

/** A body that is made as it is asked for; `ends` says what happens behind the last piece. */
function source(count: number, ends: 'closes' | 'breaks' | 'waits' = 'closes'): Source {
  const told: Source = {
    made: 0,
    cancelled: false,
    stream: new ReadableStream(
      {
        pull(controller) {
          if (told.made < count) {
            told.made++;
            controller.enqueue(new Uint8Array(piece));
          } else if (ends === 'closes') controller.close();
          else if (ends === 'breaks') controller.error(new Error('source broke'));
          else return new Promise(() => undefined);
        },
        cancel() {
          told.cancelled = true;
        },
      },
      { highWaterMark: 0 },
    ),
  };
  return told;
}

describe('an upload', () => {
  /** Reads an upload of the given framing to its end. */
  function digested(socket: Socket, whole: (digest: string) => void): void {
    let head: string | null = null;
    let rest: Buffer = Buffer.alloc(0);
    const hash: Hash = createHash('sha256');
    let left = 0;
    let chunked = false;
    socket.on('data', (bytes: Buffer) => {
      rest = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
      if (head === null) {
        const end = rest.indexOf('\r\n\r\n');
        if (end < 0) return;
        head = rest.toString('latin1', 0, end + 4);
        rest = rest.subarray(end + 4);
        chunked = head.includes('transfer-encoding: chunked\r\n');
        left = Number(/content-length: (\d+)\r\n/.exec(head)?.[1] ?? 0);
      }
      for (;;) {
        const taken = rest.subarray(0, left);
        hash.update(taken);
        left -= taken.length;
        rest = rest.subarray(taken.length);
        if (left > 0) return;
        if (!chunked) return whole(hash.digest('hex'));
        const line = /^(?:\r\n)?([0-9a-f]+)\r\n/.exec(rest.toString('latin1', 0, 20));
        if (!line) return;
        left = Number.parseInt(line[1] ?? '', 16);
        if (left === 0) return whole(hash.digest('hex'));
        rest = rest.subarray(line[0].length);
      }
    });
  }

  const lengths = { 'content-length': String(large) };

  test.each([
    ['in chunks', {}],
    ['of a told length', lengths],
  ])('%s arrives whole, at the pace of a server that is slow', async (_, headers) => {
    const server = await serve((socket) => {
      socket.pause();
      digested(socket, (digest) => socket.write(said(digest)));
    });
    const upload = source(pieces);
    const call = ask(newWire(), server.url, { method: 'POST', headers, body: upload.stream });
    await until(() => server.open.size === 1);
    for (const socket of server.open) socket.pause();
    await manyTurns();
    expect(upload.made * piece.length).toBeLessThan(bounded);
    for (const socket of server.open) socket.resume();
    expect(await textOf(await call)).toBe(digestOfLarge);
  });

  test('in one piece is sent as room comes', async () => {
    const server = await serve((socket) => digested(socket, (digest) => socket.write(said(digest))));
    const body = Buffer.concat(Array.from({ length: pieces }, () => piece));
    expect(await textOf(await ask(newWire(), server.url, { method: 'PUT', body }))).toBe(digestOfLarge);
  });

  test.if(self !== null)('over TLS too', async () => {
    const server = await serve((socket) => digested(socket, (digest) => socket.write(said(digest))), {
      tls: self ?? {},
    });
    const wire = newWire();
    const body = Buffer.concat(Array.from({ length: pieces }, () => piece));
    for (const sent of [body, source(pieces).stream]) {
      const answer = await anyCertificate(() => ask(wire, server.url, { method: 'PUT', body: sent }));
      expect(await textOf(answer)).toBe(digestOfLarge);
    }
  });

  test.each([
    ['in chunks', {}],
    ['of a told length', { 'content-length': String(100 * 100_000) }],
  ])('%s uses the memory of its pieces before they are filled anew', async (_, headers) => {
    const server = await serve((socket) => {
      socket.pause();
      digested(socket, (digest) => socket.write(said(digest)));
    });
    const memory = Buffer.alloc(100_000);
    const hash = createHash('sha256');
    let made = 0;
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (made++ === 100) return controller.close();
          memory.fill(made);
          hash.update(memory);
          controller.enqueue(memory);
        },
      },
      { highWaterMark: 0 },
    );
    const call = ask(newWire(), server.url, { method: 'POST', headers, body: stream });
    await manyTurns();
    for (const socket of server.open) socket.resume();
    expect(await textOf(await call)).toBe(hash.digest('hex'));
  });

  test('without any bytes ends at once', async () => {
    const server = await serve((socket) => digested(socket, () => socket.write(said('empty'))));
    const empty = () => source(0).stream;
    expect(await textOf(await ask(newWire(), server.url, { method: 'POST', body: empty() }))).toBe('empty');
    const headers = { 'content-length': '0' };
    expect(await textOf(await ask(newWire(), server.url, { method: 'POST', headers, body: empty() }))).toBe('empty');
  });

  test.each([
    ['shorter than told', 4 * piece.length, 'closes', 'WrongBodyLength', false],
    ['longer than told', 2 * piece.length + 1, 'closes', 'WrongBodyLength', true],
    ['that breaks', 4 * piece.length, 'breaks', 'Error: source broke', false],
  ] as const)('%s closes the connection, and sends no more than was told', async (_, length, ends, fault, stopped) => {
    let received = 0;
    const server = await serve((socket) => socket.on('data', (bytes) => (received += bytes.length)));
    const upload = source(3, ends);
    const headers = { 'content-length': String(length) };
    const call = ask(newWire(), server.url, { method: 'POST', headers, body: upload.stream });
    expect(await faultOf(call)).toBe(fault);
    await until(() => server.open.size === 0);
    expect(received).toBeLessThan(length + 200);
    expect(upload.cancelled).toBe(stopped);
  });

  test('in chunks that breaks is not ended as if it were whole', async () => {
    let received = '';
    const server = await serve((socket) => socket.on('data', (bytes) => (received += bytes.toString('latin1'))));
    const call = ask(newWire(), server.url, { method: 'POST', body: source(1, 'breaks').stream });
    expect(await faultOf(call)).toBe('Error: source broke');
    await until(() => server.open.size === 0);
    expect(received).not.toContain('\r\n0\r\n');
  });

  test.each([
    ['while it is being made', 'waits', 3],
    ['while it waits for room', 'closes', pieces],
  ] as const)('is given up %s when the answer has come whole before it', async (_, ends, count) => {
    const server = await serve((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Content Too Large\r\ncontent-length: 5\r\n\r\nlarge');
      });
    });
    const wire = newWire();
    const upload = source(count, ends);
    const answer = await ask(wire, server.url, { method: 'POST', body: upload.stream });
    expect([answer.status, await textOf(answer)]).toEqual([413, 'large']);
    await until(() => upload.cancelled);
    expect(wire.waiting).toBe(0);
  });

  test('goes on while the answer is already coming', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      digested(socket, (digest) => socket.write(`${digest.length.toString(16)}\r\n${digest}\r\n0\r\n\r\n`));
    });
    const wire = newWire();
    const answer = await ask(wire, server.url, { method: 'POST', body: source(pieces).stream });
    expect(await textOf(answer)).toBe(digestOfLarge);
  });

  test('that breaks behind the head of the answer breaks the answer', async () => {
    const server = await serve((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello')),
    );
    const broken = Promise.withResolvers<void>();
    const stream = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from('x'));
        await broken.promise;
        controller.error(new Error('source broke'));
      },
    });
    const body = bodyOf(await ask(newWire(), server.url, { method: 'POST', body: stream }));
    expect(String((await body.read()).value)).toBe('hello');
    broken.resolve();
    expect(await faultOf(body.read())).toBe('Error: source broke');
    await until(() => server.open.size === 0);
  });

  test.each([
    ['is aborted', 'Error: given up', (_: Socket, abort: AbortController) => abort.abort(new Error('given up'))],
    ['loses its connection', 'ECONNRESET', (socket: Socket) => socket.resetAndDestroy()],
  ])('that %s stops its source', async (_, fault, end) => {
    const server = await serve((socket) => socket.pause());
    const abort = new AbortController();
    const upload = source(pieces);
    const call = ask(newWire(), server.url, { method: 'POST', body: upload.stream, signal: abort.signal });
    await until(() => upload.made > 3);
    await manyTurns();
    for (const socket of server.open) end(socket, abort);
    expect(await faultOf(call)).toBe(fault);
    await until(() => upload.cancelled);
  });
});
