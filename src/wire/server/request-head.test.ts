import { describe, expect, test } from 'bun:test';
import { aMoment, bodyOf, get, httpWorld, lines, said } from '../../../test/servers/http-world.ts';

const { serve } = httpWorld();

/** Answers with all that it was told. */
const mirror = () =>
  serve(async (request) => {
    const { method, target, headers, length } = request;
    return said(JSON.stringify({ method, target, fields: headers.fields, length, body: await bodyOf(request) }));
  });

const told = async (text: string) => {
  const client = await mirror().client();
  client.say(text);
  return JSON.parse((await client.reply()).body);
};

describe('a request is the same wherever it is cut', () => {
  const text = `${lines(
    'POST /v1/a?b=c HTTP/1.1',
    'Host: a.example:80',
    'X-One: 1',
    'x-one:\t2 ',
    'Cookie: a=1',
    'cookie: b=2',
    'Content-Length: 5',
  )}hello`;
  const expected = {
    method: 'POST',
    target: '/v1/a?b=c',
    fields: { host: 'a.example:80', 'x-one': '1, 2', cookie: 'a=1; b=2' },
    length: 5,
    body: 'hello',
  };

  test('at every byte', async () => {
    const server = mirror();
    for (let at = 1; at < text.length; at++) {
      const client = await server.client();
      client.say(text.slice(0, at));
      await aMoment();
      client.say(text.slice(at));
      expect(JSON.parse((await client.reply()).body)).toEqual(expected);
      client.socket.destroy();
    }
  });

  test('at all of them', async () => {
    const client = await mirror().client();
    client.socket.setNoDelay(true);
    for (const byte of text) {
      client.say(byte);
      await aMoment();
    }
    expect(JSON.parse((await client.reply()).body)).toEqual(expected);
  });
});

describe('a request is served', () => {
  test.each([
    ['with a full address, whose host counts', 'GET http://b.example:1/x?y HTTP/1.1', 'host: a', '/x?y', 'b.example:1'],
    ['with an address that has no path', 'GET HTTPS://b.example HTTP/1.1', 'host: a', '/', 'b.example'],
    ['with an address that has a query alone', 'GET http://b.example?x HTTP/1.1', 'host: a', '/?x', 'b.example'],
    ['about the server as such', 'OPTIONS * HTTP/1.1', 'host: a', '*', 'a'],
    ['with bytes beyond ASCII in its path', 'GET /caf\xc3\xa9?\xff HTTP/1.1', 'host: a', '/caf%C3%A9?%FF', 'a'],
    ['with whatever may stand in a path', 'GET /a//b/../c;d=1,%zz|\\^`{}"\'#<> HTTP/1.1', 'host: a', null, 'a'],
    ['with an address of the sixth version', 'GET / HTTP/1.1', 'host: [::1]:8787', '/', '[::1]:8787'],
    ['with a port that is not said', 'GET / HTTP/1.1', 'host: a:', '/', 'a:'],
    ['without a host in HTTP/1.0', 'GET / HTTP/1.0', 'x: y', '/', undefined],
    ['with a method of its own', 'M-SEARCH / HTTP/1.1', 'host: a', '/', 'a'],
    ['behind a line break too many', '\r\nGET / HTTP/1.1', 'host: a', '/', 'a'],
  ])('%s', async (_, line, header, target, host) => {
    const heard = await told(lines(line, header));
    expect(heard.target).toBe(target ?? line.split(' ')[1]);
    expect(heard.fields.host).toBe(host);
  });

  test.each([
    ['an empty value', 'x:', ''],
    ['blanks around its value', 'x: \t a b \t ', 'a b'],
    ['bytes beyond ASCII', 'x: \xe9\x80\xff', '\xe9\x80\xff'],
    ['a name of every sign that names may have', "x: 1\r\n!#$%&'*+-.^_`|~9Az: 2", '1'],
    ['colons in it', 'x: :a:b:', ':a:b:'],
  ])('with a header that has %s', async (_, header, value) => {
    expect((await told(get('/', header))).fields.x).toBe(value);
  });

  test('with headers that are named like what every object has', async () => {
    const { fields } = await told(get('/', '__proto__: 1', 'constructor: 2', 'toString: 3'));
    expect(Object.entries(fields)).toEqual([
      ['host', 'a'],
      ['__proto__', '1'],
      ['constructor', '2'],
      ['tostring', '3'],
    ]);
  });
});

const hello = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';

describe('what is no request is refused, and nothing behind it is taken for one', () => {
  test.each([
    ['HTTP/2', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['another version', 505, lines('GET / HTTP/1.2', 'host: a')],
    ['a version with more digits', 505, lines('GET / HTTP/1.10', 'host: a')],
    ['HTTP/0.9', 400, 'GET /\r\n'],
    ['HTTP/0.9 with a blank line', 400, 'GET /\r\n\r\n'],
    ['small letters in the version', 400, lines('GET / http/1.1', 'host: a')],
    ['another protocol', 400, lines('GET / ICY/1.1', 'host: a')],
    ['no version', 400, lines('GET / ', 'host: a')],
    ['no path', 400, lines('GET HTTP/1.1', 'host: a')],
    ['an empty path', 400, lines('GET  HTTP/1.1', 'host: a')],
    ['no method', 400, lines(' / HTTP/1.1', 'host: a')],
    ['two blanks before the path', 400, lines('GET  / HTTP/1.1', 'host: a')],
    ['two blanks behind the path', 400, lines('GET /  HTTP/1.1', 'host: a')],
    ['a blank in the path', 400, lines('GET /a b HTTP/1.1', 'host: a')],
    ['a blank behind the version', 400, lines('GET / HTTP/1.1 ', 'host: a')],
    ['a tab for a blank', 400, lines('GET\t/ HTTP/1.1', 'host: a')],
    ['a tab in the path', 400, lines('GET /a\tb HTTP/1.1', 'host: a')],
    ['a control character in the path', 400, lines('GET /\x01 HTTP/1.1', 'host: a')],
    ['DEL in the path', 400, lines('GET /\x7f HTTP/1.1', 'host: a')],
    ['NUL in the path', 400, lines('GET /\0 HTTP/1.1', 'host: a')],
    ['a return in the path', 400, lines('GET /\r HTTP/1.1', 'host: a')],
    ['a line feed in the path', 400, lines('GET /\n HTTP/1.1', 'host: a')],
    ['a path without a slash', 400, lines('GET a HTTP/1.1', 'host: a')],
    ['the address of another protocol', 400, lines('GET ftp://a/ HTTP/1.1', 'host: a')],
    ['an address without a host', 400, lines('GET http:///x HTTP/1.1', 'host: a')],
    ['an address with a password', 400, lines('GET http://u:p@a/ HTTP/1.1', 'host: a')],
    ['the address of a tunnel', 400, lines('CONNECT a:443 HTTP/1.1', 'host: a:443')],
    ['brackets in the method', 400, lines('G(T / HTTP/1.1', 'host: a')],
    ['a method beyond ASCII', 400, lines('G\xcbT / HTTP/1.1', 'host: a')],
    ['two line breaks before it', 400, `\r\n\r\n${get('/')}`],
    ['a return alone before it', 400, `\r${get('/')}`],
    ['a blank before it', 400, ` ${get('/')}`],
    ['the hello of TLS', 400, hello],
    ['an answer', 400, lines('HTTP/1.1 200 OK', 'host: a')],
    ['bare line feeds', 400, 'GET / HTTP/1.1\nhost: a\n\n'],
    ['a bare line feed behind the first line', 400, 'GET / HTTP/1.1\nhost: a\r\n\r\n'],
    ['a bare line feed between headers', 400, get('/', 'a: 1\nb: 2')],
    ['a bare line feed in two headers', 400, get('/', 'a: 1\nb: 2\nc: 3')],
    ['a bare line feed before the blank line', 400, 'GET / HTTP/1.1\r\nhost: a\n\r\n\r\n'],
    ['a stray return', 400, get('/', 'a: 1\rb: 2')],
    ['two returns', 400, get('/', 'a: 1\r')],
    ['a return in a name', 400, get('/', 'a\r: 1')],
    ['NUL in a value', 400, get('/', 'a: 1\0')],
    ['NUL in a name', 400, get('/', 'a\0: 1')],
    ['a control character in a value', 400, get('/', 'a: \x01')],
    ['a vertical tab in a value', 400, get('/', 'a: \x0b1')],
    ['DEL in a value', 400, get('/', 'a: \x7f')],
    ['a folded line', 400, get('/', 'a: 1', ' folded')],
    ['a folded line with a colon', 400, get('/', 'a: 1', '\tb: 2')],
    ['a folded first line', 400, lines('GET / HTTP/1.1', ' host: a')],
    ['a header without a name', 400, get('/', ': 1')],
    ['a header without a colon', 400, get('/', 'nothing')],
    ['a blank before the colon', 400, get('/', 'a : 1')],
    ['a tab before the colon', 400, get('/', 'a\t: 1')],
    ['a blank in a name', 400, get('/', 'a b: 1')],
    ['a name with brackets', 400, get('/', 'a[b]: 1')],
    ['a name beyond ASCII', 400, get('/', 'f\xfc: 1')],
    ['no host', 400, lines('GET / HTTP/1.1')],
    ['no host beside a full address', 400, lines('GET http://a/ HTTP/1.1')],
    ['an empty host', 400, lines('GET / HTTP/1.1', 'host:')],
    ['an empty host in HTTP/1.0', 400, lines('GET / HTTP/1.0', 'host:')],
    ['two hosts', 400, lines('GET / HTTP/1.1', 'host: a', 'host: b')],
    ['one host twice', 400, lines('GET / HTTP/1.1', 'host: a', 'Host: a')],
    ['two hosts in one', 400, lines('GET / HTTP/1.1', 'host: a, b')],
    ['two hosts beside a full address', 400, lines('GET http://a/ HTTP/1.1', 'host: a', 'host: a')],
    ['a host with a path', 400, lines('GET / HTTP/1.1', 'host: a/b')],
    ['a host with a query', 400, lines('GET / HTTP/1.1', 'host: a?b')],
    ['a host with a user', 400, lines('GET / HTTP/1.1', 'host: u@a')],
    ['a host with a backslash', 400, lines('GET / HTTP/1.1', 'host: a\\b')],
    ['a host with a blank', 400, lines('GET / HTTP/1.1', 'host: a b')],
    ['a host with a wrong port', 400, lines('GET / HTTP/1.1', 'host: a:b')],
    ['a host with a port too high', 400, lines('GET / HTTP/1.1', 'host: a:65536')],
    ['a host with half a bracket', 400, lines('GET / HTTP/1.1', 'host: [::1')],
  ])('%s', async (_, status, text) => {
    const server = serve(() => said('served'));
    const client = await server.client();
    client.say(text);
    const reply = await client.reply();
    expect(reply).toMatchObject({ status, headers: { connection: 'close' } });
    client.say(get('/behind'));
    expect(await client.ended).toBe('in order');
    client.say(get('/after'));
    client.leave();
    await server.listener.closed();
    expect(client.rest).toBe('');
    expect(server.asked).toEqual([]);
    expect(server.failed).toEqual([]);
  });
});

describe('a head has a limit', () => {
  const limit = 96 * 1024;
  const headOf = (size: number) => {
    const rest = get('/', 'x: ');
    return get('/', `x: ${'y'.repeat(size - rest.length + '\r\n\r\n'.length)}`);
  };

  test('up to which it is served', async () => {
    const { fields } = await told(headOf(limit));
    expect(fields.x.length).toBeGreaterThan(limit - 100);
  });

  test.each([
    ['in one header', [headOf(limit + 1)]],
    ['in many', [get('/', ...Array.from({ length: 20_000 }, (_, n) => `x${n}: y`))]],
    ['in a path', [`GET /${'y'.repeat(limit)} HTTP/1.1\r\n`]],
    ['in a line without end', ['y'.repeat(limit + 1)]],
    ['in crumbs without end', Array.from({ length: 200 }, () => 'x: y'.repeat(130))],
  ])('past which it is refused: %s', async (_, pieces) => {
    const server = serve(() => said('served'));
    const client = await server.client();
    if (pieces.length > 1) client.say('GET / HTTP/1.1\r\n');
    for (const piece of pieces) {
      client.say(piece);
      await aMoment();
    }
    expect(await client.reply()).toMatchObject({ status: 431, headers: { connection: 'close' } });
    client.say(get('/behind'));
    expect(await client.ended).toBe('in order');
    client.leave();
    await server.listener.closed();
    expect(server.asked).toEqual([]);
  });
});
