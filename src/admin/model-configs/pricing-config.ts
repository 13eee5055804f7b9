/** A model's prices in the form that clients of the price files read: cents per token or unit. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { perCall, type TokenPriceKey, tokenPriceKeys } from '../../pricing/price-keys.ts';
import { centsAt, type PriceSheet } from '../../pricing/price-sheet.ts';
import { batchFactor } from '../../pricing/pricer.ts';

const price = lazy(() => z.object({ price: z.number().describe('US cents per token or unit') }));

// Object.fromEntries forgets which keys it was given.
const byTokenKey = () =>
  Object.fromEntries(tokenPriceKeys.map((key) => [key, price().optional()])) as Record<
    TokenPriceKey,
    z.ZodOptional<ReturnType<typeof price>>
  >;

const tokenPrices = lazy(() =>
  z.object({ ...byTokenKey(), additional_units: z.record(z.string(), price()).optional() }),
);

interface Formula {
  operation: 'sum' | 'multiply';
  operands: (Formula | { value: string })[];
}

export const pricingConfig = lazy(() =>
  z
    .object({
      pay_as_you_go: tokenPrices(),
      context_tiers: z
        .array(z.object({ above: z.number(), pay_as_you_go: tokenPrices() }))
        .optional()
        .describe('What counts instead once the prompt has more tokens than `above`'),
      batch_config: tokenPrices().describe('The prices of batched calls'),
      fixed_cost: z.object({ request: z.number() }).optional().describe('US cents that each call costs by itself'),
      calculate: z
        .object({ request: z.unknown(), response: z.unknown() })
        .describe(
          'How quantities and rates make the cost; tokens that have a rate of their own are not in input_tokens',
        ),
      currency: z.literal('USD'),
    })
    .meta({ id: 'PricingConfig' }),
);

type PricingConfig = z.output<ReturnType<typeof pricingConfig>>;

const product = (quantity: string, key: string): Formula => ({
  operation: 'multiply',
  operands: [{ value: quantity }, { value: `rates.${key}` }],
});

const calculate = {
  request: {
    operation: 'sum',
    operands: [
      product('input_tokens', 'request_token'),
      product('cache_write_tokens', 'cache_write_input_token'),
      product('cache_read_tokens', 'cache_read_input_token'),
      product('audio_input_tokens', 'request_audio_token'),
      product('cache_read_audio_tokens', 'cache_read_audio_input_token'),
    ],
  },
  response: {
    operation: 'sum',
    operands: [product('output_tokens', 'response_token'), product('audio_output_tokens', 'response_audio_token')],
  },
} satisfies Record<string, Formula>;

/** No prices: what a provider's other models have. */
export const unknownPricing: PricingConfig = pricingConfigOf(new Map());

export function pricingConfigOf(sheet: PriceSheet): PricingConfig {
  const sizes = new Set([...sheet.values()].flatMap((rate) => rate.tiers.map((tier) => tier.above)));
  const fixed = sheet.get(perCall);
  return {
    pay_as_you_go: pricesAt(sheet, 0, 1),
    ...(sizes.size > 0 && {
      context_tiers: [...sizes]
        .sort((one, other) => one - other)
        .map((above) => ({ above, pay_as_you_go: pricesAt(sheet, above + 1, 1) })),
    }),
    batch_config: pricesAt(sheet, 0, batchFactor),
    ...(fixed && { fixed_cost: { request: fixed.cents } }),
    calculate,
    currency: 'USD',
  };
}

const tokenKeys: ReadonlySet<string> = new Set(tokenPriceKeys);

function pricesAt(sheet: PriceSheet, promptTokens: number, factor: number): PricingConfig['pay_as_you_go'] {
  const priced = [...sheet]
    .filter(([key]) => key !== perCall)
    .map(([key, rate]) => [key, { price: centsAt(rate, promptTokens) * factor }] as const);
  const units = priced.filter(([key]) => !tokenKeys.has(key));
  return {
    request_token: { price: 0 },
    response_token: { price: 0 },
    ...Object.fromEntries(priced.filter(([key]) => tokenKeys.has(key))),
    ...(units.length > 0 && { additional_units: Object.fromEntries(units) }),
  };
}
