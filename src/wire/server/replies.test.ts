import { describe, expect, test } from 'bun:test';
import { aMoment, echo, get, Held, httpWorld, inPieces, lines, post, said } from '../../../test/servers/http-world.ts';
import { until } from '../../../test/servers/wire-calls.ts';
import type { Reply } from './reply.ts';

const { serve } = httpWorld();

const heard = async (reply: Reply, asked = get('/a'), bodiless = false) => {
  const client = await serve(() => reply).client();
  client.say(asked);
  const first = await client.reply(bodiless);
  await aMoment();
  expect(client.rest).toBe('');
  return first;
};

describe('the head of a reply', () => {
  test('tells the status, the headers, the time and the length', async () => {
    const { headers, ...rest } = await heard({ ...said('made', { 'x-one': '1', 'content-type': 'a/b' }), status: 201 });
    expect(rest).toEqual({ status: 201, body: 'made' });
    expect(Object.keys(headers)).toEqual(['x-one', 'content-type', 'date', 'content-length']);
    expect(headers).toMatchObject({ 'x-one': '1', 'content-type': 'a/b', 'content-length': '4' });
    expect(new Date(headers.date ?? '').toUTCString()).toBe(headers.date ?? '');
    expect(Math.abs(Date.parse(headers.date ?? '') - Date.now())).toBeLessThan(60_000);
  });

  test('tells the time of the handler, where it has its own', async () => {
    const { headers } = await heard(said('', { date: 'Thu, 01 Jan 1970 00:00:00 GMT' }));
    expect(headers.date).toBe('Thu, 01 Jan 1970 00:00:00 GMT');
  });

  test('has every cookie in a header of its own', async () => {
    const { headers } = await heard({ ...said(''), cookies: ['a=1; path=/', 'b=2, 3', 'c=3'] });
    expect(headers['set-cookie']).toBe('a=1; path=/\nb=2, 3\nc=3');
  });

  test('can have a status that has no name', async () => {
    expect(await heard({ ...said('x'), status: 299 })).toMatchObject({ status: 299, body: 'x' });
  });

  test('never has what handlers say of the connection and of where the body ends', async () => {
    const { headers, body } = await heard(
      said('true', {
        'content-length': '99',
        'Content-Length': '98',
        'transfer-encoding': 'chunked',
        'Transfer-Encoding': 'gzip',
        'keep-alive': 'timeout=5',
        trailer: 'x',
        te: 'trailers',
        Connection: 'upgrade',
      }),
    );
    expect(body).toBe('true');
    expect(Object.keys(headers).sort()).toEqual(['content-length', 'date']);
  });

  test.each([
    ['a line break in a value', { headers: { x: 'a\r\nset-cookie: evil=1' } }],
    ['a line feed in a value', { headers: { x: 'a\nb' } }],
    ['a return in a value', { headers: { x: 'a\rb' } }],
    ['NUL in a value', { headers: { x: 'a\0b' } }],
    ['a letter that no byte can carry', { headers: { x: 'a\u010a' } }],
    ['a letter that would become a line feed', { headers: { x: 'a\u560d\u560ab' } }],
    ['a line break in a name', { headers: { 'a\r\nb': 'c' } }],
    ['a colon in a name', { headers: { 'a:b': 'c' } }],
    ['no name', { headers: { '': 'c' } }],
    ['a line break in a cookie', { headers: {}, cookies: ['a=1', 'b=2\r\nx: y'] }],
  ])('that cannot be sent cuts the connection and sends nothing: %s', async (_, reply) => {
    const server = serve(() => ({ status: 200, body: Buffer.from('body'), ...reply }));
    const client = await server.client();
    client.say(get('/a') + get('/b'));
    expect(await client.ended).toBe('broken');
    expect(client.rest).toBe('');
    expect(server.failed).toHaveLength(1);
    expect(server.asked).toEqual(['GET /a']);
  });

  test('that cannot be sent tells the source of its body', async () => {
    let lefts = 0;
    const body = { deliver: () => undefined, left: () => void lefts++ };
    const client = await serve(() => ({ status: 200, headers: { x: '\n' }, body })).client();
    client.say(get('/a'));
    expect(await client.ended).toBe('broken');
    expect(lefts).toBe(1);
  });
});

describe('a reply without a body', () => {
  const head = lines('HEAD /a HTTP/1.1', 'host: a');

  test('to HEAD tells the length of what it does not send', async () => {
    expect(await heard(said('hello'), head, true)).toMatchObject({ headers: { 'content-length': '5' } });
    const told = { status: 200, headers: { 'content-length': '7' } };
    expect(await heard({ ...told, body: null }, head, true)).toMatchObject({ headers: { 'content-length': '7' } });
    expect(await heard({ ...told, body: inPieces('1234567') }, head, true)).toMatchObject(told);
  });

  test('to HEAD tells no length that nobody knows, and ends what would be made', async () => {
    let lefts = 0;
    const body = { ...inPieces('hello'), left: () => void lefts++ };
    const { headers } = await heard({ status: 200, headers: {}, body }, head, true);
    expect(Object.keys(headers)).toEqual(['date']);
    expect(lefts).toBe(1);
  });

  test.each([204, 304])('of status %d has no length either', async (status) => {
    for (const body of [null, Buffer.from('hello'), inPieces('hello')]) {
      const { headers } = await heard({ status, headers: { 'content-length': '5' }, body });
      expect(Object.keys(headers)).toEqual(['date']);
    }
  });

  test('of another status has the length 0', async () => {
    expect(await heard({ status: 200, headers: {}, body: null })).toMatchObject({ headers: { 'content-length': '0' } });
    expect(await heard(said(''))).toMatchObject({ headers: { 'content-length': '0' }, body: '' });
  });

  test('does not end the connection', async () => {
    const client = await serve(() => ({ status: 304, headers: {}, body: null })).client();
    client.say(head + get('/b') + head);
    for (let reply = 0; reply < 3; reply++) expect(await client.reply()).toMatchObject({ status: 304 });
  });
});

describe('a connection', () => {
  test('serves one request after the other', async () => {
    const client = await serve(echo).client();
    for (let number = 0; number < 300; number++) {
      client.say(number % 2 ? get(`/${number}`) : post(`/${number}`, 'x'.repeat(number)));
      const { headers, body } = await client.reply();
      expect(body).toBe(number % 2 ? `GET /${number} ` : `POST /${number} ${'x'.repeat(number)}`);
      expect(headers.connection).toBeUndefined();
    }
  });

  test('answers requests that came at once in their order, one at a time', async () => {
    const held = new Held();
    const server = serve(held.answer);
    const client = await server.client();
    client.say(get('/1') + post('/2', 'hello') + get('/3'));
    for (const path of ['/1', '/2', '/3']) {
      const request = await held.next();
      expect(request.target).toBe(path);
      await aMoment();
      expect(server.asked).toHaveLength(Number(path.slice(1)));
      held.reply(request, said(path));
      expect((await client.reply()).body).toBe(path);
    }
  });

  test('takes no more than a little ahead of the answer', async () => {
    const held = new Held();
    const server = serve(held.answer);
    const client = await server.client();
    const many = Buffer.from(get('/n').repeat(1_000_000));
    client.say(get('/1'), many);
    const first = await held.next();
    for (let turn = 0; turn < 100; turn++) await aMoment();
    expect(client.socket.writableLength).toBeGreaterThan(many.length - 16 * 1024 * 1024);
    held.reply(first, said('first'));
    expect((await client.reply()).body).toBe('first');
    held.reply(await held.next(), said('second'));
    expect((await client.reply()).body).toBe('second');
  });

  test.each([
    ['the client', 'connection: close', {}],
    ['the client, among other things', 'Connection: x, CLOSE', {}],
    ['the handler', 'x: y', { connection: 'close' }],
  ])('ends in order when %s says so', async (_, header, headers) => {
    const server = serve(() => said('last', headers));
    const client = await server.client();
    client.say(get('/a', header) + get('/b'));
    expect(await client.reply()).toMatchObject({ body: 'last', headers: { connection: 'close' } });
    expect(await client.ended).toBe('in order');
    expect(server.asked).toEqual(['GET /a']);
    client.leave();
    await server.listener.closed();
  });

  test('in HTTP/1.0 ends with the reply, or stays and says so', async () => {
    const server = serve(() => said('old'));
    const leaving = await server.client();
    leaving.say(`${lines('GET /a HTTP/1.0')}${lines('GET /b HTTP/1.0')}`);
    expect(await leaving.reply()).toMatchObject({ headers: { connection: 'close' }, body: 'old' });
    expect(await leaving.ended).toBe('in order');
    const staying = await server.client();
    for (let time = 0; time < 3; time++) {
      staying.say(lines('GET /c HTTP/1.0', 'connection: Keep-Alive'));
      expect(await staying.reply()).toMatchObject({ headers: { connection: 'keep-alive' }, body: 'old' });
    }
    expect(server.asked).toEqual(['GET /a', 'GET /c', 'GET /c', 'GET /c']);
  });

  test('is cut when the handler fails in a way that nobody foresaw', async () => {
    const server = serve(() => Promise.reject(new Error('unforeseen')));
    const client = await server.client();
    client.say(get('/a') + get('/b'));
    expect(await client.ended).toBe('broken');
    expect(server.failed).toEqual([new Error('unforeseen')]);
    expect(server.asked).toEqual(['GET /a']);
  });
});

test('a large reply goes at the pace of the client, and the next request waits for it', async () => {
  const large = 'z'.repeat(30 * 1024 * 1024);
  const server = serve(({ target }) => said(target === '/large' ? large : target));
  const client = await server.client({ reads: false });
  client.say(get('/large') + get('/next'));
  await until(() => server.asked.length > 0);
  for (let turn = 0; turn < 50; turn++) await aMoment();
  expect(server.asked).toEqual(['GET /large']);
  client.socket.resume();
  expect((await client.reply()).body).toBe(large);
  expect((await client.reply()).body).toBe('/next');
});

test('a large reply is heard whole by a slow client when the connection ends with it', async () => {
  const large = 'z'.repeat(30 * 1024 * 1024);
  const server = serve(() => said(large, { connection: 'close' }));
  const client = await server.client({ reads: false });
  client.say(get('/a') + 'x'.repeat(100_000));
  await until(() => server.asked.length > 0);
  client.socket.resume();
  expect((await client.reply()).body).toBe(large);
  expect(await client.ended).toBe('in order');
});
