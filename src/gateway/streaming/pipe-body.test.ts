import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import { type Behaviour, type SimulatedProvider, silence, startProvider } from '../../../test/providers/simulated.ts';
import { responseOf } from '../../http/web.ts';
import { Abort } from '../../wire/abort.ts';
import { Deadlines } from '../upstream/deadlines.ts';
import { type Carried, pipeBody } from './pipe-body.ts';

const deadlines = new Deadlines();
let plane: Plane;
let upstream: SimulatedProvider;

beforeAll(async () => {
  upstream = await startProvider(silence);
  plane = startPlane({ settings: { streamIdleTimeout: 200 } });
  plane.providers.set('a', savedProvider('a', { customHost: upstream.url }));
});
afterAll(async () => {
  deadlines.stop();
  await plane.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.calls.length = 0;
});

const download = (init: RequestInit = {}) =>
  plane.call('/v1/files/f1/content', undefined, { 'x-gw-provider': '@a' }, init);

test('nothing is read from the provider before the client asks for it', async () => {
  let produced = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        produced++;
        controller.enqueue(new Uint8Array(1_000));
      },
    },
    { highWaterMark: 0 },
  );
  const carried = pipeBody({ body: body.getReader(), abort: new Abort(), idleMs: 1_000 }, deadlines, () => undefined);
  expect(produced).toBe(0);
  const reader = responseOf({ status: 200, headers: {}, body: carried }).body?.getReader();
  for (let taken = 1; taken <= 3; taken++) {
    await reader?.read();
    expect(produced).toBe(taken);
  }
});

test('a client that takes nothing keeps the provider waiting: little is held in between', async () => {
  const piece = Buffer.alloc(256 * 1024);
  let written = 0;
  const endless: Behaviour = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    const more = () => {
      while (!response.destroyed) {
        written += piece.length;
        if (!response.write(piece)) {
          response.once('drain', more);
          return;
        }
      }
    };
    more();
  };
  upstream.script(endless);
  const leaving = new AbortController();
  const response = await download({ signal: leaving.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  let before = -1;
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  // Buffers of sockets and of the two HTTP clients; an unbounded one would have gone on growing.
  expect(written).toBeLessThan(64 * 1024 * 1024);
  leaving.abort();
  await upstream.calls[0]?.abandoned;
  const [record] = await plane.settled();
  expect(record?.metrics.response_status_code).toBe(499);
});

test('the copy for the log is bounded, and says how much passed', async () => {
  const ended = Promise.withResolvers<Carried>();
  let left = 20;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array(1024 * 1024));
      else controller.close();
    },
  });
  const carried = pipeBody({ body: body.getReader(), abort: new Abort(), idleMs: 1_000 }, deadlines, ended.resolve);
  expect((await responseOf({ status: 200, headers: {}, body: carried }).arrayBuffer()).byteLength).toBe(
    20 * 1024 * 1024,
  );
  const { copy, outcome } = await ended.promise;
  expect([outcome, copy.size, copy.bytes.length]).toEqual(['complete', 20 * 1024 * 1024, 4 * 1024 * 1024]);
});

test('a body that breaks off breaks the client’s connection too, and is recorded as failed', async () => {
  upstream.script(async (_, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': '1000' });
    response.write('half');
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.socket?.resetAndDestroy();
  });
  await expect(download().then((response) => response.arrayBuffer())).rejects.toThrow();
  const [record] = await plane.settled();
  expect(record?.metrics).toMatchObject({ response_status_code: 502, is_success: false });
});

test('a body that stalls is given up after the idle time', async () => {
  upstream.script((_, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    response.write('half');
  });
  await expect(download().then((response) => response.arrayBuffer())).rejects.toThrow();
  await upstream.calls[0]?.abandoned;
  const [record] = await plane.settled();
  expect(record?.metrics).toMatchObject({ response_status_code: 504, is_success: false });
});
