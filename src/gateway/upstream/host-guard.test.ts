import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../errors.ts';
import { createHostGuard, type Lookup } from './host-guard.ts';

const publicAddress = '93.184.216.34';
const finds =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses;

/** The pinned host, or the code of the refusal. */
async function checked(lookup: Lookup, url = 'https://model.example:8443/v1/x', trusted: string[] = []) {
  try {
    return await createHostGuard(trusted, lookup).check(url);
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
  const ownHosts = ['127.0.0.1:8787', 'gw.example'];
  const guard = createHostGuard(['127.0.0.1'], finds(publicAddress), { ownHosts });
  for (const url of ['http://127.0.0.1:8787/v1/x', 'https://gw.example/v1', 'https://GW.example:443/v1']) {
    expect(() => guard.check(url)).toThrow('it is this gateway itself');
  }
  expect(guard.check('http://127.0.0.1:8788/v1/x')).toBeNull();
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

describe('lookups', () => {
  test('at most five run at once, however many ask, and each is answered', async () => {
    let running = 0;
    let most = 0;
    const slow: Lookup = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return [publicAddress];
    };
    const guard = createHostGuard([], slow);
    const names = Array.from({ length: 40 }, (_, index) => `https://host-${index}.example/`);
    const first = names.slice(0, 20).map((url) => guard.check(url));
    // A second wave arrives while places of the first become free.
    const second = first.flatMap((check, index) => check?.then(() => guard.check(names[20 + index] ?? '')) ?? []);
    expect(await Promise.all(second)).toHaveLength(20);
    expect([most, running]).toEqual([5, 0]);
  });

  test('one that fails gives its place back', async () => {
    let fails = true;
    const guard = createHostGuard([], async () => {
      if (fails) throw new Error('ENOTFOUND');
      return [publicAddress];
    });
    for (let call = 0; call < 7; call++)
      await expect(guard.check('https://model.example/')).rejects.toThrow('ENOTFOUND');
    fails = false;
    expect(await guard.check('https://model.example/')).toMatchObject({ address: publicAddress });
  });

  test('an address is kept for five seconds, and checked again each time', async () => {
    let now = 0;
    let address = publicAddress;
    let lookups = 0;
    const lookup: Lookup = async () => {
      lookups++;
      return [address];
    };
    const guard = createHostGuard([], lookup, { now: () => now });
    const check = () => guard.check('https://model.example/');
    await check();
    now = 4_999;
    await check();
    expect(lookups).toBe(1);
    now = 5_000;
    address = '127.0.0.1';
    await expect(check()).rejects.toMatchObject({ code: 'invalid_custom_host' });
    await expect(check()).rejects.toMatchObject({ code: 'invalid_custom_host' });
  });
});
