/** How hard a Gemini model thinks: by level since the third generation, by a budget of tokens before. */
import type { Conversation, Reasoning } from '../chat/conversation.ts';
import { RequestFault } from '../faults.ts';
import { present } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { generationOf } from './generation.ts';

/** Null where the request says nothing of thinking. */
export function thinkingConfig(
  { model, reasoning, showReasoning }: Pick<Conversation, 'model' | 'reasoning' | 'showReasoning'>,
  strict: boolean,
): JsonObject | null {
  const generation = generationOf(model);
  if (generation !== null && generation < 2.5) return withoutThinking(model, reasoning);
  const shown = reasoning ? (showReasoning ?? showsByItself(reasoning, strict)) : showReasoning;
  const amount = reasoning ? (generation !== null && generation >= 3 ? byLevel : byBudget)(model, reasoning) : {};
  const config = present({ ...amount, includeThoughts: shown || null });
  return Object.keys(config).length > 0 ? config : null;
}

/** Who sets a budget wants to see what it is spent on; an effort alone says nothing of it, and strict answers have no place for it. */
const showsByItself = ({ mode }: Reasoning, strict: boolean): boolean =>
  mode === 'budget' || mode === 'adaptive' || (mode === 'effort' && !strict);

function withoutThinking(model: string, reasoning: Reasoning | null): null {
  if (!reasoning || reasoning.mode === 'off') return null;
  throw new RequestFault('reasoning_effort', `the model ${model} does not think; leave the reasoning settings out`);
}

function byLevel(model: string, reasoning: Reasoning): JsonObject {
  // Budgets are still understood, but never beside a level.
  if (reasoning.mode === 'budget') return { thinkingBudget: reasoning.tokens };
  const effort = reasoning.mode === 'off' ? 'none' : reasoning.effort;
  return effort === null ? {} : { thinkingLevel: levelOf(model, effort) };
}

function levelOf(model: string, effort: string): string {
  const isPro = model.includes('pro');
  const isFirstPro = isPro && generationOf(model) === 3;
  switch (effort) {
    // Thinking cannot be switched off here: the least of it comes nearest.
    case 'none':
    case 'minimal':
      return isPro ? 'LOW' : 'MINIMAL';
    case 'low':
      return 'LOW';
    case 'medium':
      return isFirstPro ? 'HIGH' : 'MEDIUM';
    default:
      return 'HIGH';
  }
}

interface BudgetRange {
  least: number;
  most: number;
  /** What switches thinking off, or comes nearest. */
  off: number;
}

const rangeOf = (model: string): BudgetRange => {
  if (model.includes('pro')) return { least: 128, most: 32_768, off: 128 };
  if (model.includes('flash-lite')) return { least: 512, most: 24_576, off: 0 };
  return { least: 0, most: 24_576, off: 0 };
};

const dynamic = -1;

function byBudget(model: string, reasoning: Reasoning): JsonObject {
  const range = rangeOf(model);
  switch (reasoning.mode) {
    case 'off':
      return { thinkingBudget: range.off };
    case 'adaptive':
      return { thinkingBudget: reasoning.effort === null ? dynamic : budgetOf(reasoning.effort, range) };
    case 'effort':
      return { thinkingBudget: budgetOf(reasoning.effort, range) };
    case 'budget': {
      const { tokens } = reasoning;
      if (tokens === dynamic) return { thinkingBudget: dynamic };
      return { thinkingBudget: tokens === 0 ? range.off : Math.min(Math.max(tokens, range.least), range.most) };
    }
  }
}

const budgets = new Map(Object.entries({ minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576 }));

const budgetOf = (effort: string, range: BudgetRange): number =>
  effort === 'none' ? range.off : (budgets.get(effort) ?? range.most);
