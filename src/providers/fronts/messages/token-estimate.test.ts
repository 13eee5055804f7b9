import { expect, test } from 'bun:test';
import { estimatedTokens } from './token-estimate.ts';

const ask = (content: unknown, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more });

test('words are about tokens, over all that is sent', () => {
  const words = 'word '.repeat(1_000);
  const plain = estimatedTokens(ask(words));
  expect(plain).toBeGreaterThan(1_000);
  expect(plain).toBeLessThan(1_020);
  expect(estimatedTokens(ask(words, { system: words }))).toBeGreaterThan(2 * 1_000);
  expect(estimatedTokens(ask(words, { tools: [{ name: 't', description: words, input_schema: {} }] }))).toBeGreaterThan(
    2_000,
  );
});

test('an image counts as an image, not by its bytes', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(1_000_000) } };
  expect(estimatedTokens(ask([image]))).toBeLessThan(2_000);
});

test('what is not sent to the model does not count, and nothing counts as none', () => {
  expect(estimatedTokens(ask('Hi', { metadata: { user_id: 'x'.repeat(4_000) } }))).toBe(estimatedTokens(ask('Hi')));
  expect(estimatedTokens({})).toBe(1);
});
