/** The names of prices, and which price counts where a part of a call has none of its own. */

/** Prices of tokens. Every other key is the name of a unit: `web_search`, `audio_seconds`, ... */
export const tokenPriceKeys = [
  'request_token',
  'response_token',
  'cache_read_input_token',
  'cache_write_input_token',
  'request_audio_token',
  'response_audio_token',
  'cache_read_audio_input_token',
  'request_text_token',
  'response_text_token',
  'cache_read_text_input_token',
  'cache_write_text_input_token',
  'request_image_token',
  'response_image_token',
  'cache_read_image_input_token',
  'cache_write_image_input_token',
  'reasoning_token',
  'prediction_accepted_token',
  'prediction_rejected_token',
] as const;
export type TokenPriceKey = (typeof tokenPriceKeys)[number];

/** What a call costs by itself, whatever it uses. */
export const perCall = 'request';

/** Where a key has no price, the one that it stands for here counts. */
const wider: Readonly<Record<string, string>> = {
  cache_read_input_token: 'request_token',
  cache_write_input_token: 'request_token',
  cache_write_1h: 'cache_write_input_token',
  request_audio_token: 'request_token',
  cache_read_audio_input_token: 'cache_read_input_token',
  request_image_token: 'request_token',
  response_audio_token: 'response_token',
  response_image_token: 'response_token',
  reasoning_token: 'response_token',
  web_search_low_context: 'web_search',
  web_search_medium_context: 'web_search',
  web_search_high_context: 'web_search',
  generated_images: 'image',
};

export const widerKey = (key: string): string | undefined => wider[key];
