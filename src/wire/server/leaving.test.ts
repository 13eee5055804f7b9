import { describe, expect, test } from 'bun:test';
import {
  aMoment,
  bodyOf,
  echo,
  get,
  HandMade,
  Held,
  httpWorld,
  lines,
  said,
} from '../../../test/servers/http-world.ts';
import { until } from '../../../test/servers/wire-calls.ts';
import type { BodySource } from './reply.ts';

const { serve } = httpWorld();

/** A request that waits for its answer. */
async function asked() {
  const held = new Held();
  const server = serve(held.answer);
  const client = await server.client();
  client.say(get('/a'));
  return { held, server, client, request: await held.next() };
}

describe('a client that leaves', () => {
  test.each(['leave', 'reset'] as const)('during a stream ends it: %s', async (manner) => {
    const body = new HandMade();
    const { held, server, client, request } = await asked();
    held.reply(request, { status: 200, headers: {}, body });
    (await body.sink).write(Buffer.from('hello'));
    await until(() => client.rest.includes('hello'));
    client[manner]();
    await until(() => body.lefts > 0);
    await server.listener.closed();
    expect(body.lefts).toBe(1);
    expect(request.left).toBe(true);
    expect(await (await body.sink).write(Buffer.from('for nobody'))).toBeUndefined();
    expect(server.failed).toEqual([]);
  });

  test('before a stream is answered ends it without a beginning', async () => {
    const body = new HandMade();
    const { held, client, request } = await asked();
    client.leave();
    await until(() => request.left);
    held.reply(request, { status: 200, headers: {}, body });
    await until(() => body.lefts > 0);
    expect(body.lefts).toBe(1);
  });

  test.each(['leave', 'reset'] as const)('before it is answered is told of once, in every way: %s', async (manner) => {
    const { held, server, client, request } = await asked();
    let told = 0;
    request.onLeave(() => void told++);
    request.onLeave(() => void told++);
    const { gone } = request;
    gone.addEventListener('abort', () => void told++);
    expect([request.left, gone.aborted, request.peer]).toEqual([false, false, '127.0.0.1']);
    client[manner]();
    await until(() => request.left);
    await server.listener.closed();
    expect([told, gone.aborted, request.gone === gone, request.peer]).toEqual([3, true, true, '127.0.0.1']);
    held.reply(request, said('for nobody'));
    await aMoment();
    expect(server.failed).toEqual([]);
  });

  test('is known to have left by those who ask for the signal late', async () => {
    const { client, request } = await asked();
    client.leave();
    await until(() => request.left);
    expect(request.gone.aborted).toBe(true);
    expect(request.peer).toBe('127.0.0.1');
  });

  test('after it was answered has not left', async () => {
    const { held, server, client, request } = await asked();
    let told = 0;
    request.onLeave(() => void told++);
    held.reply(request, said('answered'));
    await client.reply();
    client.leave();
    await server.listener.closed();
    expect([told, request.left, request.gone.aborted]).toEqual([0, false, false]);
  });

  test('after it was answered has not left, even if it was still sending', async () => {
    const held = new Held();
    const server = serve(held.answer);
    const client = await server.client();
    client.say(lines('POST /a HTTP/1.1', 'host: a', 'content-length: 10'), 'hello');
    const request = await held.next();
    held.reply(request, said('answered'));
    await client.reply();
    client.leave();
    await server.listener.closed();
    expect(request.left).toBe(false);
  });

  test('is told of while a body waits that has come whole', async () => {
    const held = new Held();
    const client = await serve(held.answer).client();
    client.say(lines('POST /a HTTP/1.1', 'host: a', 'content-length: 300000'), Buffer.alloc(200_000));
    const request = await held.next();
    await aMoment();
    client.say(Buffer.alloc(100_000));
    await aMoment();
    client.leave();
    await until(() => request.left);
    expect((await bodyOf(request)).length).toBe(300_000);
  });

  test('is told of to everybody, whoever throws', async () => {
    const { held, server, client, request } = await asked();
    let told = 0;
    request.onLeave(() => {
      throw new Error('thrown by one');
    });
    const body: BodySource = {
      deliver: () => undefined,
      left() {
        told++;
        throw new Error('thrown by another');
      },
    };
    held.reply(request, { status: 200, headers: {}, body });
    await aMoment();
    client.leave();
    await server.listener.closed();
    expect([told, request.left]).toEqual([1, true]);
    expect(server.failed).toEqual([new Error('thrown by another'), new Error('thrown by one')]);
  });

  test('while its requests wait takes them with it', async () => {
    const held = new Held();
    const server = serve(held.answer);
    const client = await server.client();
    client.say(get('/a') + get('/b'));
    const request = await held.next();
    client.reset();
    await until(() => request.left);
    held.reply(request, said('for nobody'));
    await aMoment();
    expect(server.asked).toEqual(['GET /a']);
  });

  test('without a word, or in the middle of a head, leaves nothing behind', async () => {
    const server = serve(echo);
    for (const opening of ['', 'GET / HT', `GET / HTTP/1.1\r\nhost: a\r\n`]) {
      for (const manner of ['leave', 'reset'] as const) {
        const client = await server.client();
        client.say(opening);
        await aMoment();
        client[manner]();
      }
    }
    await server.listener.closed();
    expect([server.asked, server.failed]).toEqual([[], []]);
  });
});
