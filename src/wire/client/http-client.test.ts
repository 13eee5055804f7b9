import { describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { freePort } from '../../../test/servers/free-port.ts';
import { eachRequest, said } from '../../../test/servers/raw-server.ts';
import { ask, askText, bodyOf, faultOf, textOf, until } from '../../../test/servers/wire-calls.ts';
import { wireWorld } from '../../../test/servers/wire-world.ts';
import { HttpClient } from './http-client.ts';

let now = 0;
const { newWire, serve } = wireWorld(() => now);

/** Answers every request with the number of its connection. */
const numbered = (...lines: string[]) =>
  serve((socket, index) => eachRequest(socket, () => socket.write(said(String(index), ...lines))));

describe('a connection is used again', () => {
  test('when its answer has come whole', async () => {
    const { url } = await numbered();
    const wire = newWire();
    expect([await askText(wire, url), await askText(wire, url), await askText(wire, url)]).toEqual(['0', '0', '0']);
    expect(wire.waiting).toBe(1);
  });

  test('even before its answer has been read', async () => {
    const { url } = await numbered();
    const wire = newWire();
    const first = await ask(wire, url);
    expect(await askText(wire, url)).toBe('0');
    expect(await textOf(first)).toBe('0');
  });

  test('the one that was used last comes first', async () => {
    const held: (() => void)[] = [];
    const server = await serve((socket, index) =>
      eachRequest(socket, () => held.push(() => socket.write(said(String(index))))),
    );
    const wire = newWire();
    const first = askText(wire, server.url);
    await until(() => held.length === 1);
    const second = askText(wire, server.url);
    await until(() => held.length === 2);
    held[1]?.();
    expect(await second).toBe('1');
    held[0]?.();
    expect(await first).toBe('0');
    const third = askText(wire, server.url);
    await until(() => held.length === 3);
    held[2]?.();
    expect(await third).toBe('0');
    expect(wire.waiting).toBe(2);
  });

  test('only for the same server', async () => {
    const [one, other] = [await numbered(), await numbered()];
    const wire = newWire();
    await Promise.all([askText(wire, one.url), askText(wire, other.url)]);
    await askText(wire, one.url.replace('127.0.0.1', 'localhost'));
    expect([one.accepted, other.accepted, wire.waiting]).toEqual([2, 1, 3]);
  });

  test('not for a stream, which could not be sent again', async () => {
    const { url } = await serve((socket, index) =>
      socket.on('data', (bytes) => bytes.toString().endsWith('0\r\n\r\n') && socket.write(said(String(index)))),
    );
    const wire = newWire();
    const body = () => new Blob(['x']).stream();
    expect(await askText(wire, url, { method: 'POST', body: body() })).toBe('0');
    expect(await askText(wire, url, { method: 'POST', body: body() })).toBe('1');
    expect(wire.waiting).toBe(2);
  });
});

describe('a connection is not used again', () => {
  test.each([
    ['when the server says so', said('x', 'connection: close')],
    ['when there are bytes behind the answer', `${said('x')}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`],
    ['when the server has no time for it', said('x', 'keep-alive: timeout=1')],
    [
      'when its answer may be read in two ways',
      `HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
    ],
  ])('%s', async (_, answer) => {
    const server = await serve((socket) => eachRequest(socket, () => socket.write(answer)));
    const wire = newWire();
    expect([await askText(wire, server.url), await askText(wire, server.url)]).toEqual(['x', 'x']);
    expect([server.accepted, wire.waiting]).toEqual([2, 0]);
    await until(() => server.open.size === 0);
  });

  test('after the time that the server gives it', async () => {
    const server = await numbered('keep-alive: timeout=10');
    const wire = newWire();
    await askText(wire, server.url);
    now += 8_999;
    expect(await askText(wire, server.url)).toBe('0');
    now += 9_000;
    expect(await askText(wire, server.url)).toBe('1');
    expect(wire.waiting).toBe(1);
    await until(() => server.open.size === 1);
  });

  test('when the server wrote something while nobody had asked', async () => {
    const server = await numbered();
    const wire = newWire();
    await askText(wire, server.url);
    for (const socket of server.open) socket.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
    await until(() => wire.waiting === 0);
    expect(await askText(wire, server.url)).toBe('1');
  });

  test('when the server closed or reset it meanwhile', async () => {
    const server = await numbered();
    const wire = newWire();
    for (const end of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
      await askText(wire, server.url);
      for (const socket of server.open) end(socket);
      await until(() => wire.waiting === 0);
    }
    expect(await askText(wire, server.url)).toBe('2');
  });

  test('when the answer was given up in its midst', async () => {
    const server = await serve((socket, index) =>
      eachRequest(socket, () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${index}`)),
    );
    const wire = newWire();
    for (const index of [0, 1]) {
      const body = bodyOf(await ask(wire, server.url));
      expect(String((await body.read()).value)).toBe(String(index));
      await body.cancel();
      await until(() => server.open.size === 0);
    }
    expect(wire.waiting).toBe(0);
  });
});

test('the program closes a connection by itself when it has waited long enough', async () => {
  const server = await numbered('keep-alive: timeout=2');
  const wire = newWire();
  await askText(wire, server.url);
  expect(wire.waiting).toBe(1);
  const ended = Promise.withResolvers<boolean>();
  for (const socket of server.open) socket.on('close', ended.resolve);
  expect(await ended.promise).toBe(false);
  expect(wire.waiting).toBe(0);
});

test('at most 256 connections to a server are kept', async () => {
  const waiting: Socket[] = [];
  const server = await serve((socket) => eachRequest(socket, () => waiting.push(socket)));
  const wire = newWire();
  const calls = Array.from({ length: 300 }, () => askText(wire, server.url));
  await until(() => waiting.length === 300);
  for (const socket of waiting) socket.write(said('x'));
  await Promise.all(calls);
  expect(wire.waiting).toBe(256);
  await until(() => server.open.size === 256);
});

test('none is kept any more once the wire is closed, not even one that was busy then', async () => {
  const answers: (() => void)[] = [];
  const server = await serve((socket) => eachRequest(socket, () => answers.push(() => socket.write(said('x')))));
  const wire = newWire();
  const calls = [askText(wire, server.url), askText(wire, server.url)];
  await until(() => answers.length === 2);
  answers[0]?.();
  await Promise.race(calls);
  expect(wire.waiting).toBe(1);
  wire.close();
  expect(wire.waiting).toBe(0);
  answers[1]?.();
  expect(await Promise.all(calls)).toEqual(['x', 'x']);
  expect(wire.waiting).toBe(0);
  await until(() => server.open.size === 0);
});

describe('a server that ends a connection just when it is asked again', () => {
  /** The first request of a connection is answered; then this is done. */
  const fickle = (end: (socket: Socket) => void, answers = 1) =>
    serve((socket, index) => {
      let asked = 0;
      eachRequest(socket, () => (asked++ < answers ? socket.write(said(String(index))) : end(socket)));
    });

  test('is asked once more on a new connection', async () => {
    const server = await fickle((socket) => socket.end());
    const wire = newWire();
    const body = Buffer.from('once');
    const asked = { method: 'POST', body, replayable: true };
    expect(await askText(wire, server.url, asked)).toBe('0');
    expect(await askText(wire, server.url, asked)).toBe('1');
    expect((await ask(wire, server.url, asked)).replayed).toBe(true);
    expect(wire.replays).toBe(2);
  });

  test('but not with what it may have acted on', async () => {
    const server = await fickle((socket) => socket.end());
    const wire = newWire();
    const asked = { method: 'POST', body: Buffer.from('once') };
    expect(await askText(wire, server.url, asked)).toBe('0');
    expect(await faultOf(ask(wire, server.url, asked))).toBe('ConnectionClosed');
    expect([wire.replays, server.accepted]).toEqual([0, 1]);
  });

  test('but not twice', async () => {
    let requests = 0;
    const server = await serve((socket, index) =>
      eachRequest(socket, () => (++requests === 1 ? socket.write(said(String(index))) : socket.end())),
    );
    const wire = newWire();
    await askText(wire, server.url);
    expect(await faultOf(ask(wire, server.url))).toBe('ConnectionClosed');
    expect([requests, server.accepted]).toEqual([3, 2]);
  });

  test('nor when it was silent for long: it has seen the request', async () => {
    const server = await fickle((socket) => {
      now += 100;
      socket.end();
    });
    const wire = newWire();
    await askText(wire, server.url);
    expect(await faultOf(ask(wire, server.url))).toBe('ConnectionClosed');
    expect(server.accepted).toBe(1);
  });

  test.each([
    ['resets it', 'ECONNRESET', (socket: Socket) => socket.resetAndDestroy()],
    ['has begun to answer', 'ConnectionClosed', (socket: Socket) => socket.end('HTTP/1.1 200')],
    ['has said to wait', 'ConnectionClosed', (socket: Socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('nor when it %s', async (_, code, end) => {
    const server = await fickle(end);
    const wire = newWire();
    await askText(wire, server.url);
    expect(await faultOf(ask(wire, server.url))).toBe(code);
    expect(server.accepted).toBe(1);
  });

  test('is not asked again on a connection that was new', async () => {
    const server = await fickle((socket) => socket.end(), 0);
    expect(await faultOf(ask(newWire(), server.url))).toBe('ConnectionClosed');
    expect(server.accepted).toBe(1);
  });
});

describe('a tenant has a share of the connections', () => {
  test('whoever has used it up is refused, others are not, and what ends gives its place back', async () => {
    const server = await serve((socket) =>
      eachRequest(socket, (head) => {
        if (head.includes('/answers')) socket.write(said('answered'));
        if (head.includes('/leaves')) socket.destroy();
      }),
    );
    const wire = new HttpClient({}, { shareOfTenant: 2 });
    const controller = new AbortController();
    const given = new Error('given up');
    const silent = [1, 2].map(() =>
      faultOf(ask(wire, `${server.url}/silent`, { tenant: 'a', signal: controller.signal })),
    );
    expect(await faultOf(ask(wire, `${server.url}/answers`, { tenant: 'a' }))).toBe('ShareUsedUp');
    expect(await askText(wire, `${server.url}/answers`, { tenant: 'b' })).toBe('answered');
    controller.abort(given);
    expect(await Promise.all(silent)).toEqual([String(given), String(given)]);
    for (let call = 0; call < 5; call++) {
      expect(await askText(wire, `${server.url}/answers`, { tenant: 'a' })).toBe('answered');
      expect(await faultOf(ask(wire, `${server.url}/leaves`, { tenant: 'a' }))).not.toBe('no fault');
      expect(await faultOf(ask(wire, `http://127.0.0.1:${await freePort()}/`, { tenant: 'a' }))).toBe('ECONNREFUSED');
    }
    expect([wire.usedBy('a'), wire.usedBy('b')]).toEqual([0, 0]);
    wire.close();
  });
});
