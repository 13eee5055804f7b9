/** Providers that speak OpenAI's dialect: a few lines of data each. */
import type { EndpointKind } from './endpoints.ts';
import type { CallFacts, Provider, ProviderEndpoint } from './provider.ts';

interface OpenAiCompatible {
  id: string;
  name: string;
  /** Null where the address is given with the target. */
  address: string | null;
  /** What it offers besides chat; chat alone when absent. */
  endpoints?: Partial<Record<EndpointKind, ProviderEndpoint>>;
  needsCredential?: boolean;
  /** Headers besides the bearer token. */
  headers?(facts: CallFacts): Record<string, string>;
}

const everyEndpoint: readonly EndpointKind[] = [
  'chatComplete',
  'complete',
  'embed',
  'moderate',
  'rerank',
  'imageGenerate',
  'imageEdit',
  'imageVariation',
  'createSpeech',
  'createTranscription',
  'createTranslation',
  'createModelResponse',
  'getModelResponse',
  'deleteModelResponse',
  'listResponseInputItems',
  'listModels',
  'retrieveModel',
  'deleteModel',
  'uploadFile',
  'listFiles',
  'retrieveFile',
  'deleteFile',
  'retrieveFileContent',
  'createBatch',
  'listBatches',
  'retrieveBatch',
  'cancelBatch',
  'createFinetune',
  'listFinetunes',
  'retrieveFinetune',
  'cancelFinetune',
  'realtime',
];

/** All of OpenAI's endpoints under their own paths. */
export const openAiEndpoints: Partial<Record<EndpointKind, ProviderEndpoint>> = Object.fromEntries(
  everyEndpoint.map((kind) => [kind, {}]),
);

export function openAiCompatible(provider: OpenAiCompatible): Provider {
  return {
    id: provider.id,
    name: provider.name,
    address: provider.address,
    needsCredential: provider.needsCredential ?? provider.address !== null,
    headers: (facts) => ({
      ...(facts.credential !== null && { authorization: `Bearer ${facts.credential}` }),
      ...provider.headers?.(facts),
    }),
    // A host whose offer we do not know is asked; it answers for itself.
    endpoints: provider.endpoints ?? openAiEndpoints,
  };
}
