import { describe, expect, test } from 'bun:test';
import { ask, askText, bodyOf, until } from '../../test/servers/wire-calls.ts';
import { wireWorld } from '../../test/servers/wire-world.ts';
import { Abort } from './abort.ts';
import { type ByteReader, polled, type ReadBytes } from './client/answer.ts';
import { IncomingBody } from './http1/incoming-body.ts';
import { type Polled, promised } from './polled.ts';

const { newWire, serve } = wireWorld();

/** All that comes, taken as a stream takes it: what is there at once, and the rest when woken. */
function taken(source: Polled<ReadBytes>): { texts: string[]; ended: Promise<unknown> } {
  const texts: string[] = [];
  const ended = Promise.withResolvers<unknown>();
  const waker = {
    wake() {
      try {
        for (let read = source.poll(waker); read !== null; read = source.poll(waker)) {
          if (read.done) return ended.resolve('whole');
          texts.push(Buffer.from(read.value).toString());
        }
      } catch (fault) {
        ended.resolve(fault);
      }
    },
  };
  waker.wake();
  return { texts, ended: ended.promise };
}

const anyFlow = { pause: () => undefined, resume: () => undefined, abandon: () => undefined };

describe('a body that is polled', () => {
  test('hands each piece on as it comes, and tells its end', async () => {
    const body = new IncomingBody(anyFlow);
    body.push(Buffer.from('one'));
    const { texts, ended } = taken(body);
    expect(texts).toEqual(['one']);
    body.push(Buffer.from('two'));
    expect(texts).toEqual(['one', 'two']);
    body.complete();
    expect(await ended).toBe('whole');
  });

  test('tells how it broke, behind what had come', async () => {
    const body = new IncomingBody(anyFlow);
    body.push(Buffer.from('one'));
    body.break('broken');
    const { texts, ended } = taken(body);
    expect([texts, await ended]).toEqual([['one'], 'broken']);
  });

  test('does not hold the server back over a large piece that is taken at once', async () => {
    const told: string[] = [];
    const body = new IncomingBody({ ...anyFlow, pause: () => told.push('pause') });
    const { texts } = taken(body);
    body.push(Buffer.alloc(1024 * 1024));
    expect([texts.length, told]).toEqual([1, []]);
  });
});

describe('a reader that only promises, polled', () => {
  const reading = (reads: (ReadBytes | Error)[]): ByteReader => ({
    async read() {
      const next = reads.shift();
      if (next instanceof Error) throw next;
      return next ?? { done: true };
    },
    cancel: () => Promise.resolve(),
  });
  const piece = (text: string): ReadBytes => ({ done: false, value: Buffer.from(text) });

  test('gives its pieces in their order, and is asked once for each', async () => {
    const reads = [piece('one'), piece('two')];
    const source = polled(reading(reads));
    const idle = { wake: () => undefined };
    expect([source.poll(idle), source.poll(idle), reads.length]).toEqual([null, null, 1]);
    const { texts, ended } = taken(source);
    expect([await ended, texts]).toEqual(['whole', ['one', 'two']]);
  });

  test('goes on telling how it broke', async () => {
    const fault = new Error('broken');
    const source = polled(reading([piece('one'), fault]));
    const { texts, ended } = taken(source);
    expect([await ended, texts]).toEqual([fault, ['one']]);
    expect(() => source.poll({ wake: () => undefined })).toThrow(fault);
  });
});

test('who waits for one piece gets it, or the fault', async () => {
  const body = new IncomingBody(anyFlow);
  const waiting = promised(body);
  body.push(Buffer.from('one'));
  expect(String((await waiting)?.value)).toBe('one');
  const broken = promised(body);
  body.break(new Error('broken'));
  expect(broken).rejects.toThrow('broken');
});

test('a call that is given up by whoever takes its last piece leaves no connection behind', async () => {
  const first = Promise.withResolvers<void>();
  const server = await serve((socket) => {
    socket.once('data', async () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\none');
      await first.promise;
      socket.write('two');
    });
  });
  const wire = newWire();
  const abort = new Abort();
  const body = bodyOf(
    await wire.call({ url: server.url, pinned: null, method: 'GET', headers: {}, unlessSaid: {}, body: null }, abort),
  );
  await body.read();
  const waker = { wake: () => abort.abort('enough') };
  expect(polled(body).poll(waker)).toBeNull();
  first.resolve();
  await until(() => server.open.size === 0);
  expect(wire.waiting).toBe(0);
});

test('a connection whose answer was polled to its end serves the next call', async () => {
  const server = await serve((socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\none'));
  });
  const wire = newWire();
  const { texts, ended } = taken(polled(bodyOf(await ask(wire, server.url))));
  expect([await ended, texts.join('')]).toEqual(['whole', 'one']);
  await until(() => wire.waiting === 1);
  expect([await askText(wire, server.url), server.open.size]).toEqual(['one', 1]);
});
