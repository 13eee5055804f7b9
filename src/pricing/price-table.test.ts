/** What the price table knows, and for how long it believes it. */
import { expect, test } from 'bun:test';
import { createPriceTable } from './price-table.ts';
import { priceProviderIds } from './provider-ids.ts';

test('prices that change with the hour change on the minute', () => {
  let now = new Date('2026-06-15T16:29:59Z');
  const table = createPriceTable({ now: () => now });
  const price = () => table.find('deepseek', 'deepseek-reasoner')?.prices.get('response_token')?.cents;
  const byDay = price();
  now = new Date('2026-06-15T16:30:00Z');
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
