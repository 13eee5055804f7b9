/** Counting the tokens of a request without running it. */
import { nativeBody, nativeMessages } from '../anthropic/family.ts';
import { countedConversation } from '../fronts/messages/messages.ts';
import { countOf, objectOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Translation } from '../provider.ts';
import { claudeOnBedrock } from './claude.ts';
import { converse } from './converse.ts';
import { modelId, modelOf } from './model.ts';

const counted = (answer: unknown): JsonObject => ({ input_tokens: countOf(objectOf(answer).inputTokens) });

/** Claude counts the very body that it would be invoked with, which has a limit. */
const claudeCount: Translation = {
  ...nativeMessages(claudeOnBedrock),
  request: (facts) => ({ input: { invokeModel: { body: encoded(invokeBody(facts)) } } }),
  response: counted,
};

const invokeBody = (facts: CallFacts): JsonObject => ({ max_tokens: 1, ...nativeBody(facts, claudeOnBedrock) });

const encoded = (body: JsonObject): string => Buffer.from(JSON.stringify(body)).toString('base64');

const asked = ['messages', 'system', 'toolConfig', 'additionalModelRequestFields'] as const;

const converseCount: Translation = {
  media: (facts) => converse.media?.(countedConversation(facts), facts) ?? [],
  request: (facts) => {
    const body = objectOf(converse.request(countedConversation(facts), facts));
    return {
      input: { converse: Object.fromEntries(asked.flatMap((name) => (name in body ? [[name, body[name]]] : []))) },
    };
  },
  response: counted,
};

/** Models are counted by their own id: a profile over several regions has no tokens of its own. */
export function countTokens(facts: CallFacts): ProviderEndpoint {
  const translation = modelOf(facts).claude ? claudeCount : converseCount;
  const id = modelId(facts) || facts.model;
  return { path: `/model/${encodeURIComponent(id)}/count-tokens`, translation };
}
