/** What the price table knows, and for how long it believes it. */
import { describe, expect, test } from 'bun:test';
import { overrideFile } from './dated-prices.ts';
import { priceData } from './price-data.ts';
import { createPriceTable, type PriceTable } from './price-table.ts';
import { priceProviderIds } from './provider-ids.ts';

test('prices that change with the hour change on the minute', () => {
  let now = new Date('2026-09-15T03:59:59Z');
  const table = createPriceTable({ now: () => now });
  const price = () => table.find('deepseek', 'deepseek-v4-flash')?.prices.get('response_token')?.cents;
  const byDay = price();
  now = new Date('2026-09-15T04:00:00Z');
  const byNight = price();
  expect(byDay).toBeGreaterThan(0);
  expect(byNight).toBeGreaterThan(0);
  expect(byNight).toBeLessThan(byDay ?? 0);
});

test('prices that change on a date change on it', () => {
  let now = new Date('2025-06-09T23:59:00Z');
  const table = createPriceTable({ now: () => now });
  const price = () => table.find('openai', 'o3')?.prices.get('request_token')?.cents;
  expect(price()).toBeCloseTo(0.001, 12);
  now = new Date('2025-06-10T00:00:00Z');
  expect(price()).toBeCloseTo(0.0002, 12);
});

test('a model is looked up once and kept', () => {
  const table = createPriceTable({ now: () => new Date('2026-06-15T12:00:00Z') });
  expect(table.find('openai', 'gpt-4o')).toBe(table.find('openai', 'gpt-4o'));
  for (let index = 0; index < 6_000; index++) table.find('no-such-provider', `model-${index}`);
  expect(table.find('openai', 'gpt-4o')).toMatchObject({ id: 'gpt-4o' });
});

test('every provider of the list has prices and names its models as they are called', () => {
  const table = createPriceTable({ now: () => new Date('2026-06-15T12:00:00Z') });
  for (const provider of priceProviderIds.keys()) {
    const models = table.models(provider);
    expect(models.length, provider).toBeGreaterThan(0);
    expect(new Set(models).size).toBe(models.length);
    const unknown = models.filter((model) => table.find(provider, model) === null);
    expect(unknown, provider).toEqual([]);
  }
  expect(table.models('bedrock')).toContain('anthropic.claude-sonnet-4-20250514-v1:0');
  expect(table.models('no-such-provider')).toEqual([]);
});

const perMillion = (table: PriceTable, provider: string, model: string) => {
  const { prices } = table.find(provider, model) ?? {};
  return ['request_token', 'cache_read_input_token', 'response_token'].map((key) =>
    Number(((prices?.get(key)?.cents ?? Number.NaN) * 1e4).toFixed(6)),
  );
};

test('stale prices are corrected, each from its day on', () => {
  let now = new Date('2025-08-01T12:00:00Z');
  const table = createPriceTable({ now: () => now });
  expect(perMillion(table, 'deepseek', 'deepseek-reasoner')).toEqual([0.55, 0.14, 2.19]);
  now = new Date('2025-10-01T12:00:00Z');
  expect(perMillion(table, 'deepseek', 'deepseek-reasoner')).toEqual([0.28, 0.028, 0.42]);
  expect(perMillion(table, 'mistral-ai', 'mistral-large-latest')[0]).toBe(2);
  now = new Date('2026-06-15T00:00:00Z');
  expect(perMillion(table, 'deepseek', 'deepseek-reasoner')).toEqual([0.14, 0.0028, 0.28]);
  expect(perMillion(table, 'mistral-ai', 'mistral-large-latest')).toEqual([0.5, 0.05, 1.5]);
  expect(perMillion(table, 'mistral-ai', 'mistral-large-2411')[0]).toBe(2);
});

describe('an update', () => {
  const published = [
    {
      id: 'openai',
      models: [
        {
          id: 'gpt-next',
          match: { starts_with: 'gpt-next' },
          prices: [
            { prices: { input_mtok: 1, cache_read_mtok: 0.1, output_mtok: 4 } },
            {
              constraint: { start_date: '2026-12-01' },
              prices: {
                input_mtok: { base: 2, tiers: [{ start: 1000, price: 3 }] },
                cache_read_mtok: 0.2,
                output_mtok: 8,
              },
            },
          ],
        },
      ],
    },
  ];

  test('of the price data stands in place of the package’s, dates and tiers included', () => {
    let now = new Date('2026-11-30T23:59:00Z');
    const table = createPriceTable({ now: () => now });
    table.find('openai', 'gpt-next-2');
    table.update({ data: priceData().parse(published), overrides: [] });
    expect(perMillion(table, 'openai', 'gpt-next-2')).toEqual([1, 0.1, 4]);
    expect(table.find('openai', 'gpt-4o')).toBeNull();
    expect(table.models('openai')).toEqual(['gpt-next']);
    now = new Date('2026-12-01T00:00:00Z');
    expect(perMillion(table, 'openai', 'gpt-next-2')).toEqual([2, 0.2, 8]);
    expect(table.find('openai', 'gpt-next')?.prices.get('request_token')?.tiers).toEqual([
      { above: 1000, cents: 0.0003 },
    ]);
    table.update({ data: null, overrides: [] });
    expect(table.find('openai', 'gpt-4o')).not.toBeNull();
  });

  test.each([
    [[{ id: 'a', models: [{ id: 'm', match: { regex: '(' }, prices: {} }] }]],
    [[{ id: 'a', models: [{ id: 'm', match: { equals: 'm' }, prices: { input_mtok: -1 } }] }]],
    [[{ id: 'a', models: [{ id: 'm', match: { equals: 'm' }, prices: [] }] }]],
    [[]],
  ])('that is no price data is refused', (data) => {
    expect(priceData().safeParse(data).success).toBe(false);
  });

  test('of single models counts from its day on, for the names of the same model alone, key by key', () => {
    let now = new Date('2026-11-30T12:00:00Z');
    const table = createPriceTable({ now: () => now });
    const { models } = overrideFile().parse({
      models: [
        {
          provider: 'openai',
          model: 'gpt-4o',
          from: '2026-12-01',
          pay_as_you_go: { request_token: { price: 0.0001 } },
        },
        { provider: 'ollama', model: 'ours:7b', pay_as_you_go: { additional_units: { web_search: { price: 2 } } } },
      ],
    });
    table.update({ data: null, overrides: models });
    expect(perMillion(table, 'openai', 'gpt-4o')).toEqual([2.5, 1.25, 10]);
    now = new Date('2026-12-01T00:00:00Z');
    expect(perMillion(table, 'openai', 'gpt-4o')).toEqual([1, 1.25, 10]);
    expect(perMillion(table, 'openai', 'gpt-4o-2024-11-20')).toEqual([1, 1.25, 10]);
    // A model of its own, with a price of its own.
    expect(perMillion(table, 'openai', 'gpt-4o-2024-05-13')[0]).toBe(5);
    expect(perMillion(table, 'azure-openai', 'gpt-4o')[0]).toBe(2.5);
    expect(table.find('ollama', 'Ours:7b')?.prices.get('web_search')).toEqual({ cents: 2, tiers: [] });
    expect(table.models('ollama')).toEqual(['ours:7b']);
  });
});
