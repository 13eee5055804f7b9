import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { type Authority, createAuthority } from '../../../test/servers/certificates.ts';
import { eachRequest, type RawServer, said, startRaw } from '../../../test/servers/raw-server.ts';
import { callsIn } from '../../../test/servers/wire-program.ts';

let authority: Authority;
let provider: RawServer;
let secured: RawServer;
let proxy: RawServer;
/** The first line of each request that the proxy got. */
const asked: string[] = [];

beforeAll(async () => {
  provider = await startRaw((socket) => eachRequest(socket, (head, body) => socket.write(said(`${head}${body}`))));
  if (Bun.which('openssl')) {
    authority = createAuthority();
    secured = await startRaw((socket) => eachRequest(socket, (head, body) => socket.write(said(`${head}${body}`))), {
      tls: authority.certify('DNS:model.example'),
    });
  }
  proxy = await startRaw((client) => {
    client.once('data', (first: Buffer) => {
      const line = first.toString('latin1').split('\r\n', 1)[0] ?? '';
      asked.push(line);
      const tunnel = /^CONNECT (\S+):(\d+) /.exec(line);
      // Whatever it is asked for, there is one server behind it.
      const inner = connect(tunnel ? secured.port : provider.port, '127.0.0.1');
      if (tunnel) client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      else inner.write(first);
      client.pipe(inner).pipe(client);
      inner.on('error', () => client.destroy());
      client.on('close', () => inner.destroy());
    });
  });
});
afterAll(() => {
  for (const server of [provider, secured, proxy]) server?.stop();
  authority?.remove();
});

const pinned = { address: '203.0.113.7', name: 'model.example', host: 'model.example' };

test.each(['HTTP_PROXY', 'http_proxy'])('with %s, plain calls go through the proxy', async (name) => {
  asked.length = 0;
  const call = { url: 'http://model.example/v1/x?y=1', method: 'POST', size: 3, headers: { 'x-one': '1' } };
  const [told = ''] = await callsIn({ [name]: proxy.url }, call);
  expect(asked).toEqual(['POST http://model.example/v1/x?y=1 HTTP/1.1']);
  expect(told.toLowerCase()).toContain('\r\nhost: model.example\r\n');
  expect(told.toLowerCase()).toContain('\r\nx-one: 1\r\n');
  expect(told).toEndWith('\r\n\r\nxxx');
});

test('the proxy is asked for the address that was checked, the server for the name', async () => {
  asked.length = 0;
  const [told = ''] = await callsIn({ HTTP_PROXY: proxy.url }, { url: 'http://model.example/v1', pinned });
  expect(asked).toEqual(['GET http://203.0.113.7/v1 HTTP/1.1']);
  expect(told.toLowerCase()).toContain('\r\nhost: model.example\r\n');
});

test.if(Bun.which('openssl') !== null)('with HTTPS_PROXY, calls over TLS go through a tunnel', async () => {
  asked.length = 0;
  const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: authority.path };
  const told = await callsIn(
    env,
    { url: 'https://model.example/v1/x', method: 'POST', size: 3 },
    { url: 'https://model.example/v1/x', pinned },
    { url: 'https://other.example/v1/x' },
  );
  expect(asked).toEqual([
    'CONNECT model.example:443 HTTP/1.1',
    'CONNECT 203.0.113.7:443 HTTP/1.1',
    'CONNECT other.example:443 HTTP/1.1',
  ]);
  expect(told[0]).toStartWith('POST /v1/x HTTP/1.1\r\n');
  expect(told[0]).toEndWith('\r\n\r\nxxx');
  expect(told[1]?.toLowerCase()).toContain('\r\nhost: model.example\r\n');
  expect(told[2]).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
});

test('hosts in NO_PROXY, and schemes without a proxy, are asked directly', async () => {
  asked.length = 0;
  const env = { HTTP_PROXY: proxy.url, NO_PROXY: 'nobody.example,127.0.0.1' };
  const [direct = ''] = await callsIn(env, { url: `${provider.url}/v1` });
  const [other = ''] = await callsIn({ HTTPS_PROXY: proxy.url }, { url: `${provider.url}/v1` });
  for (const told of [direct, other]) expect(told).toStartWith('GET /v1 HTTP/1.1\r\n');
  expect(asked).toEqual([]);
});
