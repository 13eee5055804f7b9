/** Usage, read from what providers report and from what our own chat answers say. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { chatUsage } from './fronts/chat/usage.ts';
import type { Usage } from './provider.ts';
import { laterUsage, noUsage, readUsage } from './usage.ts';

const count = fc.integer({ min: 0, max: 100_000 });
const units = fc
  .record({ web_search: count, cache_write_1h: count, request_image_token: count, response_image_token: count })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, number]) => number > 0)));
const usage: fc.Arbitrary<Usage> = fc.record({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
  inputAudioTokens: count,
  outputAudioTokens: count,
  units,
});

test('what a chat answer says is what was used, to the last unit', () => {
  fc.assert(
    fc.property(usage, (used) => {
      expect(readUsage(chatUsage(used))).toEqual(used);
    }),
  );
});

test('a message counts its prompt cache beside its input, and its thoughts within its output', () => {
  const raw = {
    input_tokens: 10,
    cache_read_input_tokens: 200,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
    output_tokens: 50,
    output_tokens_details: { thinking_tokens: 40 },
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
  };
  expect(readUsage(raw)).toEqual({
    ...noUsage,
    inputTokens: 240,
    outputTokens: 50,
    cacheReadTokens: 200,
    cacheWriteTokens: 30,
    reasoningTokens: 40,
    units: { web_search: 2, cache_write_1h: 10 },
  });
});

test('the end of a stream adds what its beginning could not know', () => {
  const begun = readUsage({ input_tokens: 10, cache_read_input_tokens: 200, output_tokens: 1 });
  const ended = readUsage({
    output_tokens: 9,
    server_tool_use: { web_search_requests: 1 },
    output_tokens_details: { thinking_tokens: 5 },
  });
  expect(laterUsage(begun, ended ?? noUsage)).toEqual({
    ...noUsage,
    inputTokens: 210,
    outputTokens: 9,
    cacheReadTokens: 200,
    reasoningTokens: 5,
    units: { web_search: 1 },
  });
});

test('cached input is found under the names that other providers give it', () => {
  expect(readUsage({ prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 })?.cacheReadTokens).toBe(4);
  expect(readUsage({ prompt_tokens: 9, completion_tokens: 1, cache_creation_input_tokens: 4 })?.cacheWriteTokens).toBe(
    4,
  );
});

test('images have their own count', () => {
  const raw = { input_tokens: 9, output_tokens: 5, input_tokens_details: { text_tokens: 1, image_tokens: 8 } };
  expect(readUsage(raw)?.units).toEqual({ request_image_token: 8 });
});
