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
}

export interface Pricer {
  /** In US cents; 0 where no price is known. */
  cost(call: PricedCall): number;
  /** The models that the price table knows of a provider. */
  models(provider: string): readonly string[];
}

/** What providers take for a batched call where no price is set for it. */
export const batchFactor = 0.5;

export function createPricer(table: PriceTable = createPriceTable()): Pricer {
  return {
    cost(call) {
      const sheet = table.find(call.provider, call.model)?.prices ?? null;
      if (!sheet && !call.prices) return 0;
      const cents = bill(call, sheet);
      return call.batch ? cents * batchFactor : cents;
    },
    models: (provider) => table.models(provider),
  };
}

/** Units that are parts of the tokens, and billed with them. */
const partsOfTokens = new Set(['cache_write_1h', 'request_image_token', 'response_image_token']);

/** Every part of the call at its own price. Figures come from the provider: none below zero may lower the bill. */
function bill(call: PricedCall, sheet: PriceSheet | null): number {
  const { usage } = call;
  const { units } = usage;
  let cents = 0;
  const charge = (key: string, count: number): void => {
    if (count > 0) cents += count * priceOf(key, call, sheet);
  };

  const input = atLeastNone(usage.inputTokens);
  const read = atLeastNone(usage.cacheReadTokens);
  const written = atLeastNone(usage.cacheWriteTokens);
  const writtenForHour = Math.min(written, atLeastNone(units.cache_write_1h));
  const audio = atLeastNone(usage.inputAudioTokens);
  const image = atLeastNone(units.request_image_token);
  // Providers do not say how much of the audio came from the cache; what would not fit into the input otherwise did.
  const readAudio = Math.min(read, audio, atLeastNone(read + written + audio + image - input));
  charge('request_token', input - read - written - audio - image + readAudio);
  charge('cache_read_input_token', read - readAudio);
  charge('cache_read_audio_input_token', readAudio);
  charge('cache_write_input_token', written - writtenForHour);
  charge('cache_write_1h', writtenForHour);
  charge('request_audio_token', audio - readAudio);
  charge('request_image_token', image);

  const output = atLeastNone(usage.outputTokens);
  const reasoning = atLeastNone(usage.reasoningTokens);
  const outputAudio = atLeastNone(usage.outputAudioTokens);
  const outputImage = atLeastNone(units.response_image_token);
  charge('response_token', output - reasoning - outputAudio - outputImage);
  charge('reasoning_token', reasoning);
  charge('response_audio_token', outputAudio);
  charge('response_image_token', outputImage);

  let used = input + output > 0;
  for (const unit in units) {
    const count = atLeastNone(units[unit]);
    used ||= count > 0;
    if (!partsOfTokens.has(unit)) charge(unit, count);
  }
  if (used) charge(perCall, 1);
  return cents;
}

const atLeastNone = (count: number | undefined): number => (count !== undefined && count > 0 ? count : 0);

/** The price that an administrator set, or the catalogue's; of the wider key where the narrow one has none. Its factor is looked for on the same way. */
function priceOf(key: string, { prices, adjustments, usage }: PricedCall, sheet: PriceSheet | null): number {
  let factor: number | undefined;
  for (let at: string | undefined = key; at !== undefined; at = widerKey(at)) {
    factor ??= adjustments?.[at];
    const rate = sheet?.get(at);
    const cents = prices?.[at] ?? (rate && centsAt(rate, usage.inputTokens));
    if (cents !== undefined) return cents * (factor ?? adjustments?.default ?? 1);
  }
  return 0;
}
