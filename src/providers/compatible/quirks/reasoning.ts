/** How hard the model should think, in the words of each provider. What the client says in the provider's own words stands. */
import { isObject, numberOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import type { Quirk } from './parameters.ts';
import { lacking } from './same.ts';

const effortOf = ({ reasoning_effort }: Readonly<JsonObject>): string | null =>
  typeof reasoning_effort === 'string' ? reasoning_effort : null;

const switchOf = (effort: string): JsonObject => ({ type: effort === 'none' ? 'disabled' : 'enabled' });

/** `thinking: {type}` besides the effort. */
export const effortWithThinking: Quirk = (body) => {
  const effort = effortOf(body);
  return effort === null || 'thinking' in body ? body : { ...body, thinking: switchOf(effort) };
};

/** `thinking: {type}` instead of the effort. */
export const effortAsThinking: Quirk = (body, facts) => {
  const asked = effortWithThinking(body, facts);
  return effortOf(body) === null ? body : lacking(asked, 'reasoning_effort');
};

/** `reasoning: {effort}`, or a budget in it. */
export const effortAsReasoning: Quirk = (body) => {
  const effort = effortOf(body);
  const { thinking } = body;
  if (effort === null && !isObject(thinking)) return body;
  const rest = lacking(body, 'reasoning_effort', 'thinking');
  if ('reasoning' in body) return rest;
  return { ...rest, reasoning: isObject(thinking) ? reasoningOf(thinking) : { effort } };
};

function reasoningOf(thinking: JsonObject): JsonObject {
  if (thinking.type === 'disabled') return { enabled: false };
  const budget = numberOf(thinking.budget_tokens);
  return budget === null ? { enabled: true } : { max_tokens: budget };
}

const budgets: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
};

/** `enable_thinking`, with a budget where one is known. */
export const effortAsBudget: Quirk = (body) => {
  const effort = effortOf(body);
  const { thinking } = body;
  if (effort === null && !isObject(thinking)) return body;
  const rest = lacking(body, 'reasoning_effort', 'thinking');
  if ('enable_thinking' in body || 'thinking_budget' in body) return rest;
  const isOff = isObject(thinking) ? thinking.type === 'disabled' : effort === 'none';
  const budget = isObject(thinking) ? numberOf(thinking.budget_tokens) : (budgets[effort ?? ''] ?? null);
  return { ...rest, enable_thinking: !isOff, ...(!isOff && budget !== null && { thinking_budget: budget }) };
};
