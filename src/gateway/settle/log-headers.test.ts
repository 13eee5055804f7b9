import { expect, test } from 'bun:test';
import { OwnHeaders } from '../request/headers.ts';
import { keyInHeaders } from '../request/identify.ts';
import { requestHeaders } from './log-headers.ts';

const masked = expect.stringMatching(/^masked:/);

test('headers that come again are masked once, for all who send them', () => {
  const own = new OwnHeaders({ 'x-gw-api-key': 'key', accept: 'a', 'x-copy': 'key' }, []);
  const keyHeaders = own.once(keyInHeaders)?.headers ?? new Set();
  const first = requestHeaders({ own, keyHeaders }, []);
  expect(first).toEqual({ 'x-gw-api-key': masked, accept: 'a', 'x-copy': masked });
  expect(requestHeaders({ own, keyHeaders }, [])).toBe(first);
});

test('a key that came another way is masked in the same headers too', () => {
  const own = new OwnHeaders({ accept: 'a', origin: 'https://page' }, []);
  expect(requestHeaders({ own, keyHeaders: new Set() }, [])).toEqual({ accept: 'a', origin: 'https://page' });
  expect(requestHeaders({ own, keyHeaders: new Set(['origin']) }, [])).toEqual({ accept: 'a', origin: masked });
});
