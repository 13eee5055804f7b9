/** The models of an account's region: those of the vendors, and the profiles that spread them over regions. */
import { awsAddress } from '../aws/access.ts';
import { objectOf, objectsOf, parsed, textOf } from '../json.ts';
import type { JsonObject, ProviderEndpoint, RawAnswer, Steps } from '../provider.ts';

const mostProfiles = 1_000;

/** An account may list models and not profiles. */
const listModels: Steps = function* (facts) {
  const address = awsAddress('bedrock', facts);
  const [models, profiles] = yield {
    calls: [
      { method: 'GET', path: `${address}/foundation-models` },
      { method: 'GET', path: `${address}/inference-profiles?maxResults=${mostProfiles}`, accepts: [403] },
    ],
  };
  return {
    object: 'list',
    data: [
      ...objectsOf(bodyOf(models).modelSummaries).map(modelOf),
      ...objectsOf(bodyOf(profiles).inferenceProfileSummaries).map(profileOf),
    ],
  };
};

export const models: ProviderEndpoint = { steps: listModels };

export const model: ProviderEndpoint = {
  path: (facts) => `${awsAddress('bedrock', facts)}/foundation-models/${encodeURIComponent(facts.pathParams.id ?? '')}`,
  translation: { response: (answer) => modelOf(objectOf(objectOf(answer).modelDetails)) },
};

const bodyOf = (answer: RawAnswer | undefined): JsonObject =>
  objectOf(parsed(new TextDecoder().decode(answer?.bytes ?? new Uint8Array())));

const modelOf = ({ modelId, providerName }: JsonObject): JsonObject => entry(modelId, providerName, 0);

function profileOf({ inferenceProfileId, createdAt }: JsonObject): JsonObject {
  const vendor = /^[a-z-]+\.([a-z0-9]+)\./.exec(textOf(inferenceProfileId) ?? '')?.[1];
  return entry(inferenceProfileId, vendor ?? 'Amazon', Math.floor(Date.parse(textOf(createdAt) ?? '') / 1000) || 0);
}

const entry = (id: unknown, owner: unknown, created: number): JsonObject => ({
  id: textOf(id) ?? '',
  object: 'model',
  created,
  owned_by: textOf(owner) ?? '',
});
