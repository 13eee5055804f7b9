/** Whose word counts about where a request came from. */
import { expect, test } from 'bun:test';
import { clientAddress, parseRanges } from './client-address.ts';

const proxies = parseRanges(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);
const forwarded = (value: string) => new Headers({ 'x-forwarded-for': value });

test('a stranger’s forwarding header is ignored', () => {
  const found = clientAddress('203.0.113.5', forwarded('198.51.100.1'), proxies);
  expect(found).toEqual({ ip: '203.0.113.5', viaTrustedProxy: false });
});

test('without named proxies no header counts', () => {
  expect(clientAddress('127.0.0.1', forwarded('198.51.100.1'), [])).toEqual({
    ip: '127.0.0.1',
    viaTrustedProxy: false,
  });
});

test('a named proxy tells the client', () => {
  expect(clientAddress('10.1.2.3', forwarded('198.51.100.1'), proxies)).toEqual({
    ip: '198.51.100.1',
    viaTrustedProxy: true,
  });
  expect(clientAddress('192.0.2.7', forwarded('198.51.100.1'), proxies).ip).toBe('198.51.100.1');
  expect(clientAddress('fd00::1', forwarded('2001:DB8::1'), proxies).ip).toBe('2001:db8::1');
});

test('of several hops the last one that is no proxy of ours is the client', () => {
  expect(clientAddress('10.0.0.1', forwarded('6.6.6.6, 198.51.100.1, 10.0.0.9'), proxies).ip).toBe('198.51.100.1');
});

test('a hop with its port is the hop, so that no client can put another before it', () => {
  expect(clientAddress('10.0.0.1', forwarded('6.6.6.6, 198.51.100.1:4444'), proxies).ip).toBe('198.51.100.1');
  expect(clientAddress('10.0.0.1', forwarded('6.6.6.6, [2001:db8::1]:4444'), proxies).ip).toBe('2001:db8::1');
  expect(clientAddress('10.0.0.1', forwarded('6.6.6.6, [2001:db8::1], 10.0.0.9:80'), proxies).ip).toBe('2001:db8::1');
});

test('what is no address is passed over', () => {
  expect(clientAddress('10.0.0.1', forwarded('198.51.100.1, unknown, '), proxies).ip).toBe('198.51.100.1');
  expect(clientAddress('10.0.0.1', forwarded('nonsense'), proxies).ip).toBe('10.0.0.1');
  expect(clientAddress('10.0.0.1', new Headers(), proxies)).toEqual({ ip: '10.0.0.1', viaTrustedProxy: true });
});

test('an IPv4 address in IPv6 clothes is the IPv4 address', () => {
  expect(clientAddress('::ffff:10.0.0.1', forwarded('::ffff:198.51.100.1'), proxies).ip).toBe('198.51.100.1');
  expect(clientAddress('::ffff:203.0.113.5', new Headers(), proxies).ip).toBe('203.0.113.5');
});

test('a peer without an address is passed on as it is', () => {
  expect(clientAddress('', forwarded('198.51.100.1'), proxies)).toEqual({ ip: '', viaTrustedProxy: false });
});

test('a range that is none is refused at start', () => {
  expect(() => parseRanges(['10.0.0.0/99'])).toThrow();
  expect(() => parseRanges(['proxy.local'])).toThrow();
});
