/** Azure AI Foundry: models of many vendors behind one resource; Claude there speaks its own dialect. */
import { apiEndpoints } from '../anthropic/endpoints.ts';
import { anthropicApi, anthropicFamily } from '../anthropic/family.ts';
import { apiHeaders } from '../anthropic/headers.ts';
import { rerankAnswer, rerankBody } from '../cohere/rerank.ts';
import type { EndpointKind } from '../endpoints.ts';
import type { CallFacts, OfferedEndpoint, Provider, ProviderEndpoint } from '../provider.ts';
import { setting } from '../settings.ts';
import { accessFields, azureAuthentication, azureHeaders } from './access.ts';
import { withoutFilters } from './content-filter.ts';
import { claudePath, foundryAddress, imagePath, isClaude, modelPath, rerankPath, resourcePath } from './foundry.ts';
import { embedsImages, imageEmbeddings } from './image-embeddings.ts';
import { keptEndpoints } from './kept.ts';
import { foundryCalls } from './model-calls.ts';
import { ocr } from './ocr.ts';

const model = (path: string): ProviderEndpoint => ({ path: modelPath(path) });
const onResource = (path: string): ProviderEndpoint => ({ path: resourcePath(path) });

const answered = (path: string, { strict }: CallFacts): ProviderEndpoint => ({
  ...model(path),
  ...(strict && { translation: withoutFilters }),
});

/** What Anthropic's own API offers, at Claude's address here. */
function claude(kind: EndpointKind, path: string): ProviderEndpoint {
  const own = apiEndpoints[kind];
  return { ...(typeof own === 'function' ? {} : own), path: claudePath(path) };
}

/** Claude takes no schema for its answers here. */
const claudeChat: ProviderEndpoint = {
  path: claudePath('/messages'),
  chat: anthropicFamily({ ...anthropicApi, structuredOutput: 'tool' }),
};

const onlyClaude =
  (kind: EndpointKind, path: string): OfferedEndpoint =>
  (facts) =>
    isClaude(facts) ? claude(kind, path) : null;

/** Older endpoints read a key as a bearer token, newer ones under its own name; Microsoft's clients send both. */
const bothKeys = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}`, 'api-key': key });

function headers(facts: CallFacts): Record<string, string> {
  const { fields } = facts;
  if (isClaude(facts)) return { ...apiHeaders(facts), ...azureHeaders(facts, (key) => ({ 'x-api-key': key })) };
  const deployment = setting(fields, 'azure_deployment_name');
  return {
    'extra-parameters': setting(fields, 'azure_extra_parameters', 'azure_extra_params') ?? 'drop',
    ...(deployment !== null && { 'azureml-model-deployment': deployment }),
    ...azureHeaders(facts, bothKeys),
  };
}

const wantsOwnResponses = ({ fields, clientHeader }: CallFacts): boolean =>
  (setting(fields, 'provider_responses_proxy') ?? clientHeader('x-gw-provider-responses-proxy')) === 'true';

/** Models of Cohere are named without their vendor. */
const unprefixed = (facts: CallFacts): CallFacts => ({ ...facts, model: facts.model.replace(/^cohere\./, '') });

export const azureAi: Provider = {
  id: 'azure-ai',
  name: 'Azure AI Foundry',
  aliases: ['azure-ai-inference', 'azure-foundry'],
  address: foundryAddress,
  needsCredential: false,
  headers,
  authentication: azureAuthentication,
  modelCalls: foundryCalls,
  fields: [
    {
      name: 'azure_foundry_url',
      required: true,
      about:
        'Where the models are: https://{resource}.services.ai.azure.com/models, a project’s …/openai/v1, an endpoint’s …/score, or …/anthropic for Claude. A custom host, or azure_endpoint_name, may stand in for it.',
    },
    { name: 'azure_api_version', about: 'The version of the API; 2024-05-01-preview where the address names none.' },
    { name: 'azure_deployment_name', about: 'The deployment, on endpoints that hold several.' },
    {
      name: 'azure_extra_parameters',
      about:
        'What becomes of fields that a model does not know: drop (as if they were not sent), pass-through or error.',
    },
    { name: 'azure_endpoint_name', about: 'Instead of the address: the name of an endpoint, with azure_region.' },
    { name: 'azure_region', about: 'The region of that endpoint.' },
    { name: 'azure_deployment_type', about: 'What that endpoint is: serverless, or managed.' },
    ...accessFields,
    { name: 'anthropic_version', about: 'The version of Claude’s API, where the client names none.' },
    { name: 'anthropic_beta', about: 'Betas of Claude’s API to turn on.' },
  ],
  endpoints: {
    chatComplete: (facts) => (isClaude(facts) ? claudeChat : answered('/chat/completions', facts)),
    complete: (facts) => (isClaude(facts) ? null : answered('/completions', facts)),
    messages: onlyClaude('messages', '/messages'),
    messagesCountTokens: onlyClaude('messagesCountTokens', '/messages/count_tokens'),
    createModelResponse: (facts) => (wantsOwnResponses(facts) ? model('/responses') : null),
    embed: (facts) =>
      embedsImages(facts) ? { ...model('/images/embeddings'), translation: imageEmbeddings } : model('/embeddings'),
    rerank: {
      path: rerankPath,
      translation: {
        request: (facts) => rerankBody(unprefixed(facts)),
        response: (answer, facts) => rerankAnswer(answer, facts),
      },
    },
    ocr: { ...model('/ocr'), translation: ocr },
    imageGenerate: { path: imagePath('generations') },
    imageEdit: { path: imagePath('edits') },
    createSpeech: model('/audio/speech'),
    createTranscription: model('/audio/transcriptions'),
    createTranslation: model('/audio/translations'),
    realtime: model('/realtime'),
    ...keptEndpoints(onResource),
  },
  notes: [
    'Models whose name begins with claude-, and addresses that end in /anthropic, are spoken to in Anthropic’s dialect; /messages goes there unchanged. Its structured output in other dialects is the input of a tool that it must call.',
    'Responses are made from chat, unless x-gw-provider-responses-proxy: true asks for the provider’s own.',
    'The verdicts of the content filter are shown where answers need not be strict (x-gw-strict-open-ai-compliance: false).',
    'Documents to be read (OCR) are sent as bytes; addresses are fetched first.',
  ],
};
