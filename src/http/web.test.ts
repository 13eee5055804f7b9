import { afterEach, describe, expect, test } from 'bun:test';
import { type HttpClient, httpClient } from '../../test/servers/http-client.ts';
import { aMoment, get, HandMade, inPieces, lines, post } from '../../test/servers/http-world.ts';
import { until } from '../../test/servers/wire-calls.ts';
import type { Log } from '../log.ts';
import { type Listener, listen } from './server.ts';
import { incomingOf, onWeb, responseOf, type WebHandler } from './web.ts';

const open: (Listener | HttpClient)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) {
    if ('socket' in one) one.socket.destroy();
    else await one.stop(0);
  }
});

async function serving(...handlers: WebHandler[]) {
  const logged: string[] = [];
  const log: Log = { info: () => undefined, warn: () => undefined, error: (message) => void logged.push(message) };
  const listener = listen(
    { host: '127.0.0.1', port: 0 },
    { handlers: [onWeb(...handlers)], idle: async () => undefined, log },
  );
  const client = await httpClient(listener.port);
  open.push(client, listener);
  return { client, logged, listener };
}

describe('a handler of the web', () => {
  test('is given the request as it was sent', async () => {
    const { client } = await serving(async (request, peer) => {
      const { method, url, headers } = request;
      return Response.json([method, url, headers.get('x-one'), headers.get('cookie'), await request.text(), peer()]);
    });
    client.say(post('/a/b?c=d%20e', 'hello', 'X-One: 1', 'x-one: 2', 'cookie: a=1', 'cookie: b=2'));
    expect(JSON.parse((await client.reply()).body)).toEqual([
      'POST',
      'http://a/a/b?c=d%20e',
      '1, 2',
      'a=1; b=2',
      'hello',
      '127.0.0.1',
    ]);
    client.say(lines('DELETE http://b.example:81/x HTTP/1.1', 'host: a'));
    expect(JSON.parse((await client.reply()).body).slice(0, 2)).toEqual(['DELETE', 'http://b.example:81/x']);
    client.say(lines('GET /y HTTP/1.0'));
    expect(JSON.parse((await client.reply()).body).slice(0, 2)).toEqual(['GET', 'http://localhost/y']);
  });

  test('is asked in turn, until one knows the path', async () => {
    const asked: string[] = [];
    const knows =
      (path: string): WebHandler =>
      ({ url }) => {
        asked.push(path);
        return url.endsWith(path) ? new Response(path) : null;
      };
    const { client } = await serving(knows('/1'), knows('/2'), knows('/3'));
    client.say(get('/2'));
    expect((await client.reply()).body).toBe('/2');
    expect(asked).toEqual(['/1', '/2']);
    client.say(get('/4'));
    expect(await client.reply()).toMatchObject({ status: 404 });
  });

  test('is given no body with GET and HEAD, which cannot have one there; the next request is served', async () => {
    const { client } = await serving(({ body, method }) => new Response(`${method} ${body === null}`));
    client.say(`${lines('GET /a HTTP/1.1', 'host: a', 'content-length: 5')}hello${get('/b')}`);
    expect((await client.reply()).body).toBe('GET true');
    expect((await client.reply()).body).toBe('GET true');
  });

  test.each(['get', 'Post', 'CONNECT', 'connect', 'TRACE', 'Trace', 'TRACK', 'PURGE', 'DELETES', 'M-SEARCH', '!'])(
    'never hears of a method that the web would take for another: %s',
    async (method) => {
      const asked: string[] = [];
      const { client, logged } = await serving((request) => {
        asked.push(request.method);
        return new Response('served');
      });
      client.say(lines(`${method} / HTTP/1.1`, 'host: a'));
      expect(await client.reply()).toMatchObject({ status: 404 });
      expect([asked, logged]).toEqual([[], []]);
    },
  );

  test('that fails is answered for, and the connection serves on', async () => {
    const { client, logged } = await serving(({ url }) => {
      if (url.endsWith('/fails')) throw new Error('unforeseen');
      return new Response('served');
    });
    client.say(get('/fails') + get('/a'));
    const { status, body } = await client.reply();
    expect(status).toBe(500);
    expect(JSON.parse(body)).toMatchObject({ success: false, data: { errorCode: 'AB04' } });
    expect(body).not.toContain('unforeseen');
    expect((await client.reply()).body).toBe('served');
    expect(logged).toEqual(['A request failed outside every handler.']);
  });

  test('hears that a body broke off', async () => {
    const faults: unknown[] = [];
    const { client } = await serving(async (request) => {
      await request.text().catch((fault) => faults.push(fault));
      return new Response('for nobody');
    });
    client.say(lines('POST /a HTTP/1.1', 'host: a', 'content-length: 10'), 'hello');
    await aMoment();
    client.leave();
    await until(() => faults.length > 0);
    expect(faults).toMatchObject([{ code: 'ConnectionClosed' }]);
  });

  test('may give up a body that it has begun to read', async () => {
    const { client } = await serving(async ({ body }) => {
      const reader = body?.getReader();
      await reader?.read();
      await reader?.cancel();
      return new Response('enough', { status: 413 });
    });
    const bytes = Buffer.alloc(5_000_000);
    client.say(lines('POST /a HTTP/1.1', 'host: a', `content-length: ${bytes.length}`), bytes, post('/b', 'x'));
    for (let time = 0; time < 2; time++) expect(await client.reply()).toMatchObject({ status: 413, body: 'enough' });
  });
});

test('what is no request is refused in words', async () => {
  const { client } = await serving(() => new Response('served'));
  client.say(get('/', 'a : b'));
  const { status, headers, body } = await client.reply();
  expect([status, headers['content-type']]).toEqual([400, 'application/json;charset=utf-8']);
  expect(JSON.parse(body)).toMatchObject({
    success: false,
    data: { errorCode: 'AB01', message: 'This request is not served: the headers cannot be read' },
  });
});

describe('a response of the web', () => {
  const heard = async (make: () => Response, bodiless = false, asked = get('/a')) => {
    const { client } = await serving(make);
    client.say(asked);
    return client.reply(bodiless);
  };

  test.each([
    ['a text', () => new Response('hello'), 'hello'],
    ['bytes', () => new Response(Buffer.from('hello')), 'hello'],
    ['JSON', () => Response.json({ a: 1 }), '{"a":1}'],
    ['a blob', () => new Response(new Blob(['hel', 'lo'])), 'hello'],
    ['a form', () => new Response(new URLSearchParams({ a: 'b c' })), 'a=b+c'],
    ['an empty text', () => new Response(''), ''],
    ['nothing', () => new Response(null), ''],
  ])('of %s is told with its length', async (_, make, text) => {
    const { status, headers, body } = await heard(make);
    expect([status, body, headers['content-length']]).toEqual([200, text, String(text.length)]);
  });

  test('of more than one piece comes whole', async () => {
    const text = 'x'.repeat(3_000_000);
    expect((await heard(() => new Response(text))).body).toBe(text);
  });

  test('keeps its status, headers and cookies', async () => {
    const headers = new Headers({ 'X-One': '1', 'content-type': 'a/b' });
    for (const cookie of ['a=1', 'b=2, 3']) headers.append('set-cookie', cookie);
    const reply = await heard(() => new Response('hello', { status: 418, headers }));
    expect(reply).toMatchObject({
      status: 418,
      headers: { 'x-one': '1', 'content-type': 'a/b', 'set-cookie': 'a=1\nb=2, 3' },
    });
    expect(await heard(() => new Response(null, { status: 204 }))).toMatchObject({ status: 204, body: '' });
  });

  const made = () => {
    const told = { cancelled: 0, pulled: 0 };
    let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
    const stream = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given;
      },
      pull: () => void told.pulled++,
      cancel: () => void told.cancelled++,
    });
    return {
      told,
      response: () => new Response(stream),
      write: (text: string) => controller?.enqueue(Buffer.from(text)),
      close: () => controller?.close(),
      fail: () => controller?.error(new Error('broken')),
    };
  };

  test('that is still being made leaves as it comes: its head, and every piece before the next', async () => {
    const body = made();
    const { client } = await serving(body.response);
    client.say(get('/a'));
    await until(() => client.rest.endsWith('\r\n\r\n'));
    expect(client.rest).toContain('transfer-encoding: chunked');
    for (const text of ['one', 'two', 'six']) {
      body.write(text);
      await until(() => client.rest.endsWith(`3\r\n${text}\r\n`));
    }
    body.close();
    expect((await client.reply()).body).toBe('onetwosix');
  });

  test('whose first piece is there leaves with it', async () => {
    const body = made();
    body.write('one');
    const { client } = await serving(body.response);
    client.say(get('/a'));
    await until(() => client.rest.endsWith('3\r\none\r\n'));
    body.write('two');
    body.write('');
    body.close();
    expect((await client.reply()).body).toBe('onetwo');
  });

  test('that fails before it began is an error, and later a broken connection', async () => {
    const early = made();
    early.fail();
    expect(await heard(early.response)).toMatchObject({ status: 500 });
    const late = made();
    const { client, logged } = await serving(late.response);
    client.say(get('/a'));
    late.write('one');
    await until(() => client.rest.includes('one'));
    late.fail();
    expect(await client.ended).toBe('broken');
    expect(client.rest).not.toContain('\r\n0\r\n\r\n');
    expect(logged).toEqual([]);
  });

  test.each(['leave', 'reset'] as const)(
    'that is still being made is ended when the client leaves: %s',
    async (way) => {
      for (const pieces of [[], ['one'], ['one', 'two', 'three']]) {
        const body = made();
        const { client } = await serving(body.response);
        client.say(get('/a'));
        await until(() => client.rest.endsWith('\r\n\r\n'));
        for (const piece of pieces) body.write(piece);
        await aMoment();
        client[way]();
        await until(() => body.told.cancelled > 0);
        expect(body.told.cancelled).toBe(1);
      }
    },
  );

  test('that fails while the client is slow is a broken connection, and no fault that nobody hears', async () => {
    const unheard: unknown[] = [];
    const note = (fault: unknown) => unheard.push(fault);
    process.on('unhandledRejection', note);
    const body = made();
    const { client } = await serving(body.response);
    client.socket.pause();
    for (let piece = 0; piece < 2; piece++) body.write('x'.repeat(20_000_000));
    client.say(get('/a'));
    for (let turn = 0; turn < 20; turn++) await aMoment();
    body.fail();
    for (let turn = 0; turn < 20; turn++) await aMoment();
    process.off('unhandledRejection', note);
    client.socket.resume();
    expect(await client.ended).toBe('broken');
    expect(unheard).toEqual([]);
  });

  test('that is still being made is ended when nobody asked for its body', async () => {
    const body = made();
    expect(await heard(body.response, true, lines('HEAD /a HTTP/1.1', 'host: a'))).toMatchObject({ status: 200 });
    expect(body.told.cancelled).toBe(1);
  });
});

describe('a reply as the web knows it', () => {
  test('keeps all that it was', async () => {
    const reply = { status: 201, headers: { 'x-one': '1' }, cookies: ['a=1', 'b=2'], body: Buffer.from('hello') };
    const response = responseOf(reply);
    expect([
      response.status,
      response.headers.get('x-one'),
      response.headers.getSetCookie(),
      await response.text(),
    ]).toEqual([201, '1', ['a=1', 'b=2'], 'hello']);
    expect(responseOf({ status: 204, headers: {}, body: null }).body).toBeNull();
    expect(await responseOf({ status: 200, headers: {}, body: inPieces('a', 'b', 'c') }).text()).toBe('abc');
  });

  test('is made at the pace of its reader', async () => {
    const body = new HandMade();
    const reader = responseOf({ status: 200, headers: {}, body }).body?.getReader();
    const sink = await body.sink;
    const first = sink.write(Buffer.from('one'));
    let taken = false;
    void first?.then(() => {
      taken = true;
    });
    await aMoment();
    expect([first === undefined, taken]).toEqual([false, false]);
    expect(String((await reader?.read())?.value)).toBe('one');
    await first;
    body.end();
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  test('ends its source once when the reader leaves, and nothing that it still makes does harm', async () => {
    const unheard: unknown[] = [];
    const note = (fault: unknown) => unheard.push(fault);
    process.on('unhandledRejection', note);
    const body = new HandMade();
    const reader = responseOf({ status: 200, headers: {}, body }).body?.getReader();
    const sink = await body.sink;
    const waiting = sink.write(Buffer.from('one'));
    await reader?.cancel();
    await waiting;
    expect(sink.write(Buffer.from('two'))).toBeUndefined();
    for (let turn = 0; turn < 5; turn++) await aMoment();
    process.off('unhandledRejection', note);
    expect([body.lefts, unheard]).toEqual([1, []]);
  });

  test('breaks when its source does', async () => {
    const body = new HandMade();
    const text = responseOf({ status: 200, headers: {}, body }).text();
    (await body.sink).write(Buffer.from('one'));
    body.fail();
    await expect(text).rejects.toThrow('the source broke');
  });
});

test('a request without a connection is left by its signal', async () => {
  const leaving = new AbortController();
  const request = new Request('https://a.example/b?c#d', {
    method: 'POST',
    body: 'hello',
    headers: { 'X-One': '1' },
    signal: leaving.signal,
  });
  const incoming = incomingOf(request);
  expect([incoming.method, incoming.target, incoming.headers.get('x-one')]).toEqual(['POST', '/b?c', '1']);
  expect(Buffer.from((await incoming.body?.read())?.value ?? []).toString()).toBe('hello');
  let told = 0;
  incoming.onLeave(() => void told++);
  expect([incoming.left, incoming.gone.aborted, told]).toEqual([false, false, 0]);
  leaving.abort();
  expect([incoming.left, incoming.gone.aborted, told]).toEqual([true, true, 1]);
});
