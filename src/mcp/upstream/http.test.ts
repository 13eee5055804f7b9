/** What is told of an address when it is saved, by what its name leads to. */
import { expect, test } from 'bun:test';
import { BodyBudget } from '../../gateway/request/body-budget.ts';
import { createHostGuard } from '../../gateway/upstream/host-guard.ts';
import { HttpClient } from '../../wire/client/http-client.ts';
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
