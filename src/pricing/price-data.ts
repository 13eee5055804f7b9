/** Price data in the form that genai-prices publishes it: checked, and with the price that is in force at a time. */
import type { ConditionalPrice, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { z } from 'zod';
import { lazy } from '../lazy.ts';

/** What is read of a provider. */
export type PricedProvider = Pick<Provider, 'id' | 'models' | 'fallback_model_providers'>;

const longestText = 2_000;
const mostEntries = 5_000;

const text = lazy(() => z.string().min(1).max(longestText));
const amount = lazy(() => z.number().min(0).max(1e9));
const clockTime = lazy(() => z.string().regex(/^\d{2}:\d{2}:\d{2}(Z|\+00:00)?$/));

const pattern = lazy(() => text().refine(isPattern, { message: 'must be a regular expression' }));

function isPattern(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}

const match: z.ZodType<ModelInfo['match']> = z.lazy(() =>
  z.union([
    z.object({ or: z.array(match).max(mostEntries) }),
    z.object({ and: z.array(match).max(mostEntries) }),
    z.object({ equals: text() }),
    z.object({ starts_with: text() }),
    z.object({ ends_with: text() }),
    z.object({ contains: text() }),
    z.object({ regex: pattern() }),
  ]),
);

const modelPrice = lazy(() =>
  z.record(
    text(),
    z.union([
      amount(),
      z.object({ base: amount(), tiers: z.array(z.object({ start: amount(), price: amount() })).max(100) }),
    ]),
  ),
);

/** The published file leaves the kind of a constraint out. */
const constraint = lazy(() =>
  z.union([
    z.object({ start_date: z.iso.date() }).transform(({ start_date }) => ({ type: 'start_date' as const, start_date })),
    z
      .object({ start_time: clockTime(), end_time: clockTime() })
      .transform((times) => ({ type: 'time_of_date' as const, ...times })),
  ]),
);

const conditionalPrice = lazy(() =>
  z
    .object({ constraint: constraint().nullish(), prices: modelPrice() })
    .transform(({ constraint: when, prices }): ConditionalPrice => ({ ...(when && { constraint: when }), prices })),
);

const model = lazy(() =>
  z
    .object({
      id: text(),
      name: text().nullish(),
      match,
      context_window: z.number().nullish(),
      prices: z.union([z.array(conditionalPrice()).min(1).max(100), modelPrice()]),
    })
    .transform(
      ({ id, name, match: matches, context_window, prices }): ModelInfo => ({
        id,
        match: matches,
        prices,
        ...(name && { name }),
        ...(context_window && { context_window }),
      }),
    ),
);

/** A file of price data, as its project publishes it: a list of providers. */
export const priceData = lazy(() =>
  z
    .array(
      z.object({
        id: text(),
        fallback_model_providers: z.array(text()).max(mostEntries).nullish(),
        models: z.array(model()).max(mostEntries),
      }),
    )
    .min(1)
    .max(mostEntries)
    .transform((providers): PricedProvider[] =>
      providers.map(({ id, models, fallback_model_providers: resold }) => ({
        id,
        models,
        ...(resold && { fallback_model_providers: resold }),
      })),
    ),
);

/** The last price whose condition holds; prices without one always do. */
export function priceInForce({ prices }: Pick<ModelInfo, 'prices'>, now: Date): ModelPrice {
  if (!Array.isArray(prices)) return prices;
  return (prices.findLast(({ constraint: when }) => !when || holds(when, now)) ?? prices[0])?.prices ?? {};
}

function holds(when: NonNullable<ConditionalPrice['constraint']>, now: Date): boolean {
  if (when.type === 'start_date') return now.getTime() >= Date.parse(when.start_date);
  const time = now.toISOString().slice(11, 19);
  const [from, to] = [when.start_time.slice(0, 8), when.end_time.slice(0, 8)];
  return from <= to ? time >= from && time < to : time >= from || time < to;
}
