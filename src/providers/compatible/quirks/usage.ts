/** Sets right where a provider counts otherwise, or tells its figures in another place. */
import { isObject, numberOf, objectOf } from '../../json.ts';
import type { Mend } from './answers.ts';
import { inside } from './same.ts';

/** `prompt_cache_hit_tokens` is what OpenAI calls cached tokens. */
export const cacheHits: Mend = () => (answer) =>
  inside(answer, 'usage', (usage) => {
    const hits = numberOf(usage.prompt_cache_hit_tokens);
    const details = objectOf(usage.prompt_tokens_details);
    if (hits === null || numberOf(details.cached_tokens) !== null) return usage;
    return { ...usage, prompt_tokens_details: { ...details, cached_tokens: hits } };
  });

/** Tokens of thoughts that are counted beside the completion belong within it; the total tells which it is. */
export const thoughtsWithin: Mend = () => (answer) =>
  inside(answer, 'usage', (usage) => {
    const prompt = numberOf(usage.prompt_tokens) ?? 0;
    const completion = numberOf(usage.completion_tokens) ?? 0;
    const thoughts = numberOf(objectOf(usage.completion_tokens_details).reasoning_tokens) ?? 0;
    if (thoughts === 0 || usage.total_tokens !== prompt + completion + thoughts) return usage;
    return { ...usage, completion_tokens: completion + thoughts };
  });

/** Figures that stand in an object of the provider's own. */
export const usageIn =
  (name: string): Mend =>
  () =>
  (answer) => {
    const { usage } = objectOf(answer[name]);
    return isObject(usage) && !isObject(answer.usage) ? { ...answer, usage } : answer;
  };
