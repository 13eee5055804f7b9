/** Azure OpenAI: OpenAI's dialect on a resource of one's own, where models are deployments. */
import type { CallFacts, OfferedEndpoint, Provider, ProviderEndpoint } from '../provider.ts';
import { hostLabel } from '../settings.ts';
import { accessFields, azureAuthentication, azureHeaders } from './access.ts';
import { batchOutput } from './batch-output.ts';
import { withoutFilters } from './content-filter.ts';
import { deployedModel, deploymentOf } from './deployment.ts';
import { listedJobs, olderForm, oneJob } from './fine-tuning.ts';
import { keptEndpoints } from './kept.ts';
import { deployedPath, isUndated, named, resourcePath } from './named.ts';

const deployed = (path: string): ProviderEndpoint => ({ path: deployedPath(path), adjust: named });

const answered =
  (path: string): OfferedEndpoint =>
  ({ strict }) => ({ ...deployed(path), ...(strict && { translation: withoutFilters }) });

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
  aliases: ['azure'],
  address: ({ fields }) =>
    `https://${hostLabel(fields, 'azure_resource_name', 'resource_name')}.openai.azure.com/openai`,
  needsCredential: false,
  headers: (facts) => azureHeaders(facts, (key) => ({ 'api-key': key })),
  authentication: azureAuthentication,
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
    chatComplete: answered('/chat/completions'),
    complete: answered('/completions'),
    embed: deployed('/embeddings'),
    imageGenerate: deployed('/images/generations'),
    imageEdit: deployed('/images/edits'),
    createSpeech: deployed('/audio/speech'),
    createTranscription: deployed('/audio/transcriptions'),
    createTranslation: deployed('/audio/translations'),
    createModelResponse: { path: resourcePath('/responses'), adjust: withDeployment },
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
    'Image models of the gpt-image family refuse response_format; they always answer in base64.',
    'Batches that write to blob storage are read there; their output is not fetched.',
  ],
};

/** Responses name their deployment in the body under every version. */
function withDeployment(body: CallFacts['body'], facts: CallFacts): CallFacts['body'] {
  const { name } = deploymentOf(facts);
  return name === '' || body.model === name ? body : { ...body, model: name };
}
