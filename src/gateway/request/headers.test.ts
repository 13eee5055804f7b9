import { expect, test } from 'bun:test';
import { KnownHeaders, OwnHeaders } from './headers.ts';

const own = (headers: Record<string, string>, ...aliases: string[]) =>
  new OwnHeaders(new Headers(headers).toJSON(), aliases);

test('our prefix and an alias of it are read alike; ours goes first', () => {
  expect(own({ 'X-Gw-Config': 'a' }).get('config')).toBe('a');
  expect(own({ 'X-Acme-Config': 'b' }, 'x-acme-').get('config')).toBe('b');
  expect(own({ 'x-acme-config': 'b', 'x-gw-config': 'a' }, 'x-acme-').get('config')).toBe('a');
  expect(own({ 'x-acme-config': 'b' }).get('config')).toBeNull();
});

test('a header without a value is absent, also before its alias', () => {
  expect(own({ 'x-gw-custom-host': '' }).get('custom-host')).toBeNull();
  expect(own({ 'x-gw-config': '', 'x-acme-config': 'b' }, 'x-acme-').get('config')).toBe('b');
});

test('answers use the prefix that the client uses', () => {
  expect(own({ 'x-gw-config': 'a' }, 'x-acme-', 'x-old-').prefix).toBe('x-gw-');
  expect(own({ 'x-old-config': 'a' }, 'x-acme-', 'x-old-').prefix).toBe('x-old-');
});

test('flags are true or false in any case; anything else is absent', () => {
  const flag = (value: string) => own({ 'x-gw-debug': value }).flag('debug');
  expect(['true', 'TRUE', 'False', '1', 'yes', ''].map(flag)).toEqual([true, true, false, null, null, null]);
});

test('milliseconds are whole numbers above zero; anything else is absent', () => {
  const ms = (value: string) => own({ 'x-gw-t': value }).milliseconds('t');
  expect(['1500', '0', '-1', '1.5', 'soon', ''].map(ms)).toEqual([1500, null, null, null, null, null]);
});

test('all of ours, by their names', () => {
  const headers = own({ 'x-gw-a': '1', 'x-acme-b': '2', other: '3' }, 'x-acme-');
  expect(Object.fromEntries(headers.all())).toEqual({ a: '1', b: '2' });
});

test('what follows from headers is worked out once for those who send the same, and for no others', () => {
  const known = new KnownHeaders([]);
  const fields = { 'x-gw-config': 'a' };
  const configOf = (headers: OwnHeaders) => ({ config: headers.get('config') });
  const first = known.of(fields).once(configOf);
  expect(known.of(fields).once(configOf)).toBe(first);
  expect(known.of({ 'x-gw-config': 'b' }).once(configOf)).toEqual({ config: 'b' });
});

test('what cannot be worked out is tried again', () => {
  const headers = own({});
  let tries = 0;
  const work = () => {
    tries += 1;
    if (tries === 1) throw new Error('not yet');
    return null;
  };
  expect(() => headers.once(work)).toThrow('not yet');
  expect([headers.once(work), headers.once(work), tries]).toEqual([null, null, 2]);
});
