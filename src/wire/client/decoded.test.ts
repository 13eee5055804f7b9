import { describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import { eachRequest } from '../../../test/servers/raw-server.ts';
import { ask, bodyOf, faultOf, until } from '../../../test/servers/wire-calls.ts';
import { wireWorld } from '../../../test/servers/wire-world.ts';
import { type ByteReader, ReceivedHeaders } from './answer.ts';
import { type Bytes, collected, readThrough } from './collected.ts';
import { decodedBody } from './decoded.ts';

const { newWire, serve } = wireWorld();

/** Its best is slow. */
const brotliSync = (bytes: Uint8Array) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

const packings = [
  ['gzip', 'gzip', gzipSync, createGzip],
  ['gzip under its old name', 'x-gzip', gzipSync, createGzip],
  ['deflate', 'deflate', deflateSync, createDeflate],
  ['deflate without its wrapping', 'deflate', deflateRawSync, createDeflateRaw],
  ['brotli', 'br', brotliSync, createBrotliCompress],
] as const;

/** An answer in this encoding, as a reader of it finds it. */
async function answered(encoding: string, bytes: Uint8Array): Promise<ByteReader> {
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  const server = await serve((socket) =>
    eachRequest(socket, () => {
      socket.write(head);
      socket.write(bytes);
    }),
  );
  const answer = await ask(newWire(), server.url);
  return decodedBody(bodyOf(answer), answer.headers);
}

/** Both ways of reading must tell the same. */
const readings: [string, (body: ByteReader, limit: number) => Bytes | Promise<Bytes>][] = [
  ['whole', collected],
  ['as it comes', readThrough],
];

const text = Buffer.from(Array.from({ length: 5_000 }, (_, index) => `line ${index % 97}\n`).join(''));

const zeros = Buffer.alloc(100_000_000);
const bombs = new Map<unknown, Uint8Array>();

describe.each(readings)('%s', (_, read) => {
  test.each(packings)('%s is taken off', async (_name, encoding, pack) => {
    expect(Buffer.from(await read(await answered(encoding, pack(text)), 1e6))).toEqual(text);
  });

  test('two of them are taken off, the last one first', async () => {
    const body = await answered('gzip, identity, BR', brotliSync(gzipSync(text)));
    expect(Buffer.from(await read(body, 1e6))).toEqual(text);
  });

  test.each(packings)('nothing in %s is nothing', async (_name, encoding) => {
    expect((await read(await answered(encoding, new Uint8Array()), 1e6)).length).toBe(0);
  });

  test.each(packings)('a piece of %s is not taken for the whole', async (_name, encoding, pack) => {
    const packed = pack(text);
    for (const size of [1, packed.length >> 1, packed.length - 1]) {
      const body = await answered(encoding, packed.subarray(0, size));
      expect(await faultOf(Promise.resolve(read(body, 1e6)))).not.toBe('no fault');
    }
  });

  test.each(packings)('what only says that it is %s is a fault', async (_name, encoding) => {
    const body = await answered(encoding, Buffer.from('\xff\xfe plain text that is no packing', 'latin1'));
    expect(await faultOf(Promise.resolve().then(() => read(body, 1e6)))).not.toBe('no fault');
  });

  test.each(packings)('%s is unpacked up to the limit, to the byte', async (_name, encoding, pack) => {
    const packed = pack(text);
    expect((await read(await answered(encoding, packed), text.length)).length).toBe(text.length);
    const beyond = read(await answered(encoding, packed), text.length - 1);
    expect(await faultOf(Promise.resolve(beyond))).toBe('BodyTooLarge');
  });

  test.each(packings)('a bomb in %s does not go off', async (_name, encoding, pack) => {
    const bomb = bombs.get(pack) ?? pack(zeros);
    bombs.set(pack, bomb);
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    expect(await faultOf(Promise.resolve(read(await answered(encoding, bomb), 1_000_000)))).toBe('BodyTooLarge');
    expect(process.memoryUsage.rss() - before).toBeLessThan(zeros.length / 2);
  });
});

describe('an encoding', () => {
  const nothing: ByteReader = { read: () => Promise.resolve({ done: true }), cancel: () => Promise.resolve() };
  const named = (encoding: string) => decodedBody(nothing, new ReceivedHeaders({ 'content-encoding': encoding }));

  test.each(['compress', 'gzip;q=1', 'aws-chunked', 'gzip, gzip, gzip, gzip'])('%s is refused', (encoding) => {
    expect(() => named(encoding)).toThrow(expect.objectContaining({ code: 'InvalidAnswer' }));
  });

  test('that is refused closes the connection', async () => {
    const server = await serve((socket) =>
      eachRequest(socket, () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: compress\r\ncontent-length: 10\r\n\r\nhello');
      }),
    );
    const answer = await ask(newWire(), server.url);
    expect(() => decodedBody(bodyOf(answer), answer.headers)).toThrow(
      expect.objectContaining({ code: 'InvalidAnswer' }),
    );
    await until(() => server.open.size === 0);
  });

  test.each(['', 'identity', ' Identity , ', ','])('%j is none', (encoding) => {
    expect(named(encoding)).toBe(nothing);
  });
});

describe('a stream of events', () => {
  /** More is announced than this event. */
  function packedBeginning(socket: Socket) {
    socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10000\r\n\r\n');
    const packer = createGzip();
    packer.on('data', (bytes) => socket.write(bytes));
    packer.write('data: one\n\n');
    return packer;
  }

  test.each(packings)('in %s arrives event by event', async (_name, encoding, _pack, create) => {
    const packer = create();
    const server = await serve((socket) =>
      eachRequest(socket, () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\nconnection: close\r\n\r\n`);
        packer.on('data', (bytes) => socket.write(bytes));
        packer.on('end', () => socket.end());
      }),
    );
    const answer = await ask(newWire(), server.url);
    const body = decodedBody(bodyOf(answer), answer.headers);
    for (const event of ['data: one\n\n', 'data: two\n\n', 'data: three\n\n']) {
      packer.write(event);
      packer.flush();
      // The next one is made only when this one was read.
      let told = '';
      while (told.length < event.length) told += Buffer.from((await body.read()).value ?? []).toString();
      expect(told).toBe(event);
    }
    packer.end();
    expect((await body.read()).done).toBe(true);
  });

  test('that breaks off is told with the fault of the connection', async () => {
    const server = await serve((socket) =>
      eachRequest(socket, () => {
        packedBeginning(socket).flush(() => socket.end());
      }),
    );
    const answer = await ask(newWire(), server.url);
    const body = decodedBody(bodyOf(answer), answer.headers);
    expect(String(Buffer.from((await body.read()).value ?? []))).toBe('data: one\n\n');
    expect(await faultOf(body.read())).toBe('ConnectionClosed');
  });

  test.each([
    ['before', 0],
    ['behind', 1],
  ])('that is cancelled %s its first event closes the connection', async (_name, events) => {
    const server = await serve((socket) =>
      eachRequest(socket, () => {
        packedBeginning(socket).flush();
      }),
    );
    const answer = await ask(newWire(), server.url);
    const body = decodedBody(bodyOf(answer), answer.headers);
    for (let event = 0; event < events; event++) await body.read();
    await body.cancel();
    await until(() => server.open.size === 0);
  });

  test('that is no packing closes the connection', async () => {
    const server = await serve((socket) =>
      eachRequest(socket, () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10000\r\n\r\nnonsense');
      }),
    );
    const answer = await ask(newWire(), server.url);
    const body = decodedBody(bodyOf(answer), answer.headers);
    expect(await faultOf(body.read())).not.toBe('no fault');
    await until(() => server.open.size === 0);
  });
});

describe('a few bytes that unpack to very many', () => {
  const bomb = Buffer.from(brotliSync(Buffer.alloc(64 * 1024 * 1024)));

  test('are unpacked no further than they are read', async () => {
    const body = await answered('br', bomb);
    const first = await body.read();
    expect(first.value?.length ?? 0).toBeLessThanOrEqual(64 * 1024);
    await body.cancel();
  });

  test.each([
    ['gzip', gzipSync(Buffer.alloc(64 * 1024 * 1024))],
    ['br', bomb],
  ] as const)('let others have their turn meanwhile: %s', async (encoding, bytes) => {
    for (const [, read] of readings) {
      let turns = 0;
      let over = false;
      const count = () => {
        turns++;
        if (!over) setImmediate(count);
      };
      setImmediate(count);
      const body = await answered(encoding, bytes);
      turns = 0;
      const unpacked = await read(body, 100_000_000);
      over = true;
      expect(unpacked.length).toBe(64 * 1024 * 1024);
      expect(turns).toBeGreaterThan(10);
    }
  });
});
