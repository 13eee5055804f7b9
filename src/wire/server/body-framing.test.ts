import { describe, expect, test } from 'bun:test';
import { aMoment, bodyOf, echo, get, httpWorld, lines, said } from '../../../test/servers/http-world.ts';

const { serve } = httpWorld();

const head = (...headers: string[]): string => lines('POST /a HTTP/1.1', 'host: a', ...headers);
const chunked = (text: string): string => head('transfer-encoding: chunked') + text;
const behind = get('/behind');

describe('a body whose end is not told in one clear way is refused before anything is served', () => {
  test.each([
    ['a length and chunks', 400, `${head('content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n`],
    ['chunks and a length', 400, `${head('transfer-encoding: chunked', 'content-length: 5')}0\r\n\r\n`],
    ['chunks and a length of nothing', 400, `${head('transfer-encoding: chunked', 'content-length: 0')}0\r\n\r\n`],
    ['chunks and an empty length', 400, `${head('transfer-encoding: chunked', 'content-length:')}0\r\n\r\n`],
    ['the same length twice', 400, `${head('content-length: 5', 'content-length: 5')}hello`],
    ['two lengths', 400, `${head('content-length: 5', 'content-length: 6')}hello`],
    ['two lengths in one', 400, `${head('content-length: 5, 5')}hello`],
    ['a length with a sign', 400, `${head('content-length: +5')}hello`],
    ['a length below zero', 400, `${head('content-length: -5')}hello`],
    ['a length in hex', 400, `${head('content-length: 0x5')}hello`],
    ['a length with letters behind it', 400, `${head('content-length: 5a')}hello`],
    ['a length with a blank in it', 400, `${head('content-length: 5 0')}hello`],
    ['a length with a point', 400, `${head('content-length: 5.0')}hello`],
    ['a length with an exponent', 400, `${head('content-length: 5e0')}hello`],
    ['a length with a comma', 400, `${head('content-length: 5,')}hello`],
    ['a length in quotes', 400, `${head('content-length: "5"')}hello`],
    ['digits of another script', 400, `${head('content-length: \xd9\xa5')}hello`],
    ['an empty length', 400, `${head('content-length:')}hello`],
    ['a length beyond numbers', 400, `${head('content-length: 9999999999999999')}hello`],
    ['a length beyond everything', 400, `${head(`content-length: ${'9'.repeat(400)}`)}hello`],
    ['chunks twice', 501, `${head('transfer-encoding: chunked, chunked')}0\r\n\r\n`],
    ['chunks in two headers', 501, `${head('transfer-encoding: chunked', 'transfer-encoding: chunked')}0\r\n\r\n`],
    ['no encoding', 501, `${head('transfer-encoding: identity')}hello`],
    ['no encoding, then chunks', 501, `${head('transfer-encoding: identity', 'transfer-encoding: chunked')}0\r\n\r\n`],
    ['chunks, then no encoding', 501, `${head('transfer-encoding: chunked', 'transfer-encoding: identity')}0\r\n\r\n`],
    ['an empty encoding', 501, `${head('transfer-encoding:')}0\r\n\r\n`],
    ['an unknown encoding', 501, `${head('transfer-encoding: xchunked')}0\r\n\r\n`],
    ['an encoding in quotes', 501, `${head('transfer-encoding: "chunked"')}0\r\n\r\n`],
    ['an encoding with a parameter', 501, `${head('transfer-encoding: chunked;q=1')}0\r\n\r\n`],
    ['an encoding behind a comma', 501, `${head('transfer-encoding: ,chunked')}0\r\n\r\n`],
    ['packed chunks', 501, `${head('transfer-encoding: gzip, chunked')}0\r\n\r\n`],
    ['white space of other kinds', 501, `${head('transfer-encoding: \xa0chunked')}0\r\n\r\n`],
    ['a vertical tab before it', 400, `${head('transfer-encoding: \x0bchunked')}0\r\n\r\n`],
    ['a blank behind its name', 400, `${head('transfer-encoding : chunked')}0\r\n\r\n`],
    ['its name in a folded line', 400, `${head('x: y', ' transfer-encoding: chunked')}0\r\n\r\n`],
    ['chunks in HTTP/1.0', 400, `${lines('POST /a HTTP/1.0', 'transfer-encoding: chunked')}0\r\n\r\n`],
  ])('%s', async (_, status, text) => {
    const server = serve(echo);
    const client = await server.client();
    client.say(text + behind);
    expect(await client.reply()).toMatchObject({ status, headers: { connection: 'close' } });
    expect(await client.ended).toBe('in order');
    client.say(behind);
    client.leave();
    await server.listener.closed();
    expect(server.asked).toEqual([]);
    expect(client.rest).toBe('');
  });
});

describe('chunks that cannot be read end the connection, and nothing behind them is taken for a request', () => {
  test.each([
    ['no size', '\r\nhello\r\n0\r\n\r\n'],
    ['an extension without a size', ';a=b\r\nhello\r\n0\r\n\r\n'],
    ['a blank before the size', ' 5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a sign', '+5\r\nhello\r\n0\r\n\r\n'],
    ['a size below zero', '-5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a prefix', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['a size with garbage', '5g\r\nhello\r\n0\r\n\r\n'],
    ['two sizes', '5 5\r\nhello\r\n0\r\n\r\n'],
    ['a size that is small without its first digit', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
    ['a size beyond numbers', `${'f'.repeat(40)}\r\nhello\r\n0\r\n\r\n`],
    ['NUL behind the size', '5\0\r\nhello\r\n0\r\n\r\n'],
    ['a bare line feed behind the size', '5\nhello\r\n0\r\n\r\n'],
    ['a bare return behind the size', '5\rhello\r\n0\r\n\r\n'],
    ['a bare line feed in an extension', '5;a\n\r\nhello\r\n0\r\n\r\n'],
    ['a stray return in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
    ['an extension without end', `5;${'x'.repeat(9_000)}`],
    ['no line end behind the chunk', '5\r\nhello0\r\n\r\n'],
    ['a bare line feed behind the chunk', '5\r\nhello\n0\r\n\r\n'],
    ['a bare return behind the chunk', '5\r\nhello\r0\r\n\r\n'],
    ['more than its size', '5\r\nhello!\r\n0\r\n\r\n'],
    ['a bare line feed at the end', '0\r\n\n'],
    ['a bare line feed behind a trailer', '0\r\na: b\n\r\n'],
    ['a trailer without end', `0\r\n${'x'.repeat(9_000)}`],
    ['trailers without end', `0\r\n${'name: value\r\n'.repeat(9_000)}`],
  ])('%s', async (_, text) => {
    const server = serve((request) =>
      bodyOf(request).then(
        (body) => said(body),
        (fault) => ({ ...said(String(fault.code)), status: 400 }),
      ),
    );
    const client = await server.client();
    client.say(chunked(text) + behind);
    expect(await client.reply()).toMatchObject({
      status: 400,
      body: 'InvalidBody',
      headers: { connection: 'close' },
    });
    expect(await client.ended).toBe('in order');
    client.say(behind);
    client.leave();
    await server.listener.closed();
    expect(server.asked).toEqual(['POST /a']);
    expect(client.rest).toBe('');
  });

  test('also when nobody reads them, before the answer or behind it', async () => {
    const server = serve(() => said('unread'));
    const before = await server.client();
    before.say(chunked('nonsense\r\n') + behind);
    expect(await before.reply()).toMatchObject({ body: 'unread', headers: { connection: 'close' } });
    expect(await before.ended).toBe('in order');
    const after = await server.client();
    after.say(chunked('5\r\nhel'));
    expect(await after.reply()).toMatchObject({ body: 'unread' });
    after.say(`loXX\r\n0\r\n\r\n${behind}`);
    expect(await after.ended).toBe('in order');
    expect(server.asked).toEqual(['POST /a', 'POST /a']);
  });
});

describe('what stands behind a body is the next request', () => {
  const next = `${lines('POST /b HTTP/1.1', 'host: a', 'content-length: 4')}next`;

  test.each([
    ['a length', `${head('content-length: 5')}hello`],
    ['a length with zeros before it', `${head('content-length: 0005')}hello`],
    ['a length with blanks around it', `${head('content-length: \t5 ')}hello`],
    ['chunks', chunked('5\r\nhello\r\n0\r\n\r\n')],
    ['chunks in capitals', `${head('Transfer-Encoding: Chunked')}5\r\nhello\r\n0\r\n\r\n`],
    ['chunks with extensions', chunked('2;a="b;c"\r\nhe\r\n3 ; x\r\nllo\r\n0;last\r\n\r\n')],
    ['chunks with zeros before their sizes', chunked('0002\r\nhe\r\n00000000000000000003\r\nllo\r\n000\r\n\r\n')],
    ['chunks with trailers, which say nothing', chunked('5\r\nhello\r\n0\r\nContent-Length: 99\r\nhost: b\r\n\r\n')],
  ])('%s', async (_, text) => {
    const server = serve(echo);
    const client = await server.client();
    client.say(text + next + behind);
    expect((await client.reply()).body).toBe('POST /a hello');
    expect((await client.reply()).body).toBe('POST /b next');
    expect((await client.reply()).body).toBe('GET /behind ');
    expect(server.asked).toEqual(['POST /a', 'POST /b', 'GET /behind']);
  });

  test('wherever it is cut', async () => {
    const server = serve(echo);
    const text = chunked('2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\na: b\r\n\r\n') + next;
    for (let at = head().length; at < text.length; at++) {
      const client = await server.client();
      client.say(text.slice(0, at));
      await aMoment();
      client.say(text.slice(at));
      expect([(await client.reply()).body, (await client.reply()).body]).toEqual(['POST /a hello', 'POST /b next']);
      client.socket.destroy();
    }
  });

  test('and never what stands in it', async () => {
    const server = serve(echo);
    const client = await server.client();
    const inside = get('/inside');
    client.say(head(`content-length: ${inside.length}`) + inside);
    expect((await client.reply()).body).toBe(`POST /a ${inside}`);
    client.say(chunked(`${inside.length.toString(16)}\r\n${inside}\r\n0\r\n\r\n`));
    expect((await client.reply()).body).toBe(`POST /a ${inside}`);
    client.say(lines('GET /a HTTP/1.1', 'host: a', `content-length: ${inside.length}`) + inside);
    expect((await client.reply()).body).toBe(`GET /a ${inside}`);
    expect(server.asked).toEqual(['POST /a', 'POST /a', 'GET /a']);
  });

  test('but nothing is, when the client or the answer has said that the connection ends', async () => {
    for (const [header, reply] of [
      ['connection: close', said('last')],
      ['connection: keep-alive, Close', said('last')],
      ['x: y', said('last', { connection: 'close' })],
    ] as const) {
      const server = serve(() => reply);
      const client = await server.client();
      client.say(head('content-length: 5', header));
      expect(await client.reply()).toMatchObject({ body: 'last', headers: { connection: 'close' } });
      client.say(`hello${behind}`);
      expect(await client.ended).toBe('in order');
      client.leave();
      await server.listener.closed();
      expect(server.asked).toEqual(['POST /a']);
    }
  });
});
