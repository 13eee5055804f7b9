/** Azure OpenAI: OpenAI's dialect on a resource of one's own, where models are deployments. */
import { hasOnlyResponses } from '../openai/only-responses.ts';
import { responsesFamily } from '../openai/responses/family.ts';
import { withoutForeignThoughts } from '../openai/responses/foreign-thoughts.ts';
import type { CallFacts, Provider, ProviderEndpoint } from '../provider.ts';
import { hostLabel } from '../settings.ts';
import { accessFields, azureAuthentication, azureHeaders } from './access.ts';
import { batchOutput } from './batch-output.ts';
import { withoutFilters } from './content-filter.ts';
import { deployedModel, deploymentOf } from './deployment.ts';
import { listedJobs, olderForm, oneJob } from './fine-tuning.ts';
import { keptEndpoints } from './kept.ts';
import { openAiCalls } from './model-calls.ts';
import { datedQuery, deployedPath, isUndated, named, resourcePath } from './named.ts';

const deployed = (path: string): ProviderEndpoint => ({ path: deployedPath(path), adjust: named });

const answered =
  (path: string) =>
  ({ strict }: CallFacts): ProviderEndpoint => ({ ...deployed(path), ...(strict && { translation: withoutFilters }) });

const chat = answered('/chat/completions');
const responses: ProviderEndpoint = { path: resourcePath('/responses'), adjust: withDeployment };
const viaResponses: ProviderEndpoint = { ...responses, chat: responsesFamily };
const ownResponses: ProviderEndpoint = {
  ...responses,
  adjust: (body, facts) => withDeployment(withoutForeignThoughts(body), facts),
};

/** A deployment's name tells its model where nothing else does. */
const isWithoutChat = (facts: CallFacts): boolean => hasOnlyResponses(deployedModel(facts) ?? deploymentOf(facts).name);

const onResource = (path: string, more: ProviderEndpoint = {}): ProviderEndpoint => ({
  path: resourcePath(path),
  ...more,
});

/** The session's deployment instead of its model; what else the client asked for stays. */
function sessionQuery(facts: CallFacts): string {
  const others = facts.query.split('&').filter((item) => item !== '' && !/^(model|deployment|api-version)=/.test(item));
  const deployment = encodeURIComponent(deploymentOf(facts).name);
  return [isUndated(facts) ? `model=${deployment}` : `deployment=${deployment}`, ...others].join('&');
}

export const azureOpenAi: Provider = {
  id: 'azure-openai',
  name: 'Azure OpenAI',
  takesStreamOptions: true,
  aliases: ['azure'],
  address: ({ fields }) =>
    `https://${hostLabel(fields, 'azure_resource_name', 'resource_name')}.openai.azure.com/openai`,
  passedQuery: datedQuery,
  needsCredential: false,
  headers: (facts) => azureHeaders(facts, (key) => ({ 'api-key': key })),
  authentication: azureAuthentication,
  modelCalls: openAiCalls,
  fields: [
    {
      name: 'azure_resource_name',
      required: true,
      about: 'The name of the resource: the first part of its host name. Also spelled resource_name.',
    },
    {
      name: 'azure_deployment_id',
      about: 'The deployment, where there is only one. Also spelled deployment_id. Absent: the model is its name.',
    },
    {
      name: 'azure_api_version',
      about: 'A dated version such as 2024-10-21, or v1 for the API without dates. Also spelled api_version.',
    },
    {
      name: 'deployments',
      about:
        'Several deployments, each with deployment_id, alias, api_version and is_default: the model of a request chooses one. Integrations write them as azure_deployment_config.',
    },
    { name: 'azure_model_name', about: 'The model that is deployed, for prices.' },
    ...accessFields,
  ],
  endpoints: {
    chatComplete: (facts) => (isWithoutChat(facts) ? viaResponses : chat(facts)),
    complete: answered('/completions'),
    embed: deployed('/embeddings'),
    imageGenerate: deployed('/images/generations'),
    imageEdit: deployed('/images/edits'),
    createSpeech: deployed('/audio/speech'),
    createTranscription: deployed('/audio/transcriptions'),
    createTranslation: deployed('/audio/translations'),
    createModelResponse: ownResponses,
    getModelResponse: onResource('/responses/:id'),
    deleteModelResponse: onResource('/responses/:id'),
    listResponseInputItems: onResource('/responses/:id/input_items'),
    realtime: { path: resourcePath('/realtime'), query: sessionQuery },
    ...keptEndpoints(onResource),
    getBatchOutput: onResource('/batches/:id', { steps: batchOutput }),
    createFinetune: onResource('/fine_tuning/jobs', { adjust: olderForm, translation: oneJob }),
    listFinetunes: onResource('/fine_tuning/jobs', { translation: listedJobs }),
    retrieveFinetune: onResource('/fine_tuning/jobs/:id', { translation: oneJob }),
    cancelFinetune: onResource('/fine_tuning/jobs/:id/cancel', { translation: oneJob }),
    listModels: onResource('/models'),
    retrieveModel: onResource('/models/:id'),
  },
  billedModel: deployedModel,
  notes: [
    'A custom host ends in /openai and stands in for the whole address, as sovereign clouds need it.',
    'The verdicts of the content filter are shown where answers need not be strict (x-gw-strict-open-ai-compliance: false).',
    'Models that have no chat (o3-pro, deep research, codex, gpt-5-pro and their like) are asked for responses; azure_model_name or azure_model_slug tells what a deployment is of, or else its name.',
    'Image models of the gpt-image family refuse response_format; they always answer in base64.',
    'The output of a batch that writes to blob storage is fetched with the application of azure_auth_mode entra, which needs the role Storage Blob Data Reader there; with any other credential it must be read there.',
  ],
};

/** Responses name their deployment in the body under every version. */
function withDeployment(body: CallFacts['body'], facts: CallFacts): CallFacts['body'] {
  const { name } = deploymentOf(facts);
  return name === '' || body.model === name ? body : { ...body, model: name };
}
