import { describe, expect, test } from 'bun:test';
import type { HttpClient } from '../../../test/servers/http-client.ts';
import {
  aMoment,
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
import type { HttpListener } from './listener.ts';
import { bodyBy } from './reply.ts';

const { serve } = httpWorld();

const seconds = (count: number) => count * 1_000;

/** Still open when this much time has passed, and closed a second later. */
async function endsAfter(count: number, listener: HttpListener, { ended }: HttpClient): Promise<string> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  await aMoment();
  listener.tick(later(seconds(count - 1)));
  await aMoment();
  expect(over).toBe(false);
  listener.tick(later(seconds(count)));
  return ended;
}

describe('a client has', () => {
  test('ten minutes for its first request', async () => {
    const { listener, client } = serve(echo);
    expect(await endsAfter(600, listener, await client())).toBe('broken');
  });

  test('ten minutes for the next one', async () => {
    const { listener, client } = serve(echo);
    const caller = await client();
    caller.say(post('/a', 'hello'));
    await caller.reply();
    expect(await endsAfter(600, listener, caller)).toBe('broken');
  });

  test('a minute for a head that it has begun, however often it says a little more', async () => {
    const { listener, client } = serve(echo);
    const caller = await client();
    caller.say('GET / HTTP/1.1\r\n');
    await aMoment();
    const soon = later(seconds(60));
    for (const header of ['a: b\r\n', 'c: d\r\n', 'e: f\r\n']) {
      caller.say(header);
      await aMoment();
    }
    listener.tick(soon);
    expect(await caller.ended).toBe('broken');
  });

  test('a minute for the head behind another request, from when that was answered', async () => {
    const held = new Held();
    const { listener, client } = serve(held.answer);
    const caller = await client();
    caller.say(`${get('/a')}GET /b HT`);
    const request = await held.next();
    listener.tick(later(seconds(100_000)));
    held.reply(request, said('answered'));
    await caller.reply();
    expect(await endsAfter(60, listener, caller)).toBe('broken');
  });

  test('half a minute for the rest of a body that nobody waits for', async () => {
    const { listener, client } = serve(() => said('early'));
    const caller = await client();
    caller.say(lines('POST /a HTTP/1.1', 'host: a', 'content-length: 10'), 'he');
    await caller.reply();
    expect(await endsAfter(30, listener, caller)).toBe('broken');
  });

  test('ten minutes to take a little of what waits for it, and as long again when it has', async () => {
    let lefts = 0;
    const body = bodyBy(
      async (to) => {
        while (lefts === 0) await to.write(Buffer.alloc(1_000_000));
      },
      () => void lefts++,
    );
    const { listener, client } = serve(() => ({ status: 200, headers: {}, body }));
    const caller = await client({ reads: false });
    caller.say(get('/a'));
    const settle = async () => {
      for (let turn = 0; turn < 50; turn++) await aMoment();
    };
    await settle();
    listener.tick(later(0));
    listener.tick(later(seconds(599)));
    const before = caller.rest.length;
    caller.socket.resume();
    await until(() => caller.rest.length > before + 20_000_000);
    caller.socket.pause();
    await settle();
    listener.tick(later(seconds(599)));
    listener.tick(later(seconds(1_198)));
    expect(lefts).toBe(0);
    listener.tick(later(seconds(1_199)));
    expect(lefts).toBe(1);
    await listener.closed();
  });

  test('five seconds to leave after us, and still hears what it has not read', async () => {
    const text = 'x'.repeat(2_000_000);
    const { listener, client, asked } = serve(() => said(text));
    const caller = await client({ reads: false });
    caller.say(get('/a', 'connection: close'));
    await until(() => asked.length > 0);
    for (let turn = 0; turn < 20; turn++) await aMoment();
    listener.tick(later(seconds(4)));
    caller.say('too late');
    await aMoment();
    listener.tick(later(seconds(5)));
    await listener.closed();
    caller.socket.resume();
    await until(() => caller.rest.length > text.length);
    expect((await caller.reply()).body).toBe(text);
  });

  test('five seconds to leave after it was refused', async () => {
    const { listener, client } = serve(echo);
    const caller = await client();
    caller.say('nonsense\r\n');
    expect(await caller.ended).toBe('in order');
    await aMoment();
    let closed = false;
    void listener.closed().then(() => {
      closed = true;
    });
    listener.tick(later(seconds(4)));
    await aMoment();
    expect(closed).toBe(false);
    listener.tick(later(seconds(5)));
    await listener.closed();
  });
});

describe('no limit of ours ends', () => {
  test.each([
    ['a request that is not answered yet', get('/a')],
    ['a body that is still read', lines('POST /a HTTP/1.1', 'host: a', 'content-length: 10')],
  ])('%s', async (_, text) => {
    const held = new Held();
    const { listener, client } = serve(held.answer);
    const caller = await client();
    caller.say(text);
    const request = await held.next();
    listener.tick(later(seconds(1_000_000)));
    await aMoment();
    expect(request.left).toBe(false);
    caller.say('helloworld'.slice(0, request.body ? 10 : 0));
    held.reply(request, said('answered'));
    expect((await caller.reply()).body).toBe('answered');
  });

  test('a stream that is silent for long', async () => {
    const body = new HandMade();
    const { listener, client } = serve(() => ({ status: 200, headers: {}, body }));
    const caller = await client();
    caller.say(get('/a'));
    const sink = await body.sink;
    listener.tick(later(seconds(1_000_000)));
    sink.write(Buffer.from('still here'));
    body.end();
    expect((await caller.reply()).body).toBe('still here');
  });

  test('a connection that has begun another request in time', async () => {
    const held = new Held();
    const { listener, client } = serve(held.answer);
    const caller = await client();
    caller.say('GET / HTTP/1.1\r\n');
    await aMoment();
    caller.say('host: a\r\n\r\n');
    const request = await held.next();
    listener.tick(later(seconds(1_000_000)));
    held.reply(request, said('answered'));
    expect((await caller.reply()).body).toBe('answered');
    await aMoment();
    listener.tick(later(seconds(599)));
    caller.say(get('/b'));
    held.reply(await held.next(), said('again'));
    expect((await caller.reply()).body).toBe('again');
  });
});
