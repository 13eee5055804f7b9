/** Providers that speak OpenAI's dialect: a few lines of data each. */
import type { Authentication } from './authentication.ts';
import { packingBase64 } from './compatible/quirks/embeddings.ts';
import { type EndpointKind, endpointKinds } from './endpoints.ts';
import { batchOutput } from './openai/batch-output.ts';
import type { CallFacts, OfferedEndpoint, Provider, ProviderEndpoint, ProviderField } from './provider.ts';

type Endpoints = Partial<Record<EndpointKind, OfferedEndpoint>>;

interface OpenAiCompatible {
  id: string;
  name: string;
  aliases?: readonly string[];
  /** Null where the address is given with the target. */
  address: Provider['address'];
  /** What it offers; everything that OpenAI does when absent. */
  endpoints?: Endpoints;
  needsCredential?: boolean;
  /** The header that holds the bare credential, where it is no bearer token. */
  credentialHeader?: string;
  /** Where the credential is exchanged for another; null: it is sent as it is. */
  authentication?(facts: CallFacts): Authentication | null;
  /** Headers besides the credential's. */
  headers?(facts: CallFacts): Record<string, string>;
  fields?: readonly ProviderField[];
  takesStreamOptions?: true;
  reportsCost?: true;
  notes?: readonly string[];
}

/** What others have brought, and what is no operation of its own. */
const notOpenAis: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'messages',
  'messagesCountTokens',
  'ocr',
  'getBatchOutput',
  'proxy',
]);

/** Endpoints in OpenAI's dialect, under its paths. */
export const offered = (...kinds: readonly EndpointKind[]): Partial<Record<EndpointKind, ProviderEndpoint>> =>
  Object.fromEntries(kinds.map((kind) => [kind, {}]));

/** All of OpenAI's endpoints under their own paths. */
export const openAiEndpoints: Partial<Record<EndpointKind, ProviderEndpoint>> = {
  ...offered(...endpointKinds.filter((kind) => !notOpenAis.has(kind))),
  getBatchOutput: { steps: batchOutput },
};

/** OpenAI itself packs its vectors; of no other host is it known. */
const packsItself: ReadonlySet<string> = new Set(['openai', 'azure-openai']);

export function openAiCompatible({ headers, credentialHeader, ...provider }: OpenAiCompatible): Provider {
  const embedding = (endpoints: Endpoints): Endpoints =>
    endpoints.embed && !packsItself.has(provider.id)
      ? { ...endpoints, embed: packingBase64(endpoints.embed) }
      : endpoints;
  const credentialIn = (credential: string): Record<string, string> =>
    credentialHeader ? { [credentialHeader]: credential } : { authorization: `Bearer ${credential}` };
  return {
    ...provider,
    needsCredential: provider.needsCredential ?? provider.address !== null,
    headers: (facts) => ({
      ...(facts.credential !== null && !provider.authentication?.(facts) && credentialIn(facts.credential)),
      ...headers?.(facts),
    }),
    // A host whose offer we do not know is asked; it answers for itself.
    endpoints: embedding(provider.endpoints ?? openAiEndpoints),
  };
}
