import { describe, expect, test } from 'bun:test';
import { serverAddressOf } from './address.ts';

const keyOf = (url: string, name = 'model.example'): string =>
  serverAddressOf(url, { address: '203.0.113.7', name, host: name }).endpoint.key;

describe('connections are shared', () => {
  test('between calls to one server, whatever they ask for', () => {
    expect(keyOf('https://a.example/x?y')).toBe(keyOf('https://b.example/z'));
    expect(serverAddressOf('https://a.example/x', null).endpoint.key).toBe(
      serverAddressOf('https://A.example:443/y', null).endpoint.key,
    );
  });

  test('but not with and without TLS, nor between ports, names or addresses', () => {
    const keys = [
      keyOf('https://a.example/'),
      keyOf('https://a.example/', 'other.example'),
      keyOf('https://a.example:444/'),
      keyOf('http://a.example:443/'),
      serverAddressOf('https://203.0.113.7/', null).endpoint.key,
      serverAddressOf('https://a.example/', null).endpoint.key,
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test.each([
  ['https://a.example/', 'a.example', 443, 'a.example', 'a.example'],
  ['https://a.example.:8443/', 'a.example.', 8443, 'a.example', 'a.example.:8443'],
  ['http://a.example/', 'a.example', 80, null, 'a.example'],
  ['https://[2001:db8::1]/', '2001:db8::1', 443, '', '[2001:db8::1]'],
  ['https://127.1/', '127.0.0.1', 443, '', '127.0.0.1'],
  ['https://b\u00fccher.example/', 'xn--bcher-kva.example', 443, 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
] as const)('%s', (url, hostname, port, tlsName, host) => {
  expect(serverAddressOf(url, null)).toMatchObject({ endpoint: { hostname, port, tlsName }, host, path: '/' });
});
