/** Where the price data is stale or silent: prices that the providers publish, each with the day from which it counts. */
import type { DatedPrices } from './dated-prices.ts';
import { bareName } from './model-match.ts';
import { priceProviderIds } from './provider-ids.ts';

interface Correction {
  /** As the price data names it, so that all who sell under the same prices have it. */
  priceProvider: string;
  model: RegExp;
  prices: readonly DatedPrices[];
}

/** Dollars per million, as price lists tell them. */
const perMillion = (dollars: Readonly<Record<string, number>>, from?: string): DatedPrices =>
  dated(dollars, 100 / 1e6, from);

/** Dollars per thousand. */
const perThousand = (dollars: Readonly<Record<string, number>>, from?: string): DatedPrices =>
  dated(dollars, 100 / 1e3, from);

const dated = (dollars: Readonly<Record<string, number>>, factor: number, from?: string): DatedPrices => ({
  from: from === undefined ? 0 : Date.parse(from),
  cents: Object.fromEntries(Object.entries(dollars).map(([key, amount]) => [key, amount * factor])),
});

const corrections: readonly Correction[] = [
  {
    // One price by day and night since September 2025; both names mean V4 Flash since it came out.
    priceProvider: 'deepseek',
    model: /^deepseek-(chat|reasoner)$/,
    prices: [
      perMillion({ request_token: 0.56, cache_read_input_token: 0.07, response_token: 1.68 }, '2025-09-05T16:00:00Z'),
      perMillion({ request_token: 0.28, cache_read_input_token: 0.028, response_token: 0.42 }, '2025-09-29'),
      perMillion({ request_token: 0.14, cache_read_input_token: 0.0028, response_token: 0.28 }, '2026-04-24'),
    ],
  },
  {
    // Large 3.
    priceProvider: 'mistral',
    model: /^mistral-large-latest$/,
    prices: [perMillion({ request_token: 0.5, cache_read_input_token: 0.05, response_token: 1.5 }, '2025-12-02')],
  },
  {
    priceProvider: 'openai',
    model: /^gpt-4o-audio-preview/,
    prices: [perMillion({ request_audio_token: 40, response_audio_token: 80 })],
  },
  {
    priceProvider: 'openai',
    model: /^gpt-4o-mini-audio-preview/,
    prices: [perMillion({ request_audio_token: 10, response_audio_token: 20 })],
  },
  // Models that search by themselves, once a call.
  { priceProvider: 'openai', model: /^gpt-4o(-mini)?-search-preview/, prices: [perThousand({ request: 25 })] },
  { priceProvider: 'openai', model: /^gpt-5-search-api/, prices: [perThousand({ request: 10 })] },
  { priceProvider: 'openai', model: /^tts-1(-1106)?$/, prices: [perMillion({ characters: 15 })] },
  { priceProvider: 'openai', model: /^tts-1-hd/, prices: [perMillion({ characters: 30 })] },
  { priceProvider: 'groq', model: /^playai-tts/, prices: [perMillion({ characters: 50 })] },
  { priceProvider: 'minimax', model: /^speech-[\d.]+-hd$/, prices: [perMillion({ characters: 100 })] },
  { priceProvider: 'minimax', model: /^speech-[\d.]+-turbo$/, prices: [perMillion({ characters: 60 })] },
  { priceProvider: 'aws-polly', model: /^standard$/, prices: [perMillion({ characters: 4 })] },
  { priceProvider: 'aws-polly', model: /^neural$/, prices: [perMillion({ characters: 16 })] },
  { priceProvider: 'aws-polly', model: /^generative$/, prices: [perMillion({ characters: 30 })] },
  { priceProvider: 'aws-polly', model: /^long-form$/, prices: [perMillion({ characters: 100 })] },
  // Grounding: by the prompt, and by the query since the third generation.
  { priceProvider: 'google', model: /^gemini-2/, prices: [perThousand({ web_search: 35 })] },
  { priceProvider: 'google', model: /^gemini-3/, prices: [perThousand({ web_search: 14 })] },
];

/** Tools that a provider runs itself cost the same with each of its models; the price data tells it of some only. */
const toolPrices: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  openai: { web_search: 1, file_search: 0.25, code_interpreter_session: 3 },
  anthropic: { web_search: 1 },
};

const priceProviderOf = (provider: string): string => priceProviderIds.get(provider) ?? provider;

export function correctionsOf(provider: string, model: string): readonly DatedPrices[] {
  const seller = priceProviderOf(provider);
  const name = bareName(model);
  return corrections.flatMap((one) => (one.priceProvider === seller && one.model.test(name) ? one.prices : []));
}

export const toolPricesOf = (provider: string): Readonly<Record<string, number>> =>
  toolPrices[priceProviderOf(provider)] ?? {};
