/** What a call costs. */
import type { Usage } from '../providers/provider.ts';
import { perCall, widerKey } from './price-keys.ts';
import { centsAt, type PriceSheet } from './price-sheet.ts';
import { createPriceTable, type PriceTable } from './price-table.ts';

export interface PricedCall {
  /** The provider's id. */
  provider: string;
  /** The model whose price counts: a custom model's base, else the one that answered. */
  model: string;
  usage: Usage;
  /** Prices of this model set by an administrator, in US cents per unit by price key. Keys that are not set keep the catalogue's price. */
  prices: Readonly<Record<string, number>> | null;
  /** Factors set on the integration, by price key; `default` for the rest. */
  adjustments: Readonly<Record<string, number>> | null;
  batch: boolean;
  /** The provider tells with its usage what it charged. */
  reportsCost: boolean;
}

/** In US cents. Not known: something was used for which there is no price. */
export type Cost = { known: true; cents: number } | { known: false };

export const noCost: Cost = { known: true, cents: 0 };

export interface Pricer {
  cost(call: PricedCall): Cost;
  /** Whether there is any price of a model. */
  knows(provider: string, model: string): boolean;
  /** Whether a model is priced by this key. */
  counts(provider: string, model: string, key: string): boolean;
  /** The models that the price table knows of a provider. */
  models(provider: string): readonly string[];
}

/** What providers take for a batched call where no price is set for it. */
export const batchFactor = 0.5;

export function createPricer(table: PriceTable = createPriceTable()): Pricer {
  return {
    cost(call) {
      const told = chargedByProvider(call);
      if (told !== null) return { known: true, cents: told };
      const bill = billOf(call, table.find(call.provider, call.model)?.prices ?? null);
      if (!bill) return { known: false };
      return { known: true, cents: call.batch ? bill.cents * batchFactor : bill.cents };
    },
    knows: (provider, model) => table.find(provider, model) !== null,
    counts: (provider, model, key) => table.find(provider, model)?.prices.has(key) ?? false,
    models: (provider) => table.models(provider),
  };
}

/** What the provider says that it charged counts before any price list, unless an administrator set prices. */
function chargedByProvider({ usage, prices, adjustments, reportsCost }: PricedCall): number | null {
  if (!reportsCost || prices || usage.reportedCents === null) return null;
  return Math.max(0, usage.reportedCents) * (adjustments?.default ?? 1);
}

/** Units that are parts of the tokens, and billed with them. */
const partsOfTokens = new Set(['cache_write_1h', 'request_image_token', 'response_image_token']);

/**
 * Every part of the call at its own price. Figures come from the provider: none below zero may lower the bill.
 * Null where something has no price. Tokens of a model in the price list that have none are free, and an administrator's list is taken as whole.
 */
function billOf(call: PricedCall, sheet: PriceSheet | null): { cents: number } | null {
  const { usage } = call;
  const { units } = usage;
  let cents = 0;
  let known = true;
  const charge = (key: string, count: number, freeIfUnlisted: boolean): void => {
    if (count <= 0) return;
    const each = priceOf(key, call, sheet);
    if (each !== null) cents += count * each;
    else if (!freeIfUnlisted) known = false;
  };
  const listed = sheet !== null || call.prices !== null;

  const input = atLeastNone(usage.inputTokens);
  const read = atLeastNone(usage.cacheReadTokens);
  const written = atLeastNone(usage.cacheWriteTokens);
  const writtenForHour = Math.min(written, atLeastNone(units.cache_write_1h));
  const audio = atLeastNone(usage.inputAudioTokens);
  const image = atLeastNone(units.request_image_token);
  // Providers do not say how much of the audio came from the cache; what would not fit into the input otherwise did.
  const readAudio = Math.min(read, audio, atLeastNone(read + written + audio + image - input));
  charge('request_token', input - read - written - audio - image + readAudio, listed);
  charge('cache_read_input_token', read - readAudio, listed);
  charge('cache_read_audio_input_token', readAudio, listed);
  charge('cache_write_input_token', written - writtenForHour, listed);
  charge('cache_write_1h', writtenForHour, listed);
  charge('request_audio_token', audio - readAudio, listed);
  charge('request_image_token', image, listed);

  const output = atLeastNone(usage.outputTokens);
  const reasoning = atLeastNone(usage.reasoningTokens);
  const outputAudio = atLeastNone(usage.outputAudioTokens);
  const outputImage = atLeastNone(units.response_image_token);
  charge('response_token', output - reasoning - outputAudio - outputImage, listed);
  charge('reasoning_token', reasoning, listed);
  charge('response_audio_token', outputAudio, listed);
  charge('response_image_token', outputImage, listed);

  let used = input + output > 0;
  for (const unit in units) {
    const count = atLeastNone(units[unit]);
    used ||= count > 0;
    if (!partsOfTokens.has(unit)) charge(unit, count, call.prices !== null);
  }
  if (used) charge(perCall, 1, true);
  return known ? { cents } : null;
}

const atLeastNone = (count: number | undefined): number => (count !== undefined && count > 0 ? count : 0);

/** The price that an administrator set, or the catalogue's; null where there is none; of the wider key where the narrow one has none. Its factor is looked for on the same way. */
function priceOf(key: string, { prices, adjustments, usage }: PricedCall, sheet: PriceSheet | null): number | null {
  let factor: number | undefined;
  for (let at: string | undefined = key; at !== undefined; at = widerKey(at)) {
    factor ??= adjustments?.[at];
    const rate = sheet?.get(at);
    const cents = prices?.[at] ?? (rate && centsAt(rate, usage.inputTokens));
    if (cents !== undefined) return cents * (factor ?? adjustments?.default ?? 1);
  }
  return null;
}
