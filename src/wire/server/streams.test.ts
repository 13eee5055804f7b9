import { describe, expect, test } from 'bun:test';
import { aMoment, get, HandMade, httpWorld, inPieces, lines, said } from '../../../test/servers/http-world.ts';
import { until } from '../../../test/servers/wire-calls.ts';
import { type BodySource, bodyBy } from './reply.ts';

const { serve } = httpWorld();

const streamed = (body: BodySource, headers: Record<string, string> = {}) =>
  serve(({ target }) => (target === '/next' ? said('next') : { status: 200, headers, body }));

describe('a body that is made while it is sent', () => {
  test('comes in chunks, and the next request is served', async () => {
    const client = await streamed(inPieces('hello', '', ' ', 'world')).client();
    client.say(get('/a') + get('/next'));
    await until(() => client.rest.endsWith('next'));
    expect(client.rest).toContain('\r\n\r\n5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n');
    expect(await client.reply()).toMatchObject({
      headers: { 'transfer-encoding': 'chunked' },
      body: 'hello world',
    });
    expect((await client.reply()).body).toBe('next');
  });

  test('of no pieces is whole and empty', async () => {
    const client = await streamed(inPieces()).client();
    client.say(get('/a') + get('/next'));
    expect((await client.reply()).body).toBe('');
    expect((await client.reply()).body).toBe('next');
  });

  test('leaves piece by piece, its head before the first', async () => {
    const body = new HandMade();
    const client = await streamed(body).client();
    client.say(get('/a'));
    const sink = await body.sink;
    await until(() => client.rest.endsWith('\r\n\r\n'));
    for (const piece of ['one', 'two']) {
      sink.write(Buffer.from(piece));
      await until(() => client.rest.endsWith(`\r\n3\r\n${piece}\r\n`));
    }
    body.end();
    expect((await client.reply()).body).toBe('onetwo');
    expect(body.lefts).toBe(0);
  });

  test('of a length that is known is sent without chunks', async () => {
    const client = await streamed(inPieces('hello', ' world'), { 'content-length': '11' }).client();
    client.say(get('/a') + get('/next'));
    const { headers, body } = await client.reply();
    expect(Object.keys(headers)).toEqual(['date', 'content-length']);
    expect(headers['content-length']).toBe('11');
    expect(body).toBe('hello world');
    expect((await client.reply()).body).toBe('next');
  });

  test.each([
    ['shorter', '12', ['hello', ' world']],
    ['longer', '10', ['hello', ' world']],
    ['empty', '1', []],
  ])('cuts the connection when it is %s than was announced', async (_, length, pieces) => {
    const server = streamed(inPieces(...pieces), { 'content-length': length });
    const client = await server.client();
    client.say(get('/a') + get('/next'));
    expect(await client.ended).toBe('broken');
    expect(client.rest.split('\r\n\r\n')[1] ?? '').not.toHaveLength(Number(length));
    expect(server.asked).toEqual(['GET /a']);
  });

  test.each([
    ['in chunks', get('/a'), {}],
    ['of a known length', get('/a'), { 'content-length': '10' }],
    ['up to the end of the connection', lines('GET /a HTTP/1.0'), {}],
    ['with the last request of a connection', get('/a', 'connection: close'), {}],
  ])('that breaks off is never taken for a whole one: %s', async (_, asked, headers) => {
    const body = new HandMade();
    const server = streamed(body, headers);
    const client = await server.client();
    client.say(asked);
    const sink = await body.sink;
    sink.write(Buffer.from('hello'));
    await until(() => client.rest.includes('hello'));
    body.fail();
    expect(await client.ended).toBe('broken');
    expect(client.rest).not.toContain('\r\n0\r\n\r\n');
    expect(server.failed).toEqual([]);
  });

  test('ends once, whatever its source says after', async () => {
    const body: BodySource = {
      deliver(to) {
        to.write(Buffer.from('hello'));
        to.end();
        to.write(Buffer.from('more'));
        to.end();
        to.cut(new Error('too late'));
      },
      left: () => undefined,
    };
    const client = await streamed(body).client();
    client.say(get('/a') + get('/b'));
    expect((await client.reply()).body).toBe('hello');
    expect((await client.reply()).body).toBe('hello');
    expect(client.rest).toBe('');
  });

  test('that breaks off before anything was made is no whole one either', async () => {
    const body: BodySource = { deliver: (to) => to.cut(new Error('broken')), left: () => undefined };
    for (const asked of [get('/a'), lines('GET /a HTTP/1.0')]) {
      const client = await streamed(body).client();
      client.say(asked);
      expect(await client.ended).toBe('broken');
    }
  });

  test('in HTTP/1.0 ends with the connection, if its length is not known', async () => {
    const client = await streamed(inPieces('hello', ' world')).client();
    client.say(lines('GET /a HTTP/1.0', 'connection: keep-alive'));
    expect(await client.ended).toBe('in order');
    const { headers, body } = await client.reply();
    expect(Object.keys(headers)).toEqual(['date', 'connection']);
    expect(headers.connection).toBe('close');
    expect(body).toBe('hello world');
    const told = await streamed(inPieces('hello'), { 'content-length': '5' }).client();
    told.say(lines('GET /a HTTP/1.0', 'connection: keep-alive'));
    expect(await told.reply()).toMatchObject({ headers: { connection: 'keep-alive' }, body: 'hello' });
  });
});

describe('a slow reader', () => {
  const piece = Buffer.alloc(64 * 1024, 'p');
  /** Makes pieces for as long as they are taken. */
  const endless = () => {
    const made = { size: 0, over: false, lefts: 0 };
    const body = bodyBy(
      async (to) => {
        while (!made.over) {
          made.size += piece.length;
          await to.write(piece);
        }
      },
      () => {
        made.lefts++;
        made.over = true;
      },
    );
    return { made, body };
  };

  test('holds back whoever makes the body', async () => {
    const { made, body } = endless();
    const client = await streamed(body).client({ reads: false });
    client.say(get('/a'));
    await until(() => made.size > 0);
    for (let turn = 0; turn < 200; turn++) await aMoment();
    const { size } = made;
    expect(size).toBeLessThan(32 * 1024 * 1024);
    for (let turn = 0; turn < 50; turn++) await aMoment();
    expect(made.size).toBe(size);
    client.socket.resume();
    await until(() => made.size > size + 10 * piece.length);
    made.over = true;
    expect((await client.reply()).body.length).toBe(made.size);
  });

  test.each(['leave', 'reset'] as const)('that goes while the body waits ends it: %s', async (manner) => {
    const { made, body } = endless();
    const server = streamed(body);
    const client = await server.client({ reads: false });
    client.say(get('/a'));
    await until(() => made.size > 0);
    for (let turn = 0; turn < 50; turn++) await aMoment();
    client[manner]();
    await until(() => made.over);
    await server.listener.closed();
    expect(made.lefts).toBe(1);
  });

  test.each([
    ['in a stream', get('/stream/')],
    ['in replies one after the other', get('/reply/').repeat(1_000)],
  ])('is never given what was meant for another: %s', async (_, asked) => {
    // Small enough that the server may put its head and body together before it hands them over.
    const piece = (letter: string) => letter.repeat(30_000);
    const server = serve(({ target }) => {
      const letter = target.slice(-1);
      if (target.startsWith('/reply')) return said(piece(letter));
      return { status: 200, headers: {}, body: inPieces(...Array.from({ length: 1_000 }, () => piece(letter))) };
    });
    const letters = ['a', 'b', 'c', 'd'];
    const clients = await Promise.all(letters.map(() => server.client({ reads: false })));
    for (const [index, client] of clients.entries()) client.say(asked.replaceAll('/ ', `/${letters[index]} `));
    for (let turn = 0; turn < 300; turn++) await aMoment();
    for (const client of clients) client.socket.resume();
    for (const [index, client] of clients.entries()) {
      const own = letters[index] ?? '';
      let rest = 30_000_000;
      while (rest > 0) {
        const { body } = await client.reply();
        rest -= body.length;
        expect(body === own.repeat(body.length)).toBe(true);
      }
      expect(rest).toBe(0);
    }
  });

  test('hears the whole of the last reply before the connection ends', async () => {
    // It does not wait for room, so that much is left to send when it is done.
    const heedless: BodySource = {
      deliver(to) {
        for (let count = 0; count < 400; count++) void to.write(piece);
        to.end();
      },
      left: () => undefined,
    };
    for (const asked of [get('/a', 'connection: close'), lines('GET /a HTTP/1.0')]) {
      const server = streamed(heedless);
      const client = await server.client({ reads: false });
      client.say(asked);
      await until(() => server.asked.length > 0);
      await aMoment();
      client.socket.resume();
      expect(await client.ended).toBe('in order');
      expect((await client.reply()).body.length).toBe(400 * piece.length);
    }
  });
});
