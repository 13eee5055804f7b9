/** Prices of single models, and factors on an integration's prices. Prices are US cents per unit. */
import { z } from 'zod';
import type { PricingConfig, StoredPricingAdjustments } from '../../catalog/saved.ts';
import { lazy } from '../../lazy.ts';
import { tokenPriceKeys } from '../../pricing/price-keys.ts';

const each = <T extends z.ZodType>(schema: T): Record<string, T> =>
  Object.fromEntries(tokenPriceKeys.map((key) => [key, schema]));

const most = 1e12;
const unit = lazy(() => z.string().min(1).max(64));
const price = lazy(() => z.strictObject({ price: z.number().min(0).max(most) }));

const bounded = <T extends z.ZodType>(value: T) =>
  z.record(unit(), value).refine((entries) => Object.keys(entries).length <= 100, { message: 'at most 100 entries' });

export const pricingConfig = lazy(
  () =>
    z.object({
      type: z.literal('static'),
      currency: z.literal('USD').optional(),
      pay_as_you_go: z
        .strictObject({ ...each(price()), image: bounded(bounded(price())), additional_units: bounded(price()) })
        .partial()
        .describe('Each price in US cents per token or unit; images by quality and size')
        .meta({ examples: [{ request_token: { price: 0.00025 }, response_token: { price: 0.001 } }] }),
    }) satisfies z.ZodType<PricingConfig>,
);

const factor = lazy(() => z.number().min(0).max(1e6).nullable());

export const pricingAdjustments = lazy(
  () =>
    z.strictObject({
      multiplier: z
        .strictObject({
          default: factor(),
          ...each(factor()),
          image: z.strictObject({ default: factor().optional() }).nullable(),
          additional_units: bounded(factor()).nullable(),
        })
        .partial()
        .describe('Factors on prices: 0.8 is 20 % off; `default` counts where none is given')
        .meta({ examples: [{ default: 0.8 }] }),
    }) satisfies z.ZodType<StoredPricingAdjustments>,
);
