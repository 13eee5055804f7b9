import { describe, expect, test } from 'bun:test';
import { getEventListeners } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { freePort } from '../../../test/servers/free-port.ts';
import { eachRequest, said } from '../../../test/servers/raw-server.ts';
import { ask, askText, bodyOf, faultOf, until } from '../../../test/servers/wire-calls.ts';
import { wireWorld } from '../../../test/servers/wire-world.ts';

const { newWire, serve } = wireWorld();

/** A signal, and how many listen to it. */
function watched(): { controller: AbortController; listeners(): number } {
  const controller = new AbortController();
  return { controller, listeners: () => getEventListeners(controller.signal, 'abort').length };
}

const given = new Error('given up');

describe('a signal ends a call', () => {
  test('before anything is dialled', async () => {
    const server = await serve(() => undefined);
    const wire = newWire();
    expect(await faultOf(ask(wire, server.url, { signal: AbortSignal.abort(given) }))).toBe('Error: given up');
    expect(server.accepted).toBe(0);
  });

  test('while the name is looked up or the server is reached, and the connection that comes nevertheless is closed', async () => {
    const server = await serve((socket) => eachRequest(socket, () => socket.write(said('never'))));
    for (const host of ['127.0.0.1', 'localhost']) {
      const { controller, listeners } = watched();
      const call = ask(newWire(), `http://${host}:${server.port}/`, { signal: controller.signal });
      controller.abort(given);
      expect([await faultOf(call), listeners()]).toEqual(['Error: given up', 0]);
    }
    await until(() => server.accepted === 2 && server.open.size === 0);
  });

  test('while a server that never says hello is asked for its certificate', async () => {
    const server = await serve(() => undefined);
    const { controller, listeners } = watched();
    const call = ask(newWire(), server.url.replace('http', 'https'), { signal: controller.signal });
    await until(() => server.open.size === 1);
    controller.abort(given);
    expect([await faultOf(call), listeners()]).toEqual(['Error: given up', 0]);
    await until(() => server.open.size === 0);
  });

  test.each([
    ['before the head', ''],
    ['within the head', 'HTTP/1.1 200 OK\r\ncontent-'],
  ])('%s', async (_, begun) => {
    const asked = Promise.withResolvers<void>();
    const server = await serve((socket) => eachRequest(socket, () => socket.write(begun, () => asked.resolve())));
    const { controller, listeners } = watched();
    const call = ask(newWire(), server.url, { signal: controller.signal });
    await asked.promise;
    expect(listeners()).toBe(1);
    controller.abort(given);
    expect([await faultOf(call), listeners()]).toEqual(['Error: given up', 0]);
    await until(() => server.open.size === 0);
  });

  test('in the midst of the body, whatever the reason is', async () => {
    const server = await serve((socket) =>
      eachRequest(socket, () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello')),
    );
    for (const reason of [given, null, 0, '']) {
      const { controller, listeners } = watched();
      const body = bodyOf(await ask(newWire(), server.url, { signal: controller.signal }));
      await body.read();
      const waiting = body.read();
      controller.abort(reason);
      expect([await faultOf(waiting), await faultOf(body.read()), listeners()]).toEqual([
        String(reason),
        String(reason),
        0,
      ]);
      await until(() => server.open.size === 0);
    }
  });

  test('but not one that has ended, nor the next on its connection', async () => {
    const server = await serve((socket, index) => eachRequest(socket, () => socket.write(said(String(index)))));
    const wire = newWire();
    const { controller, listeners } = watched();
    const body = bodyOf(await ask(wire, server.url, { signal: controller.signal }));
    expect(listeners()).toBe(0);
    const next = ask(wire, server.url);
    controller.abort(given);
    expect(String((await body.read()).value)).toBe('0');
    expect(bodyOf(await next)).toBeDefined();
    expect(server.accepted).toBe(1);
  });
});

describe('a server that cannot be reached', () => {
  test('nobody listens', async () => {
    const { controller, listeners } = watched();
    const url = `http://127.0.0.1:${await freePort()}/`;
    expect(await faultOf(ask(newWire(), url, { signal: controller.signal }))).toBe('ECONNREFUSED');
    expect(listeners()).toBe(0);
  });

  test('nobody can listen', async () => {
    const { controller, listeners } = watched();
    for (const url of ['http://127.0.0.1:0/', 'https://127.0.0.1:0/']) {
      expect(await faultOf(ask(newWire(), url, { signal: controller.signal }))).not.toBe('no fault');
    }
    expect(listeners()).toBe(0);
  });

  test('nobody has the name', async () => {
    const fault = await faultOf(ask(newWire(), 'http://nobody.invalid/'));
    expect(fault).not.toBe('no fault');
  });

  test.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'http://user:secret@127.0.0.1/', 'https://user@127.0.0.1/'])(
    '%s is nothing to call',
    async (url) => {
      expect(await faultOf(ask(newWire(), url))).toBe('InvalidAddress');
    },
  );

  test('what is no address is told like any fault', async () => {
    expect(await faultOf(ask(newWire(), 'nothing'))).toBe('ERR_INVALID_URL');
  });
});

test('a name with addresses of both kinds is reached where the server listens on one', async () => {
  const server = await serve((socket) => eachRequest(socket, () => socket.write(said('four'))));
  expect(await askText(newWire(), `http://localhost:${server.port}/`)).toBe('four');
});

const hasIpv6 = await new Promise<boolean>((resolve) => {
  const probe = createServer();
  probe.on('error', () => resolve(false));
  probe.listen(0, '::1', () => probe.close(() => resolve(true)));
});

test.if(hasIpv6)('an address of IPv6 is dialled without its brackets, and named with them', async () => {
  const server = await serve((socket) => eachRequest(socket, (head) => socket.write(said(head))), { host: '::1' });
  expect(await askText(newWire(), `${server.url}/x`)).toContain(`host: [::1]:${server.port}\r\n`);
  const pinned = { address: '::1', name: 'model.example', host: 'model.example:81' };
  expect(await askText(newWire(), `http://model.example:${server.port}/`, { pinned })).toContain(
    'host: model.example:81\r\n',
  );
});

describe('a server that speaks or leaves before it was asked', () => {
  test.each([
    ['leaves', (socket: Socket) => socket.resume().end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
    ['speaks something else', (socket: Socket) => socket.write('220 mail.example ESMTP\r\n')],
  ])('%s', async (_, greet) => {
    const server = await serve(greet);
    const wire = newWire();
    for (let call = 0; call < 20; call++) {
      expect(await faultOf(ask(wire, server.url, { method: 'POST', body: Buffer.alloc(1_000) }))).not.toBe('no fault');
    }
    await until(() => server.open.size === 0);
    expect(wire.waiting).toBe(0);
  });
});

describe('nothing is left behind', () => {
  /** What becomes of a call, by what its path says. */
  const fates: Readonly<Record<string, (socket: Socket) => void>> = {
    fine: (socket) => socket.write(said('fine')),
    closes: (socket) => socket.end(said('closes', 'connection: close')),
    cut: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello'),
    reset: (socket) => socket.resetAndDestroy(),
    ended: (socket) => socket.end(),
    nonsense: (socket) => socket.write('nonsense\r\n\r\n'),
    aborted: (socket) => socket.write('HTTP/1.1 200 OK\r\n'),
    cancelled: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello'),
  };

  test('by thousands of calls, however they end', async () => {
    const server = await serve((socket) =>
      eachRequest(socket, (head) => fates[/^GET \/(\w+) /.exec(head)?.[1] ?? '']?.(socket)),
    );
    const wire = newWire();
    const unhandled: unknown[] = [];
    const note = (fault: unknown) => unhandled.push(fault);
    process.on('unhandledRejection', note);
    const { controller, listeners } = watched();
    const endings: Record<string, string> = {};
    const names = [...Object.keys(fates), 'refused', 'unsendable'];
    const refusing = `http://127.0.0.1:${await freePort()}/`;
    const live = async (name: string) => {
      const own = new AbortController();
      const signal = name === 'aborted' ? own.signal : controller.signal;
      const url = name === 'refused' ? refusing : `${server.url}/${name}`;
      const headers: Record<string, string> = name === 'unsendable' ? { 'x-a': 'a\r\nb' } : {};
      try {
        const call = ask(wire, url, { signal, headers });
        if (name === 'aborted') setImmediate(() => own.abort(given));
        const body = bodyOf(await call);
        if (name === 'cancelled') await body.cancel();
        for (let read = await body.read(); !read.done; ) read = await body.read();
        endings[name] = 'whole';
      } catch (fault) {
        endings[name] = fault instanceof Error && 'code' in fault ? String(fault.code) : String(fault);
      }
    };
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => live(names[index % names.length] ?? '')));
    }
    expect(endings).toEqual({
      fine: 'whole',
      closes: 'whole',
      cut: 'ConnectionClosed',
      reset: 'ECONNRESET',
      ended: 'ConnectionClosed',
      nonsense: 'InvalidAnswer',
      aborted: 'Error: given up',
      cancelled: 'ConnectionClosed',
      refused: 'ECONNREFUSED',
      unsendable: 'InvalidHeader',
    });
    await until(() => server.open.size === wire.waiting);
    expect([listeners(), unhandled]).toEqual([0, []]);
    wire.close();
    await until(() => server.open.size === 0);
    process.off('unhandledRejection', note);
  });
});
