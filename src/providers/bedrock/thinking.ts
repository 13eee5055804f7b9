/** How a model of Bedrock's is told to think: each vendor has its own words for it. */
import type { ModelTraits } from '../anthropic/model.ts';
import { thinkingOf as asAnthropic, thinksIn } from '../anthropic/thinking.ts';
import type { Conversation, Reasoning } from '../chat/conversation.ts';
import { RequestFault } from '../faults.ts';
import { isObject } from '../json.ts';
import { effortOfBudget } from '../openai/reasoning.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import type { BedrockModel } from './model.ts';

export interface BedrockThinking {
  /** For `additionalModelRequestFields`. */
  fields: JsonObject;
  /** The most that may be written where the client set no limit and thoughts need one. */
  limit: number | null;
  /** True where the model will think, and so refuses to be steered otherwise. */
  on: boolean;
}

const none: BedrockThinking = { fields: {}, limit: null, on: false };

export function thinkingOf(conversation: Conversation, model: BedrockModel, facts: CallFacts): BedrockThinking {
  const { reasoning } = conversation;
  if (model.claude) return claudeThinking(conversation, model.claude, facts);
  if (!reasoning) return none;
  switch (model.thinking) {
    case 'nova':
      return novaThinking(reasoning);
    case 'effort':
    case 'unknown':
      return reasoning.mode === 'off' ? none : { ...none, fields: { reasoning_effort: simpleEffort(reasoning) } };
    case 'always':
      return none;
    default:
      if (reasoning.mode === 'off') return none;
      throw new RequestFault('reasoning_effort', `the model ${model.id} does not reason; leave reasoning_effort out`);
  }
}

/** `low`, `medium` or `high`. */
function simpleEffort(reasoning: Exclude<Reasoning, { mode: 'off' }>): string {
  if (reasoning.mode === 'budget') return effortOfBudget(reasoning.tokens);
  const effort = reasoning.effort ?? 'medium';
  return effort === 'minimal' ? 'low' : effort === 'xhigh' || effort === 'max' ? 'high' : effort;
}

/** With its highest effort the model takes no other steering. */
function novaThinking(reasoning: Reasoning): BedrockThinking {
  if (reasoning.mode === 'off') return { ...none, fields: { reasoningConfig: { type: 'disabled' } } };
  const effort = simpleEffort(reasoning);
  return {
    fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } },
    limit: null,
    on: effort === 'high',
  };
}

/** Claude thinks here as it does at Anthropic, but for what an effort means in tokens. */
function claudeThinking(conversation: Conversation, traits: ModelTraits, { strict }: CallFacts): BedrockThinking {
  const reasoning = traits.thinking === 'budget' ? shareOf(conversation, traits) : conversation.reasoning;
  const thinking = asAnthropic({ ...conversation, reasoning }, traits, !strict);
  const { field, effort, limit } = thinking;
  const asked = isObject(conversation.extras.output_config) ? conversation.extras.output_config : {};
  return {
    fields: {
      ...(field && { thinking: field }),
      ...(effort !== null && { output_config: { ...asked, effort } }),
    },
    limit: field?.type === 'enabled' ? limit : null,
    on: thinksIn(thinking) || traits.alwaysThinks,
  };
}

const shares: ReadonlyMap<string, number> = new Map(
  Object.entries({
    minimal: 0.1,
    low: 0.2,
    medium: 0.5,
    high: 0.8,
    xhigh: 0.8,
    max: 0.8,
  }),
);
const leastBudget = 1_024;

/** An effort is a share of what may be written. Where that is too little to think, the effort stays a wish. */
function shareOf({ reasoning, limit }: Conversation, { defaultLimit }: ModelTraits): Reasoning | null {
  if (reasoning?.mode !== 'effort' || (limit !== null && limit <= leastBudget)) return reasoning;
  const share = shares.get(reasoning.effort) ?? 0.5;
  return { mode: 'budget', tokens: Math.max(leastBudget, Math.floor((limit ?? defaultLimit) * share)) };
}
