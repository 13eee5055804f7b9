/** Prices that are newer than the release: saved from a file, and followed by whoever serves. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../test/harness.ts';
import { silentLog } from '../log.ts';
import { createPriceTable } from '../pricing/price-table.ts';
import { followPrices, forgetPriceFiles, PriceFileError, savePriceFile } from './price-files.ts';

const now = new Date('2026-11-16T12:00:00Z');

onEachEngine('price files', (start) => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await start();
  });
  afterEach(() => gateway.stop());

  const one = (price: number, more: object = {}) =>
    JSON.stringify({
      models: [{ provider: 'openai', model: 'gpt-4o', pay_as_you_go: { request_token: { price } }, ...more }],
    });

  test('prices of single models join those that were set before', async () => {
    const { store } = gateway.app.services;
    const table = createPriceTable({ now: () => now });
    const price = async () => {
      await followPrices(store, table, silentLog);
      return table.find('openai', 'gpt-4o')?.prices.get('request_token')?.cents;
    };
    expect(await price()).toBeCloseTo(0.00025, 12);
    expect(await savePriceFile(store, one(1), now)).toEqual({ file: 'overrides', models: 1 });
    await savePriceFile(store, one(2, { from: '2026-11-17' }), now);
    expect(await price()).toBe(1);
    await savePriceFile(store, one(3), now);
    expect(await price()).toBe(3);
    await forgetPriceFiles(store.db);
    expect(await price()).toBeCloseTo(0.00025, 12);
  });

  test('price data replaces the release’s', async () => {
    const { store } = gateway.app.services;
    const models = [{ id: 'gpt-next', match: { equals: 'gpt-next' }, prices: { input_mtok: 3 } }];
    expect(await savePriceFile(store, JSON.stringify([{ id: 'openai', models }]), now)).toEqual({
      file: 'data',
      models: 1,
    });
    const table = createPriceTable({ now: () => now });
    await followPrices(store, table, silentLog);
    expect(table.find('openai', 'gpt-next')?.prices.get('request_token')?.cents).toBeCloseTo(0.0003, 12);
  });

  test.each([
    ['{', 'JSON'],
    ['{"models":[]}', 'models'],
    [one(-1), 'price'],
    [
      JSON.stringify({ models: [{ provider: 'openai', model: 'm', pay_as_you_go: { tokens: { price: 1 } } }] }),
      'tokens',
    ],
    ['[{"id":"openai","models":[{"id":"m"}]}]', 'match'],
  ])('what is no price file is refused by its field and changes nothing: %s', async (text, named) => {
    const { store } = gateway.app.services;
    const refused = await savePriceFile(store, text, now).catch((fault) => fault);
    expect(refused).toBeInstanceOf(PriceFileError);
    expect(refused.message).toContain(named);
    expect(await store.db.selectFrom('price_files').select('name').execute()).toEqual([]);
  });
});
