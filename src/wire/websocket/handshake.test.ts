import { describe, expect, test } from 'bun:test';
import { acceptance } from './handshake.ts';

/** The example of RFC 6455. */
const proper = {
  host: 'server.example.com',
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
};
const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

/** The lines of the head, sorted, without the one that tells the time. */
function linesOf(head: string | null): string[] {
  expect(head).toEndWith('\r\n\r\n');
  const [status = '', ...lines] = head?.slice(0, -4).split('\r\n') ?? [];
  return [status, ...lines.filter((line) => !line.startsWith('date: ')).sort()];
}

const switched = 'HTTP/1.1 101 Switching Protocols';
const usual = ['connection: Upgrade', `sec-websocket-accept: ${accept}`];

test('a proper handshake is accepted, and its key answered', () => {
  expect(linesOf(acceptance('GET', proper, {}))).toEqual([switched, ...usual, 'upgrade: websocket']);
});

test.each([
  ['upgrade in capitals', { upgrade: 'WebSocket' }],
  ['connection in capitals', { connection: 'UPGRADE' }],
  ['connection with other items', { connection: 'keep-alive,  Upgrade' }],
  ['upgrade with other items', { upgrade: 'h2c, websocket' }],
])('so is one with %s', (_, headers) => {
  expect(acceptance('GET', { ...proper, ...headers }, {})).not.toBeNull();
});

describe('no handshake is', () => {
  test.each(['POST', 'get', 'HEAD', 'CONNECT'])('one of method %s', (method) => {
    expect(acceptance(method, proper, {})).toBeNull();
  });

  test.each(['upgrade', 'connection', 'sec-websocket-key', 'sec-websocket-version'])('one without %s', (name) => {
    const headers = Object.fromEntries(Object.entries(proper).filter(([known]) => known !== name));
    expect(acceptance('GET', headers, {})).toBeNull();
  });

  test.each([
    ['upgrade', 'h2c'],
    ['upgrade', 'websocket2'],
    ['upgrade', 'not websocket'],
    ['connection', 'keep-alive'],
    ['connection', 'upgraded'],
    ['connection', ''],
    ['sec-websocket-version', '8'],
    ['sec-websocket-version', '13, 8'],
    ['sec-websocket-version', ' 13'],
    ['sec-websocket-key', ''],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ'],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZT0='],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25j'],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25j=Q=='],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ==, dGhlIHNhbXBsZSBub25jZQ=='],
  ])('one with %s: %s', (name, value) => {
    expect(acceptance('GET', { ...proper, [name]: value }, {})).toBeNull();
  });
});

describe('further headers', () => {
  test('go along', () => {
    const further = { 'x-gw-trace-id': 'abc', 'sec-websocket-protocol': 'realtime' };
    const lines = [...usual, 'sec-websocket-protocol: realtime', 'upgrade: websocket', 'x-gw-trace-id: abc'];
    expect(linesOf(acceptance('GET', proper, further))).toEqual([switched, ...lines]);
  });

  test('name no protocol when it is empty', () => {
    const head = acceptance(
      'GET',
      { ...proper, 'sec-websocket-protocol': 'realtime' },
      { 'sec-websocket-protocol': '' },
    );
    expect(head).not.toContain('sec-websocket-protocol');
  });

  test('cannot say what the handshake says', () => {
    const further = {
      upgrade: 'h2c',
      connection: 'close',
      'content-length': '5',
      'transfer-encoding': 'chunked',
      'sec-websocket-accept': 'x',
      'sec-websocket-extensions': 'permessage-deflate',
    };
    expect(linesOf(acceptance('GET', proper, further))).toEqual([switched, ...usual, 'upgrade: websocket']);
  });

  test.each([
    ['x-a', 'a\r\nx-b: c'],
    ['x-a', 'a\nb'],
    ['x-a\r\nx-b', 'c'],
    ['x-a', '日'],
  ])('that no head can carry are not sent: %j: %j', (name, value) => {
    expect(() => acceptance('GET', proper, { [name]: value })).toThrow();
  });
});
