import { describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { aMoment, echo, get, HandMade, Held, httpWorld, lines, post, said } from '../../../test/servers/http-world.ts';
import { until } from '../../../test/servers/wire-calls.ts';
import { HttpListener } from './listener.ts';

const { serve } = httpWorld();

describe('a listener that ends', () => {
  test('closes connections without a request, in order', async () => {
    const server = serve(echo);
    const [fresh, used, begun] = [await server.client(), await server.client(), await server.client()];
    used.say(get('/a'));
    await used.reply();
    begun.say('GET / HT');
    await aMoment();
    void server.listener.end();
    for (const client of [fresh, used, begun]) {
      expect(await client.ended).toBe('in order');
      expect(client.rest).toBe('');
      client.say(get('/late'));
      client.leave();
    }
    await server.listener.closed();
    expect(server.asked).toEqual(['GET /a']);
  });

  test('takes no new connection', async () => {
    const server = serve(echo);
    const { port } = server.listener;
    void server.listener.end();
    const refused = new Promise((resolve) => connect(port, '127.0.0.1').on('error', resolve));
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('still answers what was on its way, over fresh connections and over used ones', async () => {
    const server = serve(echo);
    const [fresh, used] = [await server.client(), await server.client()];
    used.say(get('/a'));
    await used.reply();
    void server.listener.end(60_000);
    for (const client of [fresh, used]) {
      client.say(get('/late'));
      expect(await client.reply()).toMatchObject({ status: 200, headers: { connection: 'close' } });
      client.leave();
    }
    await server.listener.closed();
    expect(server.asked).toEqual(['GET /a', 'GET /late', 'GET /late']);
  });

  test('lets requests under way be answered, says that they are the last, and takes none behind them', async () => {
    const held = new Held();
    const server = serve(held.answer);
    const client = await server.client();
    client.say(get('/a') + get('/b'));
    const request = await held.next();
    void server.listener.end();
    client.say(get('/c'));
    await aMoment();
    expect(request.left).toBe(false);
    held.reply(request, said('last'));
    expect(await client.reply()).toMatchObject({ body: 'last', headers: { connection: 'close' } });
    expect(await client.ended).toBe('in order');
    client.leave();
    await server.listener.closed();
    expect(server.asked).toEqual(['GET /a']);
  });

  test('lets a body come whole, and a stream go whole', async () => {
    const held = new Held();
    const server = serve(held.answer);
    const [sending, hearing] = [await server.client(), await server.client()];
    hearing.say(get('/stream'));
    const body = new HandMade();
    held.reply(await held.next(), { status: 200, headers: {}, body });
    const sink = await body.sink;
    sink.write(Buffer.from('one'));
    sending.say(lines('POST /a HTTP/1.1', 'host: a', 'content-length: 10'), 'hello');
    const request = await held.next();
    void server.listener.end();
    sending.say('world');
    expect(Buffer.from((await request.body?.whole?.(100)) ?? []).toString()).toBe('helloworld');
    held.reply(request, said('whole'));
    expect(await sending.reply()).toMatchObject({ body: 'whole', headers: { connection: 'close' } });
    sink.write(Buffer.from('two'));
    body.end();
    expect((await hearing.reply()).body).toBe('onetwo');
    for (const client of [sending, hearing]) {
      expect(await client.ended).toBe('in order');
      client.leave();
    }
    await server.listener.closed();
  });

  test('does not wait for bodies of requests that were answered', async () => {
    const server = serve(() => said('early'));
    const client = await server.client();
    client.say(lines('POST /a HTTP/1.1', 'host: a', 'content-length: 10'), 'hello');
    await client.reply();
    void server.listener.end();
    client.say(`world${get('/b')}`);
    expect(await client.ended).toBe('in order');
    client.leave();
    await server.listener.closed();
    expect(server.asked).toEqual(['POST /a']);
  });

  test('has closed only when every client is gone', async () => {
    const server = serve(echo);
    const client = await server.client();
    let closed = false;
    void server.listener.end();
    void server.listener.closed().then(() => {
      closed = true;
    });
    await client.ended;
    await aMoment();
    expect(closed).toBe(false);
    client.leave();
    await until(() => closed);
  });

  test('cuts off at last whoever is left, and tells their handlers', async () => {
    const held = new Held();
    const server = serve(held.answer);
    const clients = [await server.client(), await server.client()];
    for (const client of clients) client.say(get('/a'));
    const requests = [await held.next(), await held.next()];
    requests[0]?.onLeave(() => {
      throw new Error('thrown');
    });
    void server.listener.end();
    server.listener.close();
    for (const client of clients) expect(await client.ended).toBe('broken');
    expect(requests.map(({ left }) => left)).toEqual([true, true]);
    expect(server.failed).toEqual([new Error('thrown')]);
    await server.listener.closed();
  });

  test('does not take back its last words when it is closed at once', async () => {
    const text = 'x'.repeat(1_000_000);
    const server = serve(() => said(text, { connection: 'close' }));
    const client = await server.client({ reads: false });
    client.say(get('/a'));
    await until(() => server.asked.length > 0);
    for (let turn = 0; turn < 20; turn++) await aMoment();
    server.listener.close();
    client.socket.resume();
    expect((await client.reply()).body).toBe(text);
    expect(await client.ended).toBe('in order');
  });
});

test('a handler that throws instead of rejecting cuts the one connection', async () => {
  const failed: unknown[] = [];
  const listener = new HttpListener(
    { hostname: '127.0.0.1', port: 0, tls: null },
    {
      answer() {
        throw new Error('thrown at once');
      },
      refusal: () => said(''),
      failed: (fault) => failed.push(fault),
      opened: () => () => undefined,
      short: () => undefined,
    },
  );
  const socket = connect(listener.port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('error', () => undefined);
  socket.write(post('/a', 'hello'));
  await closed;
  expect(failed).toEqual([new Error('thrown at once')]);
  await listener.closed();
  listener.close();
});
