/** How hard a model should think, as the effort that servers of this dialect know. */
import type { Reasoning } from '../chat/conversation.ts';

/** Null where nothing is sent. An effort is the client's own word; a budget only suggests one, and models that do not reason refuse it. */
export function effortOf(reasoning: Reasoning, model: string): string | null {
  switch (reasoning.mode) {
    case 'off':
      return reasons(model) && !alwaysOn.test(model) ? 'none' : null;
    case 'effort':
      return known(reasoning.effort);
    case 'adaptive':
      return reasoning.effort === null ? null : known(reasoning.effort);
    case 'budget':
      return reasons(model) ? effortOfBudget(reasoning.tokens) : null;
  }
}

/** The scale of this dialect ends one step earlier. */
const known = (effort: string): string => (effort === 'max' ? 'xhigh' : effort);

/** The effort that comes nearest to a budget, for everyone who knows efforts only. */
export const effortOfBudget = (tokens: number): string =>
  tokens <= 1_024 ? 'low' : tokens <= 8_192 ? 'medium' : 'high';

const families =
  /(?:^|[/.:-])(?:o[1-9](?:-|$)|gpt-(?:[5-9]|oss)|grok-(?:3-mini|[4-9])|deepseek-(?:r\d|reasoner|v[3-9]\.\d)|qwq|qwen-?3|magistral|glm-[4-9]|kimi-k2|minimax-m|claude|gemini-(?:2\.5|[3-9]))|think|reason/i;

/** Models that cannot be told not to think. */
const alwaysOn = /(?:^|[/.:-])(?:o[1-9]|gpt-5|gpt-oss)(?:-|$)/i;

export const reasons = (model: string): boolean => families.test(model);
