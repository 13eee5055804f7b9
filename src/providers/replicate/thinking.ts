/** How a model on Replicate is told to think: Claude and Gemini in their vendors' words, the rest by an effort. */
import { wantedBudget } from '../anthropic/thinking.ts';
import type { Conversation, Reasoning } from '../chat/conversation.ts';
import { thinkingConfig } from '../google/thinking.ts';
import { present, textOf } from '../json.ts';
import { effortOf } from '../openai/reasoning.ts';
import type { JsonObject } from '../provider.ts';

export function thinkingOf(conversation: Conversation): JsonObject {
  const { reasoning, model } = conversation;
  if (!reasoning) return {};
  if (model.startsWith('anthropic/')) return claudeThinking(reasoning);
  if (model.startsWith('google/gemini')) return geminiThinking(conversation);
  return present({ reasoning_effort: effortOf(reasoning, model) });
}

const claudeThinking = (reasoning: Reasoning): JsonObject =>
  reasoning.mode === 'off'
    ? { extended_thinking: false }
    : { extended_thinking: true, thinking_budget_tokens: wantedBudget(reasoning) };

/** For Gemini itself, a budget that it chooses as it goes. */
const dynamic = -1;

function geminiThinking(conversation: Conversation): JsonObject {
  const { thinkingBudget, thinkingLevel } = thinkingConfig(conversation, true) ?? {};
  if (thinkingBudget === dynamic) return { dynamic_thinking: true };
  return present({ thinking_budget: thinkingBudget, thinking_level: textOf(thinkingLevel)?.toLowerCase() });
}
