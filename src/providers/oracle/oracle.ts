/** Oracle's OCI Generative AI. */
import type { ChatFamily } from '../chat/family.ts';
import type { Provider } from '../provider.ts';
import { readAnswer } from './answer.ts';
import { cohereRequest } from './cohere-request.ts';
import { action, address, served, signer } from './compartment.ts';
import { embeddings } from './embeddings.ts';
import { genericRequest } from './generic-request.ts';
import { OracleReader } from './reader.ts';

export const oracleFamily: ChatFamily = {
  request: (conversation, facts) => ({
    ...served(facts),
    chatRequest: conversation.model.startsWith('cohere.') ? cohereRequest(conversation) : genericRequest(conversation),
  }),
  response: (answer, { newId }) => readAnswer(answer, newId),
  reader: ({ newId }) => new OracleReader(newId),
};

export const oracle: Provider = {
  id: 'oracle',
  name: 'Oracle OCI Generative AI',
  aliases: ['oci'],
  address,
  needsCredential: false,
  headers: () => ({}),
  authentication: signer,
  fields: [
    { name: 'oracle_region', required: true, about: 'The region, such as us-chicago-1.' },
    { name: 'oracle_compartment_id', required: true, about: 'The compartment that pays.' },
    { name: 'oracle_tenancy', required: true, about: 'The OCID of the tenancy.' },
    { name: 'oracle_user', required: true, about: 'The OCID of the user whose key signs.' },
    { name: 'oracle_fingerprint', required: true, about: 'The fingerprint of that key.' },
    { name: 'oracle_private_key', required: true, about: 'The private key, as PEM; or the credential itself.' },
    { name: 'oracle_key_passphrase', about: 'The passphrase of the key, where it has one.' },
    {
      name: 'oracle_serving_mode',
      about: 'ON_DEMAND (the model is a model), or DEDICATED (the model is an endpoint).',
    },
    { name: 'oracle_api_version', about: 'The version of the API; 20231130 where it is absent.' },
  ],
  endpoints: {
    chatComplete: { path: action('chat'), chat: oracleFamily },
    embed: { path: action('embedText'), translation: embeddings },
  },
  notes: [
    'Answers are at most 4,000 tokens long where no limit is asked for: the service itself would stop after a few hundred.',
    'Models of cohere.* have a format of their own: no images, no choice of tools, and one answer a call.',
  ],
};
