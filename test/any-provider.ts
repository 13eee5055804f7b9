/** Settings and credentials with which any provider can be called, so that what it does with a request can be watched. */
import { generateKeyPairSync } from 'node:crypto';
import type { Credentials } from '../src/gateway/credentials/authorise.ts';
import { allProviders } from '../src/providers/index.ts';
import type { Provider } from '../src/providers/provider.ts';
import { type Plane, savedProvider, startPlane } from './gateway-deps.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** Values that a check of the setting lets pass; any other setting is a word. */
const wellFormed: Readonly<Record<string, unknown>> = {
  aws_auth_type: 'accessKey',
  aws_region: 'us-east-1',
  aws_role_arn: '',
  aws_session_tags: { team: 'a' },
  azure_auth_mode: 'apiKey',
  azure_ad_token: '',
  azure_foundry_url: '',
  azure_deployment_type: 'serverless',
  azure_api_version: '2024-10-21',
  custom_host: '',
  deployments: [],
  endpoint_domain: '',
  foundation_model: '',
  huggingface_base_url: '',
  mistral_fim_completion: '',
  oracle_private_key: privateKey,
  oracle_key_passphrase: '',
  oracle_serving_mode: 'ON_DEMAND',
  vertex_auth_type: 'basic',
  vertex_region: 'us-central1',
  vertex_service_account_json: '',
  vertex_map_metadata: 'true',
};

/** Every setting that the provider declares. */
export const anyFields = ({ fields = [] }: Pick<Provider, 'fields'>): Record<string, unknown> =>
  Object.fromEntries(fields.map(({ name }) => [name, wellFormed[name] ?? 'word']));

/** No cloud is asked: whatever it would sign or give a token for is let pass. */
export const anyCredentials: Credentials = {
  authorise: async () => ({ authorization: 'Bearer any' }),
  forget: () => undefined,
};

/** Models that make a provider choose between its dialects. */
export const anyModels: readonly string[] = [
  'model-1',
  'claude-sonnet-4-5',
  'anthropic.claude-sonnet-4-5-20250929-v1:0',
  'amazon.nova-pro-v1:0',
  'amazon.titan-embed-text-v2:0',
  'cohere.embed-v4:0',
  'cohere.rerank-v3-5:0',
  'amazon.titan-image-generator-v2:0',
  'stability.sd3-5-large-v1:0',
  'meta.llama3-70b-instruct-v1:0',
  'mistral.mistral-large-2402-v1:0',
  'gemini-2.5-pro',
  'gemini-2.5-flash-image',
  'gemini-2.5-flash-preview-tts',
  'imagen-4.0-generate-001',
  'multimodalembedding@001',
  'text-embedding-005',
  'meta/llama-3.3-70b',
  'endpoints.123',
  'mistral-large',
  'gpt-5',
  'o3-mini',
  'command-a-03-2025',
  'stable-image-core',
  'sd3.5-large',
];

export const remoteProviders: readonly Provider[] = allProviders.filter(({ local }) => !local);

/** A plane on which every provider is saved under its own id, and answered by whoever listens at `url`. */
export function planeOfAll(url: string): Plane {
  const plane = startPlane();
  plane.deps.credentials = anyCredentials;
  for (const provider of remoteProviders) {
    const { id } = provider;
    const more = { provider: id, customHost: url, fields: anyFields(provider), credential: 'sk-any' };
    plane.providers.set(id, savedProvider(id, more));
  }
  return plane;
}
