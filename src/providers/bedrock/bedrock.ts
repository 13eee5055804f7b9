/** Amazon Bedrock: models of many vendors behind one service. */
import { awsAddress, awsAuthentication, awsFields, awsHeaders } from '../aws/access.ts';
import type { CallFacts, Provider, ProviderEndpoint } from '../provider.ts';
import { batchOutput, cancelBatch, createBatch, listBatches, retrieveBatch } from './batches.ts';
import { completions } from './completions.ts';
import { converse } from './converse.ts';
import { countTokens } from './count-tokens.ts';
import { embed } from './embeddings.ts';
import { images } from './images.ts';
import { knownName, modelOf, modelPath } from './model.ts';
import { model, models } from './models.ts';
import { native } from './native.ts';
import { profileDiscovery } from './profiles.ts';
import { rerank } from './rerank.ts';
import { fileContent, retrieveFile, storageAuthentication, uploadFile } from './storage.ts';
import { cancelFinetune, createFinetune, listFinetunes, retrieveFinetune } from './tuning.ts';

const chat: ProviderEndpoint = {
  path: (facts) => modelPath(facts, facts.stream ? 'converse-stream' : 'converse'),
  chat: converse,
  framing: 'aws',
};

/** A compressed stream of events is held back until it is worth compressing. */
const uncompressed = ({ stream }: CallFacts): Record<string, string> =>
  stream ? { 'accept-encoding': 'identity' } : {};

/** Files are objects of S3. */
const isFile = ({ kind }: CallFacts): boolean => kind === 'retrieveFile' || kind === 'retrieveFileContent';

export const bedrock: Provider = {
  id: 'bedrock',
  name: 'AWS Bedrock',
  aliases: ['aws-bedrock'],
  address: (facts) => awsAddress('bedrock-runtime', facts),
  headers: (facts) => ({ ...uncompressed(facts), ...awsHeaders(facts) }),
  authentication: (facts) => (isFile(facts) ? storageAuthentication(facts) : awsAuthentication(facts, 'bedrock')),
  modelCalls: {
    POST: /\/model\/[^/]+\/(?:invoke|converse|invoke-with-response-stream|converse-stream|count-tokens)$|\/chat\/completions$/,
    GET: /\/(?:foundation-models|inference-profiles)(?:\/[^/]+)?$/,
  },
  storage: {
    jobs: /\/(?:model-(?:invocation|customization|import|copy|evaluation)-jobs?|evaluation-jobs?|async-invoke|advanced-prompt-optimization-jobs?)(?:\/|$)/i,
    routes: '/v1/batches and /v1/fine_tuning/jobs',
  },
  needsCredential: false,
  fields: [
    ...awsFields,
    {
      name: 'foundation_model',
      about:
        'The model behind a provisioned or an imported model, whose ARN does not tell it; or behind an application inference profile, where the gateway may not ask for it.',
    },
    { name: 'aws_s3_bucket', about: 'The bucket that files are uploaded to, below gw/<workspace id>/.' },
    { name: 'aws_s3_object_key', about: 'The name of the next upload; the name of the file where none is given.' },
    { name: 'aws_bedrock_model', about: 'The model that uploaded rows of a batch are written for.' },
    { name: 'aws_server_side_encryption', about: 'How uploads are encrypted at rest: AES256 or aws:kms.' },
    { name: 'aws_server_side_encryption_kms_key_id', about: 'The key of KMS for uploads and the output of batches.' },
    { name: 'anthropic_beta', about: 'Betas of Claude, separated by commas.' },
  ],
  endpoints: {
    chatComplete: chat,
    messages: (facts) => (modelOf(facts).claude ? native : null),
    messagesCountTokens: countTokens,
    complete: completions,
    embed: { steps: embed },
    rerank,
    imageGenerate: images,
    imageEdit: images,
    imageVariation: images,
    listModels: models,
    retrieveModel: model,
    uploadFile: { steps: uploadFile },
    retrieveFile,
    retrieveFileContent: fileContent,
    createBatch: { steps: createBatch },
    retrieveBatch,
    listBatches: { steps: listBatches },
    cancelBatch: { steps: cancelBatch },
    getBatchOutput: { steps: batchOutput },
    createFinetune: { steps: createFinetune },
    retrieveFinetune,
    listFinetunes: { steps: listFinetunes },
    cancelFinetune: { steps: cancelFinetune },
  },
  discovers: profileDiscovery,
  billedModel: knownName,
  notes: [
    'A model is named by its id, by an inference profile such as eu.anthropic.claude-sonnet-4-5-20250929-v1:0, or by an ARN; the region of an ARN counts for more than aws_region.',
    'The model behind an application inference profile is asked for (bedrock:GetInferenceProfile), once a day for each, and decides how the call is written and what it costs. Without that right, name it as foundation_model.',
    'Files lie in S3: their ids are s3:// addresses, encoded. They cannot be listed or deleted here. A batch needs role_arn, and rows for one model.',
    'A custom host stands for all of the services that Bedrock consists of, and for S3.',
  ],
};
