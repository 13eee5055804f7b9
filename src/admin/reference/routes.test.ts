import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../../test/harness.ts';
import { allProviders } from '../../providers/index.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stopWithoutFaults());

test('every provider is listed without a key, with what it offers and what it needs', async () => {
  const { status, body } = await gateway.get('/v1/reference/providers', { key: '' });
  expect([status, body.total]).toEqual([200, allProviders.length]);
  const sandbox = body.data.find(({ id }: { id: string }) => id === 'sandbox');
  expect(sandbox).toMatchObject({ name: 'Sandbox', needs_credential: false });
  expect(sandbox.endpoints.includes('chatComplete')).toBe(true);
  expect(body.data.find(({ id }: { id: string }) => id === 'databricks')).toMatchObject({
    address: 'https://{databricks_workspace}.cloud.databricks.com',
    needs_credential: true,
  });
});

test('models are listed by provider, a page at a time', async () => {
  const first = await gateway.get('/v1/reference/models?provider=openai&page_size=2', { key: '' });
  expect([first.status, first.body.data.length]).toEqual([200, 2]);
  expect(first.body.data.every(({ provider }: { provider: string }) => provider === 'openai')).toBe(true);
  const all = await gateway.get('/v1/reference/models', { key: '' });
  expect(all.body.total).toBeGreaterThan(first.body.total);
  const none = await gateway.get('/v1/reference/models?provider=nobody', { key: '' });
  expect([none.status, none.body]).toEqual([200, { object: 'list', total: 0, data: [] }]);
});
