import { expect, test } from 'bun:test';
import { GatewayError } from '../errors.ts';
import type { Lookup } from './fair-lookups.ts';
import { createHostGuard, marked } from './host-guard.ts';

const tenant = 'o1';
const nothingTrusted = { named: [], own: [] };
const publicAddress = '93.184.216.34';
const finds =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses;

/** The pinned host, or the code of the refusal. */
async function checked(lookup: Lookup, url = 'https://model.example:8443/v1/x', trusted: string[] = []) {
  try {
    return await createHostGuard({ named: trusted, own: [] }, lookup).check(url, tenant);
  } catch (fault) {
    if (fault instanceof GatewayError) return fault.code;
    throw fault;
  }
}

test('the address that was looked up is the one to dial; name and port stay for TLS and the Host header', async () => {
  expect(await checked(finds(publicAddress))).toEqual({
    address: publicAddress,
    name: 'model.example',
    host: 'model.example:8443',
  });
});

test.each(['127.0.0.1', '10.0.0.5', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1', 'odd'])(
  'a name that leads to %s is refused',
  async (address) => {
    expect(await checked(finds(address))).toBe('invalid_custom_host');
    expect(await checked(finds(publicAddress, address))).toBe('invalid_custom_host');
  },
);

test('the gateway does not call itself, however its address is written', () => {
  const own = ['localhost:8787', 'gw.example'];
  const guard = createHostGuard({ named: ['127.0.0.1', 'localhost'], own }, finds(publicAddress));
  for (const url of [
    'http://127.0.0.1:8787/v1/x',
    'http://a.localhost:8787/',
    'https://gw.example/v1',
    'https://GW.example:443/v1',
  ]) {
    expect(() => guard.check(url, tenant)).toThrow('this gateway itself');
  }
  expect(guard.check('http://127.0.0.1:8788/v1/x', tenant)).toBeNull();
});

test('a public name of this machine is refused on the port on which the gateway listens', async () => {
  const guard = createHostGuard({ named: [], own: ['localhost:8787'] }, finds(publicAddress), {
    ownAddresses: () => [publicAddress],
  });
  await expect(guard.check('https://other.example:8787/', tenant)).rejects.toThrow('this gateway itself');
  expect(await guard.check('https://other.example/', tenant)).toMatchObject({ address: publicAddress });
});

test('the mark of the installation stands behind the marks of others', () => {
  expect(marked({ a: 'b' }, '1.1 gw-x')).toEqual({ a: 'b', via: '1.1 gw-x' });
  expect(marked({ via: '1.1 proxy' }, '1.1 gw-x')).toEqual({ via: '1.1 proxy, 1.1 gw-x' });
});

test('a name without any address cannot be reached', async () => {
  expect(await checked(finds())).toBe('upstream_unreachable');
});

test('a trusted host is neither looked up nor pinned, but metadata services stay closed', async () => {
  const nobody: Lookup = () => Promise.reject(new Error('looked up'));
  expect(await checked(nobody, 'http://10.0.0.5/v1', ['10.0.0.5'])).toBeNull();
  expect(await checked(nobody, 'http://169.254.169.254/v1', ['169.254.169.254'])).toBe('invalid_custom_host');
  expect(await checked(nobody, 'http://10.0.0.5:6379/v1', ['10.0.0.5'])).toBe('invalid_custom_host');
});

test('what the client puts into path and query does not decide about the host', async () => {
  const url = `https://model.example/v1/models/@x/y?mail=a@b.c&long=${'x'.repeat(3_000)}#f`;
  expect(await checked(finds(publicAddress), url)).toMatchObject({ name: 'model.example' });
});

test('an address is checked again each time it is looked up', async () => {
  let now = 0;
  let address = publicAddress;
  const guard = createHostGuard(nothingTrusted, async () => [address], { now: () => now });
  const check = () => guard.check('https://model.example/', tenant);
  await check();
  now = 5_000;
  address = '127.0.0.1';
  await expect(check()).rejects.toMatchObject({ code: 'invalid_custom_host' });
  await expect(check()).rejects.toMatchObject({ code: 'invalid_custom_host' });
});
