/** Prices of single models from a date on, which stand over those of the price data: the operator's, and corrections of ours. */
import { z } from 'zod';
import { lazy } from '../lazy.ts';
import { tokenPriceKeys } from './price-keys.ts';
import type { PriceSheet, Rate } from './price-sheet.ts';

export interface DatedPrices {
  /** When they come into force, in ms since the epoch. */
  from: number;
  /** US cents per token or unit, by price key. Keys that are not here keep their former price. */
  cents: Readonly<Record<string, number>>;
}

/** One model's prices, as an operator's file tells them. */
export interface PriceOverride extends DatedPrices {
  /** Our id of the provider. */
  provider: string;
  model: string;
}

const mostModels = 20_000;
const mostUnits = 100;

const price = lazy(() => z.strictObject({ price: z.number().min(0).max(1e12) }));

const payAsYouGo = lazy(() =>
  z
    .strictObject({
      ...Object.fromEntries(tokenPriceKeys.map((key) => [key, price().optional()])),
      additional_units: z
        .record(z.string().min(1).max(64), price())
        .refine((units) => Object.keys(units).length <= mostUnits, { message: `at most ${mostUnits} entries` })
        .optional(),
    })
    .transform(({ additional_units: units, ...tokens }) =>
      Object.fromEntries(
        [
          ...Object.entries(tokens as Record<string, { price: number } | undefined>),
          ...Object.entries(units ?? {}),
        ].flatMap(([key, value]) => (value ? [[key, value.price] as const] : [])),
      ),
    ),
);

const override = lazy(() =>
  z
    .strictObject({
      provider: z.string().min(1).max(64),
      model: z.string().min(1).max(256),
      from: z.union([z.iso.date(), z.iso.datetime({ offset: true })]).optional(),
      pay_as_you_go: payAsYouGo(),
    })
    .transform(
      ({ provider, model, from, pay_as_you_go: cents }): PriceOverride => ({
        provider,
        model,
        from: from === undefined ? 0 : Date.parse(from),
        cents,
      }),
    ),
);

/** A file of prices of single models: `{"models": [{"provider", "model", "from"?, "pay_as_you_go"}]}`. */
export const overrideFile = lazy(() => z.strictObject({ models: z.array(override()).min(1).max(mostModels) }));

/** The sheet with every price that is in force at this time; the later date counts. */
export function withDated(sheet: PriceSheet, dated: readonly DatedPrices[], now: Date): PriceSheet {
  const merged = new Map<string, Rate>(sheet);
  for (const { cents } of dated.filter(({ from }) => from <= now.getTime()).sort((a, b) => a.from - b.from)) {
    for (const key in cents) merged.set(key, { cents: cents[key] ?? 0, tiers: [] });
  }
  return merged;
}
