import { describe, expect, test } from 'bun:test';
import { aMoment, bodyOf, echo, get, Held, httpWorld, lines, post, said } from '../../../test/servers/http-world.ts';
import { faultOf, until } from '../../../test/servers/wire-calls.ts';

const { serve } = httpWorld();

const megabytes = (count: number): Buffer => Buffer.alloc(count * 1024 * 1024, 'x');
const head = (...headers: string[]): string => lines('POST /a HTTP/1.1', 'host: a', ...headers);

describe('a body', () => {
  test('of no bytes is none', async () => {
    const server = serve(({ body }) => said(String(body === null)));
    const client = await server.client();
    for (const length of ['0', '00', '000000000000000']) {
      client.say(head(`content-length: ${length}`));
      expect((await client.reply()).body).toBe('true');
    }
    client.say(get('/'));
    expect((await client.reply()).body).toBe('true');
  });

  test('of no chunks is one without bytes', async () => {
    const client = await serve(echo).client();
    client.say(`${head('transfer-encoding: chunked')}0\r\n\r\n`);
    expect((await client.reply()).body).toBe('POST /a ');
  });

  test('may come with any method', async () => {
    const client = await serve(echo).client();
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'PUT']) {
      client.say(`${lines(`${method} /a HTTP/1.1`, 'host: a', 'content-length: 5')}hello`);
      expect((await client.reply()).body).toBe(`${method} /a hello`);
    }
  });

  test('is read as it comes, and its bytes are not altered', async () => {
    const held = new Held();
    const client = await serve(held.answer).client();
    client.say(head('content-length: 512'));
    const request = await held.next();
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, n) => n % 256));
    for (let at = 0; at < 512; at += 64) {
      client.say(bytes.subarray(at, at + 64));
      expect(Buffer.from((await request.body?.read())?.value ?? [])).toEqual(bytes.subarray(at, at + 64));
    }
    expect(await request.body?.read()).toEqual({ done: true });
    held.reply(request, said('read'));
    expect((await client.reply()).body).toBe('read');
  });

  test.each([
    ['by its length', (size: number) => head(`content-length: ${size}`), Buffer.alloc(0)],
    [
      'in one chunk',
      (size: number) => `${head('transfer-encoding: chunked')}${size.toString(16)}\r\n`,
      '\r\n0\r\n\r\n',
    ],
  ])('of 50 MB waits at the client until it is read: %s', async (_, begin, end) => {
    const held = new Held();
    const client = await serve(held.answer).client();
    const bytes = megabytes(50);
    client.say(begin(bytes.length), bytes, end);
    const request = await held.next();
    for (let turn = 0; turn < 200; turn++) await aMoment();
    // What the two ends of the connection hold, and a little of ours.
    expect(client.socket.bytesWritten - client.socket.writableLength).toBeLessThan(16 * 1024 * 1024);
    expect(client.socket.writableLength).toBeGreaterThan(30 * 1024 * 1024);
    expect((await bodyOf(request)).length).toBe(bytes.length);
    held.reply(request, said('read'));
    expect((await client.reply()).body).toBe('read');
    client.say(get('/b'));
    held.reply(await held.next(), said('next'));
    expect((await client.reply()).body).toBe('next');
  });

  test('that fills what may wait, and is read late, leaves the connection open for the next request', async () => {
    const held = new Held();
    const client = await serve(held.answer).client();
    for (const size of [250_000, 262_000, 270_000, 300_000, 400_000, 500_000]) {
      client.say(post('/a', 'x'.repeat(size)));
      const request = await held.next();
      await aMoment();
      held.reply(request, said(String((await bodyOf(request)).length)));
      expect((await client.reply()).body).toBe(String(size));
    }
  });

  test('breaks off when the client leaves in the middle', async () => {
    for (const manner of ['leave', 'reset'] as const) {
      const held = new Held();
      const server = serve(held.answer);
      const client = await server.client();
      client.say(`${head('content-length: 10')}hello`);
      const request = await held.next();
      expect(String((await request.body?.read())?.value)).toBe('hello');
      const reading = faultOf(Promise.resolve(request.body?.read()));
      client[manner]();
      expect(await reading).toBe('ConnectionClosed');
      expect(request.left).toBe(true);
      expect(await faultOf(Promise.resolve(request.body?.read()))).toBe('ConnectionClosed');
      held.reply(request, said('for nobody'));
      await server.listener.closed();
      expect(server.failed).toEqual([]);
    }
  });
});

describe('a client that waits to be told before it sends a body', () => {
  test('is told, once', async () => {
    const client = await serve(echo).client();
    client.say(head('expect: 100-Continue', 'content-length: 5'));
    expect(await client.reply()).toEqual({ status: 100, headers: {}, body: '' });
    client.say('hello');
    expect(await client.reply()).toMatchObject({ status: 200, body: 'POST /a hello' });
  });

  test('is not told when there is nothing to wait for', async () => {
    const client = await serve(echo).client();
    client.say(head('expect: 100-continue', 'content-length: 0'));
    expect(await client.reply()).toMatchObject({ status: 200 });
    client.say(`${head('expect: 100-continue', 'content-length: 5')}hello`);
    expect(await client.reply()).toMatchObject({ status: 200 });
    client.say(`${head('expect: something else', 'content-length: 5')}`);
    await aMoment();
    expect(client.rest).toBe('');
  });

  test('is not told in HTTP/1.0, which does not know it', async () => {
    const client = await serve(echo).client();
    client.say(lines('POST /a HTTP/1.0', 'expect: 100-continue', 'content-length: 5'));
    await aMoment();
    expect(client.rest).toBe('');
    client.say('hello');
    expect(await client.reply()).toMatchObject({ status: 200, body: 'POST /a hello' });
  });
});

describe('an answer that does not wait for the body', () => {
  test('is heard whole while the client still sends, and the next request is served', async () => {
    const answer = 'y'.repeat(1_000_000);
    const server = serve(() => said(answer));
    const client = await server.client();
    const bytes = megabytes(20);
    client.say(head(`content-length: ${bytes.length}`), bytes, get('/b'));
    expect((await client.reply()).body).toBe(answer);
    expect((await client.reply()).body).toBe(answer);
    expect(server.asked).toEqual(['POST /a', 'GET /b']);
  });

  test('is heard before the rest is sent', async () => {
    const server = serve(() => said('early'));
    const client = await server.client();
    client.say(head('content-length: 10'));
    expect((await client.reply()).body).toBe('early');
    client.say('hello');
    await aMoment();
    client.say(`world${get('/b')}`);
    expect((await client.reply()).body).toBe('early');
    expect(server.asked).toEqual(['POST /a', 'GET /b']);
  });

  test('is heard by a client that sends on after being told that the connection ends', async () => {
    const server = serve(() => said('last', { connection: 'close' }));
    const client = await server.client();
    const bytes = megabytes(20);
    client.say(head(`content-length: ${bytes.length + 1}`), bytes);
    expect(await client.reply()).toMatchObject({ body: 'last', headers: { connection: 'close' } });
    await until(() => client.socket.writableLength === 0);
    client.say('!', get('/b'));
    expect(await client.ended).toBe('in order');
    expect(server.asked).toEqual(['POST /a']);
  });

  test('is heard by a client that had sent too much behind its request, and may send it all', async () => {
    const held = new Held();
    const server = serve(held.answer);
    const client = await server.client();
    client.say(get('/a'), megabytes(20));
    const request = await held.next();
    for (let turn = 0; turn < 20; turn++) await aMoment();
    expect(client.socket.writableLength).toBeGreaterThan(0);
    held.reply(request, said('last', { connection: 'close' }));
    expect((await client.reply()).body).toBe('last');
    expect(await client.ended).toBe('in order');
    await until(() => client.socket.writableLength === 0 || client.socket.destroyed);
    expect(client.socket.destroyed).toBe(false);
    expect(server.asked).toEqual(['GET /a']);
  });

  test('is heard after the handler has given up the body, and late hands do no harm to the next one', async () => {
    const held = new Held();
    const client = await serve(held.answer).client();
    client.say(head('content-length: 1000000'), Buffer.alloc(600_000));
    const first = await held.next();
    await first.body?.read();
    await first.body?.cancel();
    held.reply(first, { ...said('too large'), status: 413 });
    expect(await client.reply()).toMatchObject({ status: 413 });
    client.say(Buffer.alloc(400_000), head('content-length: 5'), 'he');
    const second = await held.next();
    await first.body?.cancel();
    expect(await faultOf(Promise.resolve(first.body?.read()))).toBe('ConnectionClosed');
    const body = bodyOf(second);
    client.say('llo');
    expect(await body).toBe('hello');
    held.reply(second, said('served'));
    expect((await client.reply()).body).toBe('served');
  });

  test('leaves whoever reads on with a fault, not without an end', async () => {
    const held = new Held();
    const client = await serve(held.answer).client();
    client.say(head('content-length: 10'));
    const request = await held.next();
    const reading = faultOf(Promise.resolve(request.body?.read()));
    held.reply(request, said('early'));
    expect((await client.reply()).body).toBe('early');
    expect(await reading).toBe('ConnectionClosed');
  });
});
