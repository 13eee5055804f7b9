import { beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { type Certificate, createAuthority } from '../../../test/servers/certificates.ts';
import { httpClient } from '../../../test/servers/http-client.ts';
import {
  aMoment,
  bodyOf,
  echo,
  get,
  HandMade,
  Held,
  httpWorld,
  later,
  lines,
  post,
  said,
} from '../../../test/servers/http-world.ts';
import { until } from '../../../test/servers/wire-calls.ts';

const { serve } = httpWorld();

let certificate: Certificate;
beforeAll(() => {
  const authority = createAuthority();
  certificate = authority.certify('IP:127.0.0.1');
  authority.remove();
});

describe('over TLS', () => {
  test('requests are served one after the other, and handlers know of it', async () => {
    const client = await serve(({ secure, peer, target }) => said(`${target} ${secure} ${peer}`), certificate).client();
    client.say(get('/a') + get('/b'));
    expect((await client.reply()).body).toBe('/a true 127.0.0.1');
    expect((await client.reply()).body).toBe('/b true 127.0.0.1');
    client.say(get('/c'));
    expect((await client.reply()).body).toBe('/c true 127.0.0.1');
  });

  test('a head in crumbs is one', async () => {
    const client = await serve(echo, certificate).client();
    for (const byte of post('/a', 'hello')) {
      client.say(byte);
      await aMoment();
    }
    expect((await client.reply()).body).toBe('POST /a hello');
  });

  test('a large body comes whole, and a large reply goes whole', async () => {
    const client = await serve(echo, certificate).client();
    const bytes = Buffer.alloc(20_000_000, '0123456789');
    for (let time = 0; time < 2; time++) {
      client.say(lines('POST /a HTTP/1.1', 'host: a', `content-length: ${bytes.length}`), bytes);
      expect((await client.reply()).body).toBe(`POST /a ${bytes}`);
    }
  });

  test('a body waits at the client until it is read', async () => {
    const held = new Held();
    const client = await serve(held.answer, certificate).client();
    const bytes = Buffer.alloc(50_000_000);
    client.say(lines('POST /a HTTP/1.1', 'host: a', `content-length: ${bytes.length}`), bytes);
    const request = await held.next();
    for (let turn = 0; turn < 200; turn++) await aMoment();
    expect(client.socket.writableLength).toBeGreaterThan(30_000_000);
    expect((await bodyOf(request)).length).toBe(bytes.length);
    held.reply(request, said('read'));
    expect((await client.reply()).body).toBe('read');
  });

  test('the last reply is heard whole by a slow client, and the connection ends in order', async () => {
    const text = 'z'.repeat(20_000_000);
    const server = serve(() => said(text), certificate);
    const client = await server.client({ reads: false });
    client.say(get('/a', 'connection: close') + get('/b'));
    await until(() => server.asked.length > 0);
    await aMoment();
    client.socket.resume();
    expect((await client.reply()).body).toBe(text);
    expect(await client.ended).toBe('in order');
    client.leave();
    await server.listener.closed();
    expect(server.asked).toEqual(['GET /a']);
  });

  test('what waits for one client is never given to another', async () => {
    const server = serve(({ target }) => said(target.slice(-1).repeat(30_000)), certificate);
    const letters = ['a', 'b', 'c'];
    const clients = await Promise.all(letters.map(() => server.client({ reads: false })));
    for (const [index, client] of clients.entries()) client.say(get(`/${letters[index]}`).repeat(500));
    for (let turn = 0; turn < 100; turn++) await aMoment();
    for (const client of clients) client.socket.resume();
    for (const [index, client] of clients.entries()) {
      const own = (letters[index] ?? '').repeat(30_000);
      for (let reply = 0; reply < 500; reply++) expect((await client.reply()).body === own).toBe(true);
    }
  });

  test('a stream that breaks off does not end in order', async () => {
    for (const asked of [get('/a'), lines('GET /a HTTP/1.0')]) {
      const body = new HandMade();
      const client = await serve(() => ({ status: 200, headers: {}, body }), certificate).client();
      client.say(asked);
      (await body.sink).write(Buffer.from('hello'));
      await until(() => client.rest.includes('hello'));
      body.fail();
      expect(await client.ended).toBe('broken');
    }
  });

  test.each(['leave', 'reset'] as const)('a client that leaves is told of: %s', async (manner) => {
    const held = new Held();
    const server = serve(held.answer, certificate);
    const client = await server.client();
    client.say(get('/a'));
    const request = await held.next();
    client[manner]();
    await until(() => request.left);
    await server.listener.closed();
  });

  test('what is no request is refused', async () => {
    const client = await serve(echo, certificate).client();
    client.say(get('/', 'a : b'));
    expect(await client.reply()).toMatchObject({ status: 400, headers: { connection: 'close' } });
    expect(await client.ended).toBe('in order');
  });

  test('who speaks without TLS is served nothing, and others are served on', async () => {
    const server = serve(echo, certificate);
    const plain = await httpClient(server.listener.port);
    plain.say(get('/plain'));
    expect(await plain.all()).not.toContain('HTTP/1.1 200');
    const silent = connect(server.listener.port, '127.0.0.1');
    const client = await server.client();
    client.say(get('/a'));
    expect((await client.reply()).body).toBe('GET /a ');
    silent.destroy();
    plain.socket.destroy();
    expect(server.asked).toEqual(['GET /a']);
  });

  test('a client has a minute to begin, and ten for its first request', async () => {
    const server = serve(echo, certificate);
    const silent = await httpClient(server.listener.port);
    const client = await server.client();
    await aMoment();
    server.listener.tick(later(59_000));
    await aMoment();
    expect(silent.socket.readyState).toBe('open');
    server.listener.tick(later(60_000));
    expect(await silent.ended).toBe('broken');
    server.listener.tick(later(599_000));
    client.say(get('/a'));
    expect((await client.reply()).body).toBe('GET /a ');
  });

  test('a listener that ends closes who has not begun', async () => {
    const server = serve(echo, certificate);
    const silent = await httpClient(server.listener.port);
    await aMoment();
    server.listener.end();
    await silent.ended;
    silent.leave();
    await server.listener.closed();
  });

  test('a listener that ends lets a request under way be answered', async () => {
    const held = new Held();
    const server = serve(held.answer, certificate);
    const [busy, idle] = [await server.client(), await server.client()];
    busy.say(get('/a'));
    const request = await held.next();
    server.listener.end();
    expect(await idle.ended).toBe('in order');
    held.reply(request, said('last'));
    expect(await busy.reply()).toMatchObject({ body: 'last', headers: { connection: 'close' } });
    expect(await busy.ended).toBe('in order');
    for (const client of [busy, idle]) client.leave();
    await server.listener.closed();
  });
});
