/** Usage, read from what providers report and from what our own answers say: prices are made from it, so nothing that has one may get lost on the way. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { chatUsage } from './fronts/chat/usage.ts';
import { messagesUsage } from './fronts/messages/usage.ts';
import { responsesUsage } from './fronts/responses/usage.ts';
import type { Usage } from './provider.ts';
import { laterUsage, noUsage, readResponseUsage, readUsage } from './usage.ts';

const count = fc.nat(1_000);

/** Parts of the input and of the output never come to more than the whole. */
const used: fc.Arbitrary<Usage> = fc
  .record({
    plain: count,
    read: count,
    written: count,
    longLived: count,
    said: count,
    thought: count,
    told: fc.option(count),
    kinds: fc.array(count, { minLength: 5, maxLength: 5 }),
  })
  .map(
    ({
      plain,
      read,
      written,
      longLived,
      said,
      thought,
      told,
      kinds: [heard = 0, seen = 0, spoken = 0, drawn = 0, searched = 0],
    }) => {
      const counted = {
        cache_write_1h: Math.min(longLived, written),
        request_image_token: seen,
        response_image_token: drawn,
        web_search: searched,
      };
      return {
        ...noUsage,
        inputTokens: plain + read + written + heard + seen,
        outputTokens: said + thought + spoken + drawn,
        cacheReadTokens: read,
        cacheWriteTokens: written,
        reasoningTokens: thought,
        inputAudioTokens: heard,
        outputAudioTokens: spoken,
        units: Object.fromEntries(Object.entries(counted).filter(([, units]) => units > 0)),
        // Dollars on the wire: a count of quarters, so that nothing is rounded on the way.
        reportedCents: told === null ? null : told * 25,
      };
    },
  )
  .filter(({ inputTokens, outputTokens }) => inputTokens + outputTokens > 0);

describe.each([
  ['chat', chatUsage],
  ['messages', messagesUsage],
  ['responses', responsesUsage],
] as const)('usage in the words of %s', (_, written) => {
  test('is read back as it was', () => {
    fc.assert(
      fc.property(used, (usage) => expect(readUsage(written(usage))).toEqual(usage)),
      { numRuns: 300 },
    );
  });
});

test('figures below nothing count as nothing', () => {
  expect(readUsage({ prompt_tokens: -1, completion_tokens: -5, prompt_tokens_details: { cached_tokens: -2 } })).toEqual(
    noUsage,
  );
  expect(readUsage({ input_tokens: -1, output_tokens: 3 })).toEqual({ ...noUsage, outputTokens: 3 });
  expect(
    readUsage({ input_tokens: 4, output_tokens: 3, cache_read_input_tokens: -3, cache_creation_input_tokens: 0 }),
  ).toEqual({ ...noUsage, inputTokens: 4, outputTokens: 3 });
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

test('what Claude read and wrote to compact its context is paid for beside what the top tells', () => {
  const round = (type: string, input: number, output: number, read = 0) => ({
    type,
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: 0,
  });
  const raw = {
    input_tokens: 23_000,
    output_tokens: 1_000,
    cache_read_input_tokens: 500,
    cache_creation_input_tokens: 0,
    server_tool_use: { web_search_requests: 2 },
    iterations: [round('compaction', 180_000, 3_500), round('message', 23_000, 1_000, 500)],
  };
  const all = { inputTokens: 203_500, outputTokens: 4_500, cacheReadTokens: 500, units: { web_search: 2 } };
  expect(readUsage(raw)).toEqual({ ...noUsage, ...all });
  // The end of a stream tells the rounds; it may leave the prompt cache out.
  const ended = readUsage({ output_tokens: 1_000, iterations: raw.iterations });
  expect(laterUsage(readUsage({ ...raw, iterations: null, output_tokens: 1 }), ended ?? noUsage)).toEqual({
    ...noUsage,
    ...all,
  });
});

test('writes to a prompt cache are found in the words of OpenRouter too', () => {
  const raw = { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cache_write_tokens: 4 } };
  expect(readUsage(raw)?.cacheWriteTokens).toBe(4);
});

test.each([
  ['OpenRouter', { cost: 0.95 }, 95],
  [
    'OpenRouter with a key of the customer’s own',
    { cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 1 } },
    105,
  ],
  ['Perplexity', { cost: { input_tokens_cost: 0.01, request_cost: 0.005, total_cost: 0.015 } }, 1.5],
  ['xAI', { cost_in_usd_ticks: 200_000_000 }, 2],
  ['DeepInfra', { estimated_cost: 0.0000268 }, 0.00268],
  ['a provider that says nothing', {}, null],
  ['a provider that says nonsense', { cost: 'much' }, null],
])('what a call cost is read from the usage of %s', (_, told, cents) => {
  const usage = readUsage({ prompt_tokens: 9, completion_tokens: 1, ...told });
  if (cents === null) expect(usage?.reportedCents).toBeNull();
  else expect(usage?.reportedCents).toBeCloseTo(cents, 10);
});

test('tools that the provider ran for a response are counted from its output', () => {
  const usage = { input_tokens: 9, output_tokens: 5 };
  const output = [
    { type: 'web_search_call', action: { type: 'search', query: 'a' } },
    { type: 'web_search_call', action: { type: 'open_page', url: 'b' } },
    { type: 'file_search_call' },
    { type: 'code_interpreter_call', container_id: 'c1' },
    { type: 'code_interpreter_call', container_id: 'c1' },
    { type: 'message' },
  ];
  expect(readResponseUsage({ usage, output })?.units).toEqual({
    web_search: 1,
    file_search: 1,
    code_interpreter_session: 1,
  });
  expect(readResponseUsage({ usage })?.units).toEqual({});
});
