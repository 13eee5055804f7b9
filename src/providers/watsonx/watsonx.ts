/** IBM watsonx.ai. */
import type { TokenExchange } from '../authentication.ts';
import type { CallFacts, Provider } from '../provider.ts';
import { setting } from '../settings.ts';
import { chat } from './chat.ts';
import { generation } from './generation.ts';
import { modelsPath, textPath } from './project.ts';
import { embeddings, models, rerank } from './text.ts';

const zenKey = ({ fields }: CallFacts): string | null => setting(fields, 'watsonx_zen_api_key');

const exchanged = (apikey: string): TokenExchange => ({
  kind: 'exchange',
  service: 'IBM Cloud',
  url: 'https://iam.cloud.ibm.com/identity/token',
  method: 'POST',
  headers: {},
  form: { grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey },
});

export const watsonx: Provider = {
  id: 'watsonx',
  name: 'IBM watsonx.ai',
  address: ({ fields }) => setting(fields, 'watsonx_url'),
  needsCredential: false,
  headers: (facts) => {
    const zen = zenKey(facts);
    return zen === null ? {} : { authorization: `ZenApiKey ${zen}` };
  },
  authentication: (facts) => (facts.credential === null || zenKey(facts) !== null ? null : exchanged(facts.credential)),
  fields: [
    {
      name: 'watsonx_url',
      required: true,
      about:
        'The address of the region, such as https://us-south.ml.cloud.ibm.com, or of an installation of one’s own.',
    },
    { name: 'watsonx_project_id', about: 'The project that pays; or watsonx_space_id.' },
    { name: 'watsonx_space_id', about: 'The space that pays, instead of a project.' },
    { name: 'watsonx_deployment_id', about: 'A deployment, which knows its model and who pays.' },
    { name: 'watsonx_api_version', about: 'The version of the API, as a date.' },
    { name: 'watsonx_zen_api_key', about: 'The key of an installation of one’s own (user and key, in base64).' },
  ],
  endpoints: {
    chatComplete: chat,
    complete: generation,
    embed: { path: textPath('embeddings'), translation: embeddings },
    rerank: { path: textPath('rerank'), translation: rerank },
    listModels: { path: modelsPath, translation: models },
  },
  notes: ['The API key is exchanged for a token that lives an hour.'],
};
