/** What calls cost, against figures worked out by hand from the providers' price lists. */
import { describe, expect, test } from 'bun:test';
import { noUsage } from '../providers/usage.ts';
import { createPriceTable } from './price-table.ts';
import { createPricer, type PricedCall } from './pricer.ts';

const pricer = createPricer(createPriceTable({ now: () => new Date('2026-06-15T12:00:00Z') }));

const priced = (provider: string, model: string, usage: Partial<PricedCall['usage']>, more: Partial<PricedCall> = {}) =>
  pricer.cost({
    provider,
    model,
    usage: { ...noUsage, ...usage },
    prices: null,
    adjustments: null,
    batch: false,
    reportsCost: false,
    ...more,
  });

const cost = (...call: Parameters<typeof priced>): number => {
  const worked = priced(...call);
  if (!worked.known) throw new Error('the price is not known');
  return worked.cents;
};

describe('OpenAI', () => {
  test('cached input costs less than the rest of the input', () => {
    // gpt-4o: $2.50 input, $1.25 cached, $10 output a million. 6,000 × 2.50 + 4,000 × 1.25 + 1,000 × 10 = 30,000 µ$.
    const cents = cost('openai', 'gpt-4o', { inputTokens: 10_000, cacheReadTokens: 4_000, outputTokens: 1_000 });
    expect(cents).toBeCloseTo(3, 10);
  });

  test('a dated name has the price of its model', () => {
    const usage = { inputTokens: 1_000, outputTokens: 1_000 };
    expect(cost('openai', 'gpt-4o-2024-11-20', usage)).toBeCloseTo(cost('openai', 'gpt-4o', usage), 12);
    expect(cost('openai', 'gpt-4o-2031-01-31', usage)).toBeCloseTo(cost('openai', 'gpt-4o', usage), 12);
  });

  test('reasoning is part of the output and costs the same where it has no price of its own', () => {
    // o3: $2 input, $8 output. 1,000 × 2 + 5,000 × 8 = 42,000 µ$, of whatever kind the output is.
    const usage = { inputTokens: 1_000, outputTokens: 5_000 };
    expect(cost('openai', 'o3', usage)).toBeCloseTo(4.2, 10);
    expect(cost('openai', 'o3', { ...usage, reasoningTokens: 4_000 })).toBeCloseTo(4.2, 10);
  });

  test('audio has its own price in both directions', () => {
    // gpt-realtime: text $4 and $16, audio $32 and $64. 200 × 4 + 800 × 32 + 100 × 16 + 400 × 64 = 53,600 µ$.
    const usage = { inputTokens: 1_000, inputAudioTokens: 800, outputTokens: 500, outputAudioTokens: 400 };
    expect(cost('openai', 'gpt-realtime', usage)).toBeCloseTo(5.36, 10);
  });

  test('audio that must have come from the cache costs what cached audio does', () => {
    // 800 audio and 400 cached tokens in an input of 1,000: 200 are both. 200 × 0.40 text + 200 × 0.40 audio + 600 × 32 = 19,360 µ$.
    const usage = { inputTokens: 1_000, inputAudioTokens: 800, cacheReadTokens: 400 };
    expect(cost('openai', 'gpt-realtime', usage)).toBeCloseTo(1.936, 10);
  });

  test('searches are billed beside the tokens', () => {
    // gpt-4o: $10 a thousand web searches, $2.50 a thousand file searches. 3 × 1 ¢ + 2 × 0.25 ¢.
    expect(cost('openai', 'gpt-4o', { units: { web_search: 3, file_search: 2 } })).toBeCloseTo(3.5, 10);
    expect(cost('openai', 'gpt-4o', { units: { web_search_high_context: 3 } })).toBeCloseTo(3, 10);
  });

  test('image tokens are a part of the input with their own price', () => {
    // gpt-image-1: $5 text input, $10 image input, $40 output. 100 × 5 + 900 × 10 + 1,000 × 40 = 49,500 µ$.
    const usage = { inputTokens: 1_000, outputTokens: 1_000, units: { request_image_token: 900 } };
    expect(cost('openai', 'gpt-image-1', usage)).toBeCloseTo(4.95, 10);
  });

  test('a transcription is billed by its length', () => {
    // whisper-1: $0.36 an hour, so 100 seconds are one cent.
    expect(cost('openai', 'whisper-1', { units: { audio_seconds: 100 } })).toBeCloseTo(1, 10);
  });
});

describe('Anthropic', () => {
  // claude-sonnet-4-0: $3 input, $15 output, cache: $0.30 read, $3.75 written for 5 minutes, $6 for an hour.
  test('prompt cache reads and writes are priced apart, by how long they are kept', () => {
    // 1,000 × 3 + 10,000 × 0.30 + 1,500 × 3.75 + 500 × 6 + 200 × 15 = 17,625 µ$.
    const cents = cost('anthropic', 'claude-sonnet-4-20250514', {
      inputTokens: 13_000,
      cacheReadTokens: 10_000,
      cacheWriteTokens: 2_000,
      outputTokens: 200,
      units: { cache_write_1h: 500 },
    });
    expect(cents).toBeCloseTo(1.7625, 10);
  });

  test('web searches cost a cent each', () => {
    expect(cost('anthropic', 'claude-sonnet-4-0', { units: { web_search: 2 } })).toBeCloseTo(2, 10);
  });

  test('the same model through a cloud is found by the names it has there', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    const arn = 'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-4-20250514-v1:0';
    expect(cost('bedrock', 'anthropic.claude-sonnet-4-20250514-v1:0', usage)).toBeCloseTo(300, 8);
    expect(cost('bedrock', arn, usage)).toBeCloseTo(300, 8);
    expect(cost('vertex-ai', 'claude-sonnet-4@20250514', usage)).toBeCloseTo(300, 8);
    expect(cost('vertex-ai', 'anthropic.claude-sonnet-4@20250514', usage)).toBeCloseTo(300, 8);
  });

  test('a prompt above 200,000 tokens is dearer as a whole', () => {
    // claude-sonnet-4-5: $3 input and $15 output, above 200,000 tokens $6 and $22.50.
    const long = { inputTokens: 200_001, cacheReadTokens: 100_001, outputTokens: 1_000 };
    expect(cost('anthropic', 'claude-sonnet-4-5', { inputTokens: 200_000, outputTokens: 1_000 })).toBeCloseTo(61.5, 8);
    // 100,000 × 6 + 100,001 × 0.60 + 1,000 × 22.50 = 682,500.6 µ$.
    expect(cost('anthropic', 'claude-sonnet-4-5', long)).toBeCloseTo(68.25006, 8);
  });
});

test('reasoning with a price of its own is billed at it, and a price of the call itself once', () => {
  // sonar-deep-research: $2 input, $8 output, $3 reasoning. 100 × 2 + 500 × 8 + 1,500 × 3 = 8,700 µ$.
  const usage = { inputTokens: 100, outputTokens: 2_000, reasoningTokens: 1_500 };
  expect(cost('perplexity-ai', 'sonar-deep-research', usage)).toBeCloseTo(0.87, 10);
  // sonar: $1 a million tokens, and $12 a thousand calls.
  expect(cost('perplexity-ai', 'sonar', { inputTokens: 100 })).toBeCloseTo(0.01 + 1.2, 10);
  expect(cost('perplexity-ai', 'sonar', {})).toBe(0);
});

test('what has no known price is not known to cost nothing', () => {
  const usage = { inputTokens: 1_000, outputTokens: 1_000, units: { web_search: 1 } };
  const unknown = { known: false } as const;
  expect(priced('openai', 'no-such-model', usage)).toEqual(unknown);
  expect(priced('no-such-provider', 'gpt-4o', usage)).toEqual(unknown);
  expect(priced('openai', '', usage)).toEqual(unknown);
  expect(priced('openai', 'gpt-4o'.repeat(1_000), usage)).toEqual(unknown);
  expect(priced('openai', 'gpt-4o', { units: { unheard_of: 5 } })).toEqual(unknown);
  // A search has a price with every Gemini; this one has none for its tokens.
  expect(priced('google', 'gemini-2.99-unheard-of', usage)).toEqual(unknown);
});

test('where nothing was used, nothing is charged, and that is known', () => {
  expect(priced('openai', 'no-such-model', {})).toEqual({ known: true, cents: 0 });
});

test('a provider cannot lower a bill with figures below zero or parts larger than the whole', () => {
  expect(cost('openai', 'gpt-4o', { inputTokens: -1_000, outputTokens: -5, units: { web_search: -9 } })).toBe(0);
  const contradictory = cost('openai', 'gpt-4o', { inputTokens: 10, cacheReadTokens: 1_000 });
  expect(contradictory).toBeGreaterThanOrEqual(cost('openai', 'gpt-4o', { inputTokens: 10, cacheReadTokens: 10 }));
});

describe('prices of an administrator', () => {
  test('replace those of the catalogue key by key', () => {
    const usage = { inputTokens: 10_000, cacheReadTokens: 4_000, outputTokens: 1_000 };
    // 6,000 × 0.001 ¢ set here + 4,000 × 0.000125 ¢ and 1,000 × 0.001 ¢ of the catalogue.
    expect(cost('openai', 'gpt-4o', usage, { prices: { request_token: 0.001 } })).toBeCloseTo(7.5, 10);
    expect(cost('openai', 'gpt-4o', usage, { prices: { request_token: 0, response_token: 0 } })).toBeCloseTo(0.5, 10);
  });

  test('make an unknown model cost something; parts without a price cost what the whole does', () => {
    const prices = { request_token: 0.001, response_token: 0.002, web_search: 5 };
    const usage = { inputTokens: 1_000, cacheReadTokens: 400, outputTokens: 100, reasoningTokens: 50 };
    expect(cost('openai', 'ours', { ...usage, units: { web_search: 1 } }, { prices })).toBeCloseTo(1 + 0.2 + 5, 10);
  });

  test('are the same for prompts of every size', () => {
    const prices = { request_token: 0.001 };
    expect(cost('anthropic', 'claude-sonnet-4-5', { inputTokens: 300_000 }, { prices })).toBeCloseTo(300, 8);
  });

  test('price images, which the catalogue does not', () => {
    expect(cost('openai', 'dall-e-3', { units: { generated_images: 2 } }, { prices: { image: 4 } })).toBeCloseTo(8, 10);
  });
});

describe('adjustments', () => {
  const usage = { inputTokens: 10_000, cacheReadTokens: 4_000, outputTokens: 1_000 };
  // gpt-4o: 1.5 ¢ input, 0.5 ¢ cached, 1 ¢ output.
  const adjusted = (adjustments: Record<string, number>) => cost('openai', 'gpt-4o', usage, { adjustments });

  test('multiply the price of their key, else by the default, else not at all', () => {
    expect(adjusted({ default: 0.8 })).toBeCloseTo(2.4, 10);
    expect(adjusted({ response_token: 1.2 })).toBeCloseTo(3.2, 10);
    expect(adjusted({ default: 0.5, response_token: 2, cache_read_input_token: 0 })).toBeCloseTo(0.75 + 0 + 2, 10);
  });

  test('of a price reach the parts that it stands in for, unless they have one of their own', () => {
    const reasoning = { inputTokens: 0, outputTokens: 1_000, reasoningTokens: 400 };
    const price = (adjustments: Record<string, number>) => cost('openai', 'gpt-4o', reasoning, { adjustments });
    expect(price({ response_token: 0.5 })).toBeCloseTo(0.5, 10);
    expect(price({ response_token: 0.5, reasoning_token: 0 })).toBeCloseTo(0.3, 10);
  });

  test('also apply to units and to the prices of an administrator', () => {
    const prices = { request_token: 0.001 };
    const call = { prices, adjustments: { default: 0.9, web_search: 0.5 } };
    expect(cost('openai', 'ours', { inputTokens: 1_000 }, call)).toBeCloseTo(0.9, 10);
    expect(cost('openai', 'gpt-4o', { units: { web_search: 1, file_search: 1 } }, call)).toBeCloseTo(0.5 + 0.225, 10);
  });
});

test('a batched call costs half', () => {
  const usage = { inputTokens: 10_000, outputTokens: 1_000 };
  expect(cost('openai', 'gpt-4o', usage, { batch: true })).toBeCloseTo(1.75, 10);
});

describe('what a provider says that it charged', () => {
  const usage = { inputTokens: 1_000, outputTokens: 1_000, reportedCents: 7 };

  test('counts before any price list, where the provider is known to say it', () => {
    expect(cost('openrouter', 'openai/gpt-4o', usage, { reportsCost: true })).toBe(7);
    expect(cost('openrouter', 'no-such/model', usage, { reportsCost: true })).toBe(7);
    // gpt-4o: 0.25 ¢ input and 1 ¢ output.
    expect(cost('openai', 'gpt-4o', usage)).toBeCloseTo(1.25, 10);
  });

  test('is multiplied by the default adjustment, and gives way to prices of an administrator', () => {
    const reportsCost = true;
    expect(cost('openrouter', 'a/b', usage, { reportsCost, adjustments: { default: 2 } })).toBe(14);
    expect(cost('openrouter', 'a/b', usage, { reportsCost, prices: { request_token: 0.001 } })).toBeCloseTo(1, 10);
  });
});

describe('what the price data leaves out', () => {
  test('audio of models that chat by voice', () => {
    // gpt-4o-audio-preview: text $2.50 and $10, audio $40 and $80. 200 × 2.5 + 800 × 40 + 100 × 10 + 400 × 80 = 65,500 µ$.
    const usage = { inputTokens: 1_000, inputAudioTokens: 800, outputTokens: 500, outputAudioTokens: 400 };
    expect(cost('openai', 'gpt-4o-audio-preview-2024-12-17', usage)).toBeCloseTo(6.55, 10);
  });

  test('speech by the character', () => {
    // $15 a million characters.
    expect(cost('openai', 'tts-1', { units: { characters: 10_000 } })).toBeCloseTo(15, 10);
    expect(cost('azure-openai', 'tts-1-hd', { units: { characters: 10_000 } })).toBeCloseTo(30, 10);
    expect(cost('aws-polly', 'neural', { units: { characters: 10_000 } })).toBeCloseTo(16, 10);
  });

  test('tools that the provider runs: searches, containers, models that search by themselves', () => {
    expect(cost('openai', 'o3-deep-research', { units: { web_search: 10 } })).toBeCloseTo(10, 10);
    expect(cost('openai', 'gpt-4.1', { units: { code_interpreter_session: 2 } })).toBeCloseTo(6, 10);
    expect(cost('openai', 'gpt-4o-search-preview', { inputTokens: 1_000 })).toBeCloseTo(0.25 + 2.5, 10);
    expect(cost('vertex-ai', 'google.gemini-2.5-flash', { units: { web_search: 1 } })).toBeCloseTo(3.5, 10);
    expect(cost('google', 'gemini-3-flash-preview', { units: { web_search: 2 } })).toBeCloseTo(2.8, 10);
  });
});
