import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Authority, anyCertificate, createAuthority } from '../../../test/servers/certificates.ts';
import { eachRequest, type RawServer, said, startRaw } from '../../../test/servers/raw-server.ts';
import { ask, bodyOf, faultOf } from '../../../test/servers/wire-calls.ts';
import { callsIn } from '../../../test/servers/wire-program.ts';
import { HttpClient } from './http-client.ts';

const large = 20_000_000;

describe.if(Bun.which('openssl') !== null)('over TLS', () => {
  let authority: Authority;
  let trusting: Record<string, string>;
  const servers: RawServer[] = [];
  beforeAll(() => {
    authority = createAuthority();
    trusting = { NODE_EXTRA_CA_CERTS: authority.path };
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.stop();
  });
  afterAll(() => authority.remove());

  async function serve(connection: (socket: Socket) => void, names: string | null, days = 1): Promise<RawServer> {
    const server = await startRaw(
      connection,
      names === null ? {} : { tls: { ...authority.certify(names, days), ALPNProtocols: ['h2', 'http/1.1'] } },
    );
    servers.push(server);
    return server;
  }

  /** Answers with the name and the protocol that the client asked for. */
  const naming = (socket: Socket) => {
    const { servername, alpnProtocol } = socket as TLSSocket;
    eachRequest(socket, (_, body) => socket.write(said(`${servername} ${alpnProtocol}${body}`)));
  };

  test('a certificate that the environment vouches for is accepted, by name and by address', async () => {
    const server = await serve(naming, 'DNS:localhost,IP:127.0.0.1');
    const byName = `https://localhost:${server.port}/`;
    const told = await callsIn(trusting, { url: byName }, { url: byName }, { url: server.url });
    // No name is told where there is none.
    expect(told).toEqual(['localhost http/1.1', 'localhost http/1.1', 'false http/1.1']);
    expect(server.accepted).toBe(2);
  });

  test('the name is asked for and vouched for, whatever address is dialled', async () => {
    const server = await serve(naming, 'DNS:model.example');
    const pinned = { address: '127.0.0.1', name: 'model.example', host: 'model.example' };
    const rooted = { address: '127.0.0.1', name: 'model.example.', host: 'model.example.' };
    const url = `https://nobody.invalid:${server.port}/`;
    const told = await callsIn(trusting, { url, pinned }, { url, pinned: rooted });
    expect(told).toEqual(['model.example http/1.1', 'model.example http/1.1']);
  });

  test.each([
    ['another name', 'DNS:other.example', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['another address', 'IP:127.0.0.2', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['a time that is over', 'DNS:localhost,IP:127.0.0.1', 'CERT_HAS_EXPIRED'],
  ])('a certificate for %s is refused, and nothing is sent', async (_, names, fault) => {
    let received = 0;
    const connection = (socket: Socket) => void socket.on('data', ({ length }) => (received += length));
    const server = await serve(connection, names, fault === 'CERT_HAS_EXPIRED' ? -1 : 1);
    const told = await callsIn(trusting, { url: `https://localhost:${server.port}/` }, { url: server.url });
    expect([told, received]).toEqual([[fault, fault], 0]);
  });

  test('a certificate that nobody vouches for is refused, unless the environment takes any', async () => {
    const server = await serve(naming, 'DNS:localhost');
    const call = { url: `https://localhost:${server.port}/` };
    expect(await callsIn({}, call)).toEqual(['UNABLE_TO_VERIFY_LEAF_SIGNATURE']);
    expect(await callsIn({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, call)).toEqual(['localhost http/1.1']);
  });

  test('plain text where TLS is spoken, and the reverse', async () => {
    const secured = await serve(naming, 'DNS:localhost');
    const plain = await serve((socket) => void socket.on('data', () => socket.write(said('plain'))), null);
    const wire = new HttpClient({});
    expect(await faultOf(ask(wire, secured.url.replace('https', 'http')))).toBe('ConnectionClosed');
    expect(await faultOf(ask(wire, plain.url.replace('http', 'https')))).toBe('EPROTO');
    expect(wire.waiting).toBe(0);
  });

  test('a server that closes before it has shown a certificate', async () => {
    const plain = await serve((socket) => void socket.once('data', () => socket.end()), null);
    expect(await faultOf(ask(new HttpClient({}), plain.url.replace('http', 'https')))).toBe('ECONNRESET');
  });

  test('large bodies arrive whole both ways', async () => {
    const server = await serve(
      (socket) => eachRequest(socket, (_, body) => socket.write(said(`${body.equals(Buffer.alloc(large, 'x'))}`))),
      'IP:127.0.0.1',
    );
    const echo = await serve(
      (socket) => eachRequest(socket, (_, body) => socket.write(said(String(body)))),
      'IP:127.0.0.1',
    );
    const [whole, back] = await callsIn(
      trusting,
      { url: server.url, method: 'POST', size: large },
      { url: echo.url, method: 'POST', size: large },
    );
    expect(whole).toBe('true');
    expect(back === 'x'.repeat(large)).toBe(true);
  });

  test.each([
    ['by its length', 'content-length: 10\r\n\r\nhello'],
    ['in chunks', 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ])('an answer that somebody on the way cuts off is broken: %s', async (_, text) => {
    const server = await serve(
      (socket) => eachRequest(socket, () => socket.write(`HTTP/1.1 200 OK\r\n${text}`)),
      'IP:127.0.0.1',
    );
    const between = await serve((client) => {
      const inner = connect(server.port, '127.0.0.1');
      client.on('data', (bytes) => inner.write(bytes));
      inner.on('data', (bytes) => client.write(bytes));
      inner.on('error', () => client.destroy());
    }, null);
    const wire = new HttpClient({});
    const body = await anyCertificate(async () => bodyOf(await ask(wire, between.url.replace('http', 'https'))));
    expect(String((await body.read()).value)).toBe('hello');
    for (const client of between.open) client.end();
    expect(await faultOf(body.read())).toBe('ConnectionClosed');
  });
});
