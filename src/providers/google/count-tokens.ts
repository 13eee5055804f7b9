/** How many tokens a conversation has, asked in Anthropic's dialect. */
import { ProviderFault } from '../faults.ts';
import { fronts } from '../fronts/index.ts';
import { numberOf, objectOf } from '../json.ts';
import type { Translation } from '../provider.ts';
import { writeRequest } from './request.ts';
import type { Surface } from './surface.ts';

/** AI Studio counts what stands beside the contents only inside a whole request. */
export const countTokens = (surface: Surface): Translation => ({
  request(facts) {
    const front = fronts.messages;
    if (!front) throw new Error('There is no front for messages');
    // Whoever only counts sets no limit.
    const conversation = front.read({ ...facts, body: { max_tokens: 1, ...facts.body } });
    const { generationConfig, ...request } = writeRequest(conversation, facts, surface);
    return surface === 'studio' ? { generateContentRequest: { model: `models/${facts.model}`, ...request } } : request;
  },
  response(answer) {
    const tokens = numberOf(objectOf(answer).totalTokens);
    if (tokens === null) throw new ProviderFault(502, 'the answer counts no tokens');
    return { input_tokens: tokens };
  },
});
