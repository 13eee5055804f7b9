import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { refusalOf } from '../../../test/providers/gemini-rules.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import type { JsonObject } from '../provider.ts';
import { thinkingConfig } from './thinking.ts';

const configOf = (model: string, body: JsonObject, strict = true) => {
  const conversation = chatFront.read(
    callFacts({ model, body: { messages: [{ role: 'user', content: 'Hi' }], ...body } }),
  );
  const config = thinkingConfig(conversation, strict);
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  expect(refusalOf(model, { contents, ...(config && { generationConfig: { thinkingConfig: config } }) })).toBeNull();
  return config;
};

describe('an effort', () => {
  test.each([
    ['gemini-2.5-flash', { none: 0, minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576 }],
    ['gemini-2.5-flash-lite', { none: 0, low: 1_024, high: 24_576 }],
    ['gemini-2.5-pro', { none: 128, low: 1_024, high: 24_576, xhigh: 32_768 }],
    ['gemini-flash-latest', { none: 0, low: 1_024 }],
  ])('is a budget for %s', (model, budgets) => {
    for (const [reasoning_effort, thinkingBudget] of Object.entries(budgets)) {
      expect(configOf(model, { reasoning_effort })).toEqual({ thinkingBudget });
    }
  });

  test.each([
    ['gemini-3-pro-preview', { none: 'LOW', minimal: 'LOW', low: 'LOW', medium: 'HIGH', high: 'HIGH' }],
    ['gemini-3.1-pro-preview', { none: 'LOW', low: 'LOW', medium: 'MEDIUM', high: 'HIGH' }],
    [
      'gemini-3-flash-preview',
      { none: 'MINIMAL', minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM', high: 'HIGH', max: 'HIGH' },
    ],
  ])('is a level for %s', (model, levels) => {
    for (const [reasoning_effort, thinkingLevel] of Object.entries(levels)) {
      expect(configOf(model, { reasoning_effort })).toEqual({ thinkingLevel });
    }
  });

  test('is refused for a model that does not think, unless it is none', () => {
    expect(() => configOf('gemini-2.0-flash', { reasoning_effort: 'low' })).toThrow('does not think');
    expect(configOf('gemini-2.0-flash', { reasoning_effort: 'none' })).toBeNull();
  });

  test('shows thoughts only where answers need not be strict', () => {
    expect(configOf('gemini-2.5-flash', { reasoning_effort: 'low' }, false)).toEqual({
      thinkingBudget: 1_024,
      includeThoughts: true,
    });
  });
});

describe('a budget', () => {
  const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });

  test('is kept within what the model accepts, never beside a level, and shows thoughts', () => {
    expect(configOf('gemini-2.5-flash', enabled(2_000))).toEqual({ thinkingBudget: 2_000, includeThoughts: true });
    expect(configOf('gemini-2.5-flash', enabled(99_999))).toMatchObject({ thinkingBudget: 24_576 });
    expect(configOf('gemini-2.5-flash-lite', enabled(100))).toMatchObject({ thinkingBudget: 512 });
    expect(configOf('gemini-2.5-pro', enabled(0))).toMatchObject({ thinkingBudget: 128 });
    expect(configOf('gemini-3-pro-preview', enabled(2_000))).toEqual({ thinkingBudget: 2_000, includeThoughts: true });
  });

  test('wins over an effort, and may be left to the model', () => {
    expect(configOf('gemini-2.5-pro', { ...enabled(500), reasoning_effort: 'high' })).toMatchObject({
      thinkingBudget: 500,
    });
    expect(configOf('gemini-2.5-flash', { thinking: { type: 'adaptive' } })).toEqual({
      thinkingBudget: -1,
      includeThoughts: true,
    });
    expect(configOf('gemini-3-flash', { thinking: { type: 'adaptive' } })).toEqual({ includeThoughts: true });
  });

  test('that is switched off is the least that the model has', () => {
    expect(configOf('gemini-2.5-flash', { thinking: { type: 'disabled' } })).toEqual({ thinkingBudget: 0 });
    expect(configOf('gemini-3-pro-preview', { thinking: { type: 'disabled' } })).toEqual({ thinkingLevel: 'LOW' });
  });
});

test('nothing is said of thinking where the client says nothing', () => {
  expect(configOf('gemini-2.5-flash', {}, false)).toBeNull();
});
