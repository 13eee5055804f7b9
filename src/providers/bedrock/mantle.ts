/** Bedrock Mantle: Bedrock's models in the dialects of OpenAI and, for Claude, of Anthropic. */
import {
  type AnthropicSurface,
  anthropicApi,
  anthropicFamily,
  betaHeader,
  withoutForeignThoughts,
} from '../anthropic/family.ts';
import { awsAuthentication, awsFields, awsHeaders, awsRegion } from '../aws/access.ts';
import { isObject, listOf } from '../json.ts';
import type { CallFacts, JsonObject, Provider, ProviderEndpoint } from '../provider.ts';
import { setting } from '../settings.ts';
import { modelId } from './model.ts';

/** Claude takes no schema for its answers here. */
const surface: AnthropicSurface = { ...anthropicApi, structuredOutput: 'tool' };

const isClaude = (facts: CallFacts): boolean => modelId(facts).startsWith('anthropic.');

const claudeHeaders = (facts: CallFacts): Record<string, string> => ({
  'anthropic-version':
    facts.clientHeader('anthropic-version') ?? setting(facts.fields, 'anthropic_version') ?? '2023-06-01',
  ...betaHeader(facts, surface),
});

const claudeChat: ProviderEndpoint = {
  path: '/anthropic/v1/messages',
  headers: claudeHeaders,
  chat: anthropicFamily(surface),
};

const native = (path: string): ProviderEndpoint => ({ path, headers: claudeHeaders, adjust: withoutForeignThoughts });

const chat: ProviderEndpoint = { path: '/v1/chat/completions', adjust: withoutPropertyNames };

/** Gemma's models refuse a keyword that other schemas may hold. */
function withoutPropertyNames(body: Readonly<JsonObject>, facts: CallFacts): Readonly<JsonObject> {
  if (!modelId(facts).startsWith('google.gemma') || !JSON.stringify(body.tools ?? null).includes('"propertyNames"')) {
    return body;
  }
  return { ...body, tools: stripped(body.tools) };
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return listOf(value).map(stripped);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (name === 'propertyNames' ? [] : [[name, stripped(inner)]])),
  );
}

export const bedrockMantle: Provider = {
  id: 'bedrock-mantle',
  name: 'AWS Bedrock Mantle',
  address: (facts) => `https://bedrock-mantle.${awsRegion(facts)}.api.aws`,
  headers: awsHeaders,
  authentication: (facts) => awsAuthentication(facts, 'bedrock-mantle'),
  modelCalls: {
    POST: /\/v1\/(?:chat\/completions|responses|messages(?:\/count_tokens)?)$/i,
    GET: /\/v1\/models(?:\/[^/]+)?$/i,
  },
  needsCredential: false,
  fields: awsFields.filter(({ name }) => name !== 'endpoint_domain'),
  endpoints: {
    chatComplete: (facts) => (isClaude(facts) ? claudeChat : chat),
    createModelResponse: (facts) => (isClaude(facts) ? null : { path: '/v1/responses' }),
    messages: (facts) => (isClaude(facts) ? native('/anthropic/v1/messages') : null),
    messagesCountTokens: (facts) => (isClaude(facts) ? native('/anthropic/v1/messages/count_tokens') : null),
    listModels: { path: '/v1/models' },
  },
  notes: ['Claude is asked in Anthropic’s dialect, every other model in OpenAI’s.'],
};
