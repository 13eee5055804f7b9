/** The whole index of the administration is served, and the index says truly what is not built yet. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { z } from 'zod';
import { endpointIndex } from './endpoint-index.ts';
import { startGateway, type TestGateway } from './harness.ts';

const served = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.object({ 'x-aliases': z.array(z.string()) }))),
});

/** Parameters are named by either side as it likes. */
const anonymous = (method: string, path: string): string =>
  `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`;
const named = ({ id, method, path }: { id: string; method: string; path: string }) => `${id}: ${method} ${path}`;

let gateway: TestGateway;
let documented: ReadonlySet<string>;

beforeAll(async () => {
  gateway = await startGateway({ GW_CLIENT_AUTH: 'a-service-token-of-at-least-32-characters' });
  const { body } = await gateway.get('/openapi.json', { key: '' });
  documented = new Set(
    Object.entries(served.parse(body).paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) =>
        [path, ...operation['x-aliases']].map((spelling) => anonymous(method, spelling)),
      ),
    ),
  );
});
afterAll(() => gateway.stopWithoutFaults());

/** A route that is there asks for a credential, or finds fault with what was sent. */
async function answers(method: string, path: string): Promise<boolean> {
  const address = path.replaceAll(/\{\w+\}/g, () => Bun.randomUUIDv7());
  const { status } = await gateway.ask(method, address, { key: '', ...(method !== 'GET' && { body: {} }) });
  return status !== 404 && status !== 405 && status < 500;
}

const isServed = async ({ method, path, where }: (typeof endpointIndex)[number]): Promise<boolean> =>
  documented.has(anonymous(method, path)) || (where === 'asking' && (await answers(method, path)));

test('the index has as many endpoints as the specification counts', () => {
  const identity = endpointIndex.filter(({ id }) => /^[A-Z]+-/.test(id) || id === 'internal');
  const ids = new Set(
    identity.flatMap(({ id }) => {
      const [group = '', numbers = ''] = id.split('-');
      return numbers === '' ? [id] : numbers.split(',').map((number) => `${group}-${number}`);
    }),
  );
  expect(ids.size).toBe(5 + 13 + 7 + 5 + 4 + 7 + 8 + 10 + 20 + 5 + 1 + 1);
});

test('everything in the index is served', async () => {
  const missing: string[] = [];
  for (const entry of endpointIndex.filter(({ notYet }) => !notYet)) {
    if (!(await isServed(entry))) missing.push(named(entry));
  }
  expect(missing).toEqual([]);
});

test('what the index says is not built yet is not served; take the mark away once it is', async () => {
  const built: string[] = [];
  for (const entry of endpointIndex.filter(({ notYet }) => notYet)) {
    if (await isServed(entry)) built.push(named(entry));
  }
  expect(built).toEqual([]);
});
