/** Fields of a request that no conversation holds, for families that refuse what they do not know. */
import { RequestFault } from '../faults.ts';
import { listOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import type { Conversation } from './conversation.ts';

/** They steer a service of another provider's, and mean nothing elsewhere. */
const foreign = new Set([
  'logit_bias',
  'store',
  'prediction',
  'modalities',
  'verbosity',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'cache_control',
  'anthropic_beta',
  'anthropic_version',
]);

/** What is left for the provider itself. What would be missing in the answer is refused. */
export function ownExtras({ extras }: Conversation, name: string): JsonObject {
  if (listOf(extras.modalities).includes('audio') || extras.audio !== undefined) {
    throw new RequestFault('modalities', `${name} answers in text only: leave modalities and audio out`);
  }
  if (extras.web_search_options !== undefined) {
    throw new RequestFault('web_search_options', `${name} does not search the web: leave web_search_options out`);
  }
  return Object.fromEntries(Object.entries(extras).filter(([field]) => !foreign.has(field)));
}
