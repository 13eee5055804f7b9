/** How many tokens a conversation has, asked in Anthropic's dialect. */
import { ProviderFault } from '../faults.ts';
import { countedConversation } from '../fronts/messages/messages.ts';
import { numberOf, objectOf } from '../json.ts';
import type { Translation } from '../provider.ts';
import { fetchedMedia } from './media.ts';
import { modelName } from './model-name.ts';
import { writeRequest } from './request.ts';
import type { Surface } from './surface.ts';

/** AI Studio counts what stands beside the contents only inside a whole request. */
export const countTokens = (surface: Surface): Translation => ({
  media: (facts) => fetchedMedia(countedConversation(facts), surface),
  request(facts) {
    const { generationConfig, ...request } = writeRequest(countedConversation(facts), facts, surface);
    return surface === 'studio' ? { generateContentRequest: { model: modelName(facts.model), ...request } } : request;
  },
  response(answer) {
    const tokens = numberOf(objectOf(answer).totalTokens);
    if (tokens === null) throw new ProviderFault(502, 'the answer counts no tokens');
    return { input_tokens: tokens };
  },
});
