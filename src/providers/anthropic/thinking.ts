/** How hard the model is asked to think, in the way that its generation understands; and what thinking rules out. */
import type { Conversation, Reasoning } from '../chat/conversation.ts';
import { hoisted } from '../chat/turns.ts';
import type { JsonObject } from '../provider.ts';
import { isOwnThought } from './blocks.ts';
import type { ModelTraits } from './model.ts';

export interface Thinking {
  /** The `thinking` field; null: it is left out. */
  field: JsonObject | null;
  effort: string | null;
  limit: number;
}

const smallestBudget = 1_024;
/** What is left for the answer beside the thoughts, where the client set no limit. */
const roomToAnswer = 4_096;

const budgetByEffort: ReadonlyMap<string, number> = new Map(
  Object.entries({
    minimal: 1_024,
    low: 1_024,
    medium: 8_192,
    high: 16_384,
    xhigh: 32_768,
    max: 32_768,
  }),
);

export const thinksIn = ({ field }: Thinking): boolean => field?.type === 'enabled' || field?.type === 'adaptive';

export function thinkingOf(conversation: Conversation, traits: ModelTraits, shown: boolean): Thinking {
  const { reasoning } = conversation;
  const limit = conversation.limit ?? traits.defaultLimit;
  if (!reasoning) return { field: null, effort: null, limit };
  if (reasoning.mode === 'off')
    return { ...withoutThinking(traits, limit), effort: traits.alwaysThinks ? 'low' : null };
  if (traits.thinking === 'none') return thinkingUnknown(reasoning, limit);
  if (traits.thinking === 'budget') return byBudget(conversation, reasoning, traits, limit);
  const budgeted = reasoning.mode === 'budget' && traits.thinking === 'adaptive';
  if (isForced(conversation)) return { ...withoutThinking(traits, limit), effort: effortOf(reasoning, traits) };
  if (budgeted) return byBudget(conversation, reasoning, traits, limit);
  return {
    field: { type: 'adaptive', ...displayOf(conversation, shown && traits.thinking === 'adaptive-only') },
    effort: effortOf(reasoning, traits),
    limit,
  };
}

/** An effort is a wish that such a model cannot hear; an explicit budget is its provider's to refuse. */
const thinkingUnknown = (reasoning: Reasoning, limit: number): Thinking => ({
  field: reasoning.mode === 'budget' ? { type: 'enabled', budget_tokens: reasoning.tokens } : null,
  effort: null,
  limit,
});

/** Older models do not think unless asked to; the newest do, and some of them always. */
const withoutThinking = ({ thinking, alwaysThinks }: ModelTraits, limit: number): Thinking => ({
  field: thinking.startsWith('adaptive') && !alwaysThinks ? { type: 'disabled' } : null,
  effort: null,
  limit,
});

/** A model that thinks may not be made to call a tool: what was to be done counts for more than how. */
const isForced = ({ toolChoice, tools, hostedTools }: Conversation): boolean =>
  tools.length + hostedTools.length > 0 && (toolChoice?.mode === 'required' || toolChoice?.mode === 'tool');

function byBudget(conversation: Conversation, reasoning: Reasoning, traits: ModelTraits, limit: number): Thinking {
  const off: Thinking = { field: null, effort: null, limit };
  if (isForced(conversation) || breaksOffThoughts(conversation)) return off;
  const wanted = Math.max(smallestBudget, wantedBudget(reasoning));
  if (conversation.limit === null) {
    const budget = Math.min(wanted, traits.longest - roomToAnswer);
    return { field: enabled(budget, conversation), effort: null, limit: Math.max(limit, budget + roomToAnswer) };
  }
  const budget = Math.min(wanted, limit - 1);
  // No room to think at all.
  if (budget < smallestBudget && reasoning.mode !== 'budget') return off;
  return { field: enabled(Math.max(budget, smallestBudget), conversation), effort: null, limit };
}

const enabled = (budget: number, conversation: Conversation): JsonObject => ({
  type: 'enabled',
  budget_tokens: budget,
  ...displayOf(conversation, false),
});

/** What an effort means in tokens, where only those are understood. */
export function wantedBudget(reasoning: Reasoning): number {
  if (reasoning.mode === 'budget') return reasoning.tokens;
  const effort = reasoning.mode === 'off' ? null : reasoning.effort;
  return budgetByEffort.get(effort ?? 'medium') ?? smallestBudget;
}

/** Older models want the thoughts before the last tool calls, or before the beginning of an answer, back; other providers gave none. */
function breaksOffThoughts(conversation: Conversation): boolean {
  const { turns } = hoisted(conversation);
  const last = turns.findLast((turn) => turn.role === 'assistant');
  if (!last) return false;
  const thought = last.parts.some(
    (part) => part.type === 'redacted-thinking' || (part.type === 'thinking' && isOwnThought(part)),
  );
  const bound = last === turns.at(-1) || last.parts.some((part) => part.type === 'tool-call');
  return bound && !thought;
}

function effortOf(reasoning: Reasoning, { efforts }: ModelTraits): string | null {
  const wanted = reasoning.mode === 'budget' ? effortOfBudget(reasoning.tokens) : wantedEffort(reasoning);
  if (wanted === null || ['low', 'medium', 'high'].includes(wanted) || efforts.includes(wanted)) return wanted;
  return wanted === 'minimal' ? 'low' : 'high';
}

const wantedEffort = (reasoning: Reasoning): string | null => ('effort' in reasoning ? reasoning.effort : null);

function effortOfBudget(tokens: number): string {
  const found = [...budgetByEffort].find(([, budget]) => tokens <= budget);
  return found && found[0] !== 'minimal' ? found[0] : tokens <= smallestBudget ? 'low' : 'max';
}

/** The newest models keep their thoughts to themselves unless asked. */
function displayOf({ showReasoning }: Conversation, shown: boolean): JsonObject {
  if (showReasoning !== null) return { display: showReasoning ? 'summarized' : 'omitted' };
  return shown ? { display: 'summarized' } : {};
}
