/** What is told of an address when it is saved, by what its name leads to. */
import { expect, test } from 'bun:test';
import { readEnvironment } from '../../environment.ts';
import { BodyBudget } from '../../gateway/request/body-budget.ts';
import { createHostGuard } from '../../gateway/upstream/host-guard.ts';
import { HttpClient } from '../../wire/client/http-client.ts';
import { createUpstreamNet } from './create.ts';
import { createUpstreamHttp } from './http.ts';

const names: Record<string, string[]> = {
  'inside.example.com': ['10.0.0.1'],
  'both.example.com': ['93.184.216.34', '127.0.0.1'],
  'ours.example.com': ['93.184.216.35'],
  'outside.example.com': ['93.184.216.34'],
};
const guard = createHostGuard(
  { named: ['trusted.example.com'], own: ['localhost:8787'] },
  async (name) => names[name] ?? Promise.reject(new Error('ENOTFOUND')),
  { ownAddresses: () => ['93.184.216.35'] },
);
const http = createUpstreamHttp(new HttpClient({}), guard, new BodyBudget(1024));

test.each([
  ['a private address', 'https://inside.example.com/v1', /inside.example.com .*private/],
  ['a private address beside a public one', 'https://both.example.com/v1', /both.example.com/],
  ['this very gateway', 'http://ours.example.com:8787/v1', /this gateway itself/],
])('a name that leads to %s is refused', async (_, url, reason) => {
  expect(await http.faultOfSaved(url, 'o')).toMatch(reason);
});

test.each([
  ['a public address', 'https://outside.example.com/v1'],
  ['nowhere yet', 'https://unknown.example.com/v1'],
  ['a host that the operator trusts', 'http://trusted.example.com/v1'],
  ['our address, at another port', 'https://ours.example.com/v1'],
])('a name that leads to %s is accepted', async (_, url) => {
  expect(await http.faultOfSaved(url, 'o')).toBeNull();
});

/** A net with bounds of its own, whose names are looked up by hand. */
function netOf(lookup: (name: string) => Promise<string[]>, env: Record<string, string> = {}) {
  const settings = readEnvironment({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env });
  return createUpstreamNet(settings, 'mark', new BodyBudget(1024 * 1024), { lookup, now: () => 0 });
}

const limits = { bytes: 1024, ms: 5_000 };
const get = (url: string, tenant: string) => ({ url, method: 'GET' as const, headers: {}, body: null, tenant });
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('names of one tenant that nobody answers for hold up no other tenant', async () => {
  const asked: string[] = [];
  const never = new Promise<string[]>(() => undefined);
  const net = netOf((name) => {
    asked.push(name);
    return name === 'living.example' ? Promise.resolve(['10.0.0.1']) : never;
  });
  for (let count = 0; count < 20; count++) {
    net.http.fetch(get(`https://dead-${count}.example/`, 'a'), limits).catch(() => undefined);
  }
  await turn();
  expect(asked).toHaveLength(4);
  // It is looked up, and then refused for where it leads.
  const refused = await net.http.fetch(get('https://living.example/', 'b'), limits).catch((fault: Error) => fault);
  expect(asked).toHaveLength(5);
  expect(String(refused)).toContain('living.example');
  net.close();
});

test('connections of one tenant are its own share', async () => {
  const held = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      request.url.endsWith('/held') ? held.promise.then(() => new Response('late')) : new Response('ok'),
  });
  const net = netOf(async () => [], { MAX_CONNECTIONS_PER_ORGANISATION: '2' });
  const url = `http://127.0.0.1:${server.port}`;
  const waiting = [1, 2].map(() => net.http.fetch(get(`${url}/held`, 'a'), limits));
  await turn();
  const third = await net.http.fetch(get(`${url}/`, 'a'), limits).catch((fault: Error) => fault.message);
  expect(third).toContain('as many connections open as it may');
  expect((await net.http.fetch(get(`${url}/`, 'b'), limits)).text).toBe('ok');
  held.resolve();
  await Promise.all(waiting);
  expect((await net.http.fetch(get(`${url}/`, 'a'), limits)).text).toBe('ok');
  net.close();
  await server.stop(true);
});
