/** The prices of one model, in US cents per token or unit, by price key. */
import type { ModelPrice } from '@pydantic/genai-prices';
import { perCall } from './price-keys.ts';

/** A price that may grow with the size of the prompt. */
export interface Rate {
  cents: number;
  /** The price once the prompt has more tokens than `above`; the largest that fits counts. In ascending order. */
  tiers: readonly { above: number; cents: number }[];
}

export type PriceSheet = ReadonlyMap<string, Rate>;

/** Our key for each price of the package, and how many of our units it is the price of. */
const keyOf: Readonly<Record<string, readonly [key: string, units: number]>> = {
  input_mtok: ['request_token', 1e6],
  output_mtok: ['response_token', 1e6],
  cache_read_mtok: ['cache_read_input_token', 1e6],
  cache_write_mtok: ['cache_write_input_token', 1e6],
  cache_write_1h_mtok: ['cache_write_1h', 1e6],
  input_audio_mtok: ['request_audio_token', 1e6],
  output_audio_mtok: ['response_audio_token', 1e6],
  cache_audio_read_mtok: ['cache_read_audio_input_token', 1e6],
  input_image_mtok: ['request_image_token', 1e6],
  output_image_mtok: ['response_image_token', 1e6],
  cache_image_read_mtok: ['cache_read_image_input_token', 1e6],
  output_reasoning_mtok: ['reasoning_token', 1e6],
  output_citation_mtok: ['citation_token', 1e6],
  input_video_mtok: ['input_video_token', 1e6],
  output_video_mtok: ['output_video_token', 1e6],
  web_searches_kcount: ['web_search', 1e3],
  storage_searches_kcount: ['file_search', 1e3],
  social_searches_kcount: ['x_search', 1e3],
  code_executions_kcount: ['code_execution', 1e3],
  rerank_searches_kcount: ['search', 1e3],
  input_audio_hours: ['audio_seconds', 3_600],
  audio_hours: ['audio_seconds', 3_600],
  input_document_kpages: ['pages', 1e3],
  input_annotated_document_kpages: ['annotated_pages', 1e3],
  input_text_messages_kcount: ['messages', 1e3],
  requests_kcount: [perCall, 1e3],
};

/** From the package's dollars per million tokens, thousand calls or hour. A price that we cannot count the units of is left out. */
export function sheetFrom(prices: ModelPrice): PriceSheet {
  const sheet = new Map<string, Rate>();
  for (const [name, price] of Object.entries(prices)) {
    const [key, units] = keyOf[name] ?? [];
    if (key === undefined || units === undefined || price === undefined) continue;
    const cents = (dollars: number): number => (dollars * 100) / units;
    sheet.set(
      key,
      typeof price === 'number'
        ? { cents: cents(price), tiers: [] }
        : {
            cents: cents(price.base),
            tiers: price.tiers
              .map((tier) => ({ above: tier.start, cents: cents(tier.price) }))
              .sort((one, other) => one.above - other.above),
          },
    );
  }
  return sheet;
}

export function centsAt(rate: Rate, promptTokens: number): number {
  let { cents } = rate;
  for (const tier of rate.tiers) if (promptTokens > tier.above) cents = tier.cents;
  return cents;
}
