import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { eachRequest, type RawServer, said, startRaw } from '../../../test/servers/raw-server.ts';
import { ask, askText, faultOf } from '../../../test/servers/wire-calls.ts';
import { HttpClient } from './http-client.ts';

const wire = new HttpClient({});
let server: RawServer;
beforeAll(async () => {
  const tell = (socket: Socket) => eachRequest(socket, (head) => socket.write(said(head, 'connection: close')));
  server = await startRaw(tell);
});
afterAll(() => {
  wire.close();
  server.stop();
});

const post = (headers: Record<string, string>, body: Uint8Array | ReadableStream<Uint8Array> | null = null) =>
  ask(wire, server.url, { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> | null });

/** The lines of a head, in the order of the alphabet. */
const linesOf = (head: string): string[] => head.trimEnd().toLowerCase().split('\r\n').sort();

describe('the head of a request', () => {
  test('is what was asked for, and nothing more', async () => {
    const head = await askText(wire, `${server.url}/v1/x?y=1`, {
      headers: { 'x-b': '2', 'x-a': '', 'X-C': 'gr\xfc\xdf\t' },
    });
    expect(head).toBe(
      `GET /v1/x?y=1 HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nx-b: 2\r\nx-a: \r\nX-C: gr\xc3\xbc\xc3\x9f\t\r\n\r\n`,
    );
  });

  test.each([
    ['GET', null, null],
    ['HEAD', null, null],
    ['OPTIONS', null, null],
    ['POST', null, 'content-length: 0'],
    ['PUT', null, 'content-length: 0'],
    ['PATCH', null, 'content-length: 0'],
    ['DELETE', null, 'content-length: 0'],
    ['GET', 'abc', 'content-length: 3'],
    ['POST', '', 'content-length: 0'],
    ['POST', 'abc', 'content-length: 3'],
  ])('%s with the body %j tells its length as %j', async (method, text, line) => {
    const heads: string[] = [];
    const noting = await startRaw((socket) =>
      eachRequest(socket, (head, body) => {
        heads.push(head);
        expect(body.toString()).toBe(text ?? '');
        socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      }),
    );
    await ask(wire, noting.url, { method, body: text === null ? null : Buffer.from(text) });
    const lengths = linesOf(heads[0] ?? '').filter((told) => /^content-length|^transfer-encoding/.test(told));
    expect(lengths).toEqual(line === null ? [] : [line]);
    noting.stop();
  });

  test('what frames the body and holds the connection is ours to say, in whatever case it is written', async () => {
    const headers = {
      'content-length': '99',
      'Content-Length': '98',
      'Transfer-Encoding': 'chunked',
      'transfer-encoding': 'chunked',
      connection: 'close',
      'Keep-Alive': 'timeout=1',
      'proxy-connection': 'close',
      upgrade: 'h2c',
      te: 'trailers',
      trailer: 'x',
    };
    const head = await askText(wire, server.url, { method: 'POST', headers, body: Buffer.from('abc') });
    expect(linesOf(head)).toEqual(['content-length: 3', `host: 127.0.0.1:${server.port}`, 'post / http/1.1']);
  });

  test('another host can be told', async () => {
    expect(await askText(wire, server.url, { headers: { host: 'model.example' } })).toContain(
      'host: model.example\r\n',
    );
  });

  test.each([
    ['a line end in a value', { 'x-a': 'a\r\nx-evil: 1' }],
    ['a bare line feed', { 'x-a': 'a\nb' }],
    ['a bare return', { 'x-a': 'a\rb' }],
    ['NUL', { 'x-a': 'a\0b' }],
    ['DEL', { 'x-a': 'a\x7fb' }],
    ['a character beyond latin1', { 'x-a': 'Ω' }],
    ['a line end in a name', { 'x-a: 1\r\nx-b': '2' }],
    ['a colon in a name', { 'x-a:': '2' }],
    ['a blank in a name', { 'x a': '2' }],
    ['no name', { '': '2' }],
    ['a name beyond ASCII', { 'x-\xfc': '2' }],
    ['a line end in the host', { host: 'a\r\nx-evil: 1' }],
  ])('%s is refused, and leaves no connection behind', async (_, headers: Record<string, string>) => {
    const { accepted } = server;
    expect(await faultOf(post(headers))).toBe('InvalidHeader');
    expect([server.accepted, wire.waiting]).toEqual([accepted, 0]);
  });

  test.each(['3\r\nx-evil: 1', '3, 3', '-1', '0x3', '', ' 3'])(
    'a stream cannot be told to be %j long',
    async (told) => {
      const stream = new Blob(['abc']).stream();
      expect(await faultOf(post({ 'content-length': told }, stream))).toBe('InvalidHeader');
      expect(stream.locked).toBe(false);
    },
  );

  test.each(['GET ', 'GE T', 'GET\r\nx: y', ''])('the method %j is refused', async (method) => {
    expect(await faultOf(ask(wire, server.url, { method }))).toBe('InvalidHeader');
  });
});

describe('an address leads where the runtime’s own client would lead', () => {
  test.each([
    '',
    '/',
    '?x=1',
    '/x?',
    '/x#fragment',
    '/x?y#fragment',
    '/x#',
    '/x?#',
    '/a b/%20ü?q=a b&c=ü\'"<>[]|{}^`',
    '/a/../b/./c//d\\e;f=1',
    '/%2e%2e/x',
    '/a%2Fb%3Fc%23d',
    '/?url=https://other.example/x//y',
    '/v1/models/@cf/meta:llama',
  ])('%j', async (rest) => {
    const url = server.url + rest;
    const theirs = await (await fetch(url)).text();
    const ours = await askText(wire, url);
    const hostOf = (head: string) => linesOf(head).find((line) => line.startsWith('host:'));
    expect(ours.split('\r\n', 1)).toEqual(theirs.split('\r\n', 1));
    expect(hostOf(ours)).toBe(hostOf(theirs) ?? '');
  });

  test('the host is told with its port, unless that is the usual one', async () => {
    const pinned = (url: string) => ({ address: '127.0.0.1', name: 'model.example', host: new URL(url).host });
    const url = `http://Model.Example:${server.port}/`;
    const host = `host: model.example:${server.port}\r\n`;
    expect(await askText(wire, url, { pinned: pinned(url) })).toContain(host);
    // Nobody can name another behind an address that was checked.
    expect(await askText(wire, url, { pinned: pinned(url), headers: { host: 'other.example' } })).toContain(host);
  });
});
