/** The longest answers of models, by the names that providers give them. */
import { expect, test } from 'bun:test';
import { longestAnswer } from './longest-answer.ts';

test.each([
  ['gpt-4o-mini-2024-07-18', 16_384],
  ['gpt-4o-2024-05-13', 4_096],
  ['openai/gpt-5-mini', 128_000],
  ['gpt-5-chat-latest', 16_384],
  ['gpt-4-0613', 8_192],
  ['gpt-4-1106-preview', 4_096],
  ['o3-mini', 100_000],
  ['us.anthropic.claude-opus-4-20250514-v1:0', 32_000],
  ['claude-opus-4-1-20250805', 32_000],
  ['claude-3-5-sonnet@20240620', 8_192],
  ['gemini-2.5-flash', 65_536],
])('%s answers with at most %i tokens, which may be set', (model, tokens) => {
  const longest = longestAnswer(model);
  expect(longest.tokens).toBe(tokens);
  expect(longest.settable(0)).toBe(tokens);
});

test('a model that is not listed is sent a limit that it surely takes, or as much as it was seen to produce', () => {
  const { tokens, settable } = longestAnswer('our-own-model');
  expect(tokens).toBe(32_768);
  expect(settable(100)).toBe(4_096);
  expect(settable(9_000)).toBe(9_000);
});
