/** Google's Vertex AI: Gemini and Imagen, Anthropic's, Mistral's and open models, in a project of the customer's. */
import { mistralChat } from '../compatible/mistral-ai.ts';
import { chat } from '../compatible/quirks/chat.ts';
import { countTokens } from '../google/count-tokens.ts';
import { drawing } from '../google/drawing.ts';
import { geminiFamily } from '../google/family.ts';
import { imagen } from '../google/imagen.ts';
import { labelsOf } from '../google/labels.ts';
import { geminiLive, requireModel } from '../google/live/live.ts';
import type { LivePlace } from '../google/live/setup.ts';
import { speech } from '../google/speech.ts';
import type { CallFacts, JsonObject, Provider, ProviderEndpoint } from '../provider.ts';
import { authentication, credentialHeaders } from './access.ts';
import { anthropicChat, anthropicCount, anthropicMessages } from './anthropic.ts';
import { batchOutput, cancelBatch, createBatch, listBatches, retrieveBatch } from './batches.ts';
import { embeddings } from './embeddings.ts';
import { vertexModel } from './model.ts';
import { modelList } from './model-list.ts';
import { modelMethod, modelResource, placeOf, vertexAddress } from './place.ts';
import { rerank } from './rerank.ts';
import { cloudSpeech } from './speech.ts';
import { fileContent, retrieveFile, uploadFile } from './storage.ts';
import { cloudTranscription } from './transcription.ts';
import { cancelFinetune, createFinetune, listFinetunes, retrieveFinetune } from './tuning.ts';

const generates = (facts: CallFacts): string => modelMethod(facts, 'generateContent');

/** Traffic of another tier than the usual is named in a header. */
function tierHeaders({ body }: CallFacts): Record<string, string> {
  const tier = body.service_tier;
  return tier === 'flex' || tier === 'priority' ? { 'x-vertex-ai-llm-shared-request-type': tier } : {};
}

const gemini: ProviderEndpoint = {
  path: (facts) => (facts.stream ? modelMethod(facts, 'streamGenerateContent?alt=sse') : generates(facts)),
  headers: tierHeaders,
  chat: geminiFamily('vertex'),
};

/** The publisher's own name for the model, without what tells us whose it is. */
const renamed = (body: Readonly<JsonObject>, { model }: CallFacts): Readonly<JsonObject> => {
  const { name } = vertexModel(model);
  return body.model === name ? body : { ...body, model: name };
};

const mistral = chat({
  path: (facts) => modelMethod(facts, facts.stream ? 'streamRawPredict' : 'rawPredict'),
  asks: [...mistralChat.asks, renamed],
  answers: mistralChat.answers,
});

const openModels = chat({
  path: (facts) => `/v1beta1/${placeOf(facts)}/endpoints/openapi/chat/completions`,
  asks: [renamed],
});

const deployed = chat({
  path: (facts) =>
    `/v1/${placeOf(facts)}/endpoints/${encodeURIComponent(vertexModel(facts.model).name)}/chat/completions`,
  asks: [renamed],
});

function chatting(facts: CallFacts): ProviderEndpoint {
  switch (vertexModel(facts.model).kind) {
    case 'google':
      return gemini;
    case 'anthropic':
      return anthropicChat;
    case 'mistralai':
      return mistral(facts);
    case 'open':
      return openModels(facts);
    case 'endpoint':
      return deployed(facts);
  }
}

/** What only Google's own models offer. */
const ofGoogle =
  (endpoint: (facts: CallFacts) => ProviderEndpoint) =>
  (facts: CallFacts): ProviderEndpoint | null =>
    vertexModel(facts.model).kind === 'google' ? endpoint(facts) : null;

const livePlace = (facts: CallFacts): LivePlace => ({
  resource: modelResource(facts),
  labels: labelsOf({ extras: {}, metadata: null }, facts),
});

const isImagen = ({ model }: CallFacts): boolean => /imagen|imagegeneration/.test(model);
const isGemini = ({ model }: CallFacts): boolean => model.includes('gemini');

export const vertex: Provider = {
  id: 'vertex-ai',
  name: 'Google Vertex AI',
  aliases: ['google-vertex-ai'],
  address: vertexAddress,
  headers: credentialHeaders,
  authentication,
  modelCalls: {
    POST: /:(?:(?:stream)?generateContent|(?:count|compute)Tokens|(?:stream)?rawPredict|predict(?:LongRunning)?|serverStreamingPredict|fetchPredictOperation|(?:batch)?embedContents?|rank|synthesize|recognize)$|\/endpoints\/openapi\/(?:chat\/completions|embeddings)$/i,
    GET: /\/publishers\/[^/]+\/models(?:\/[^/:]+)?$/,
  },
  storage: {
    jobs: /\/(?:batchPredictionJobs|tuningJobs|customJobs|pipelineJobs|trainingPipelines|hyperparameterTuningJobs|nasJobs|dataLabelingJobs)(?:[/:]|$)|\/cachedContents$/i,
    routes: '/v1/batches and /v1/fine_tuning/jobs',
  },
  needsCredential: false,
  fields: [
    {
      name: 'vertex_region',
      required: true,
      about: 'The region, such as us-central1; global, us and eu stand for many.',
    },
    { name: 'vertex_project_id', about: 'The project; a service account brings its own.' },
    {
      name: 'vertex_auth_type',
      about:
        'How to authenticate: with basic, the key is an access token or an API key; with a workload identity, the gateway is itself.',
    },
    { name: 'vertex_service_account_json', about: 'The file of a service account, as text or as an object.' },
    { name: 'vertex_map_metadata', about: 'true: the metadata of requests becomes labels on what is billed.' },
    { name: 'vertex_storage_bucket_name', about: 'The bucket of Cloud Storage for files, below gw/<workspace id>/.' },
    { name: 'anthropic_beta', about: 'Betas for Anthropic’s models, with commas between them.' },
  ],
  endpoints: {
    chatComplete: chatting,
    messages: (facts) => (vertexModel(facts.model).kind === 'anthropic' ? anthropicMessages(facts) : null),
    messagesCountTokens: (facts) => {
      const { kind } = vertexModel(facts.model);
      if (kind === 'anthropic') return anthropicCount;
      return kind === 'google' ? { path: modelMethod(facts, 'countTokens'), translation: countTokens('vertex') } : null;
    },
    embed: ofGoogle(() => ({ path: '/v1', steps: embeddings })),
    imageGenerate: ofGoogle((facts) =>
      isImagen(facts)
        ? { path: modelMethod(facts, 'predict'), translation: imagen }
        : { path: generates, steps: drawing(generates) },
    ),
    imageEdit: ofGoogle(() => ({ path: generates, steps: drawing(generates) })),
    createSpeech: (facts) => (isGemini(facts) ? { path: generates, translation: speech } : cloudSpeech),
    createTranscription: (facts) => (isGemini(facts) ? null : cloudTranscription),
    realtime: ofGoogle((facts) => {
      requireModel(facts);
      return {
        path: '/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent',
        query: () => '',
        realtime: geminiLive(livePlace),
      };
    }),
    rerank,
    listModels: { path: '/v1beta1', steps: modelList },
    uploadFile: { path: '/', steps: uploadFile },
    retrieveFile,
    retrieveFileContent: fileContent,
    createBatch,
    retrieveBatch,
    listBatches: { path: '/v1', steps: listBatches },
    cancelBatch: { path: '/v1', steps: cancelBatch },
    getBatchOutput: { path: '/v1', steps: batchOutput },
    createFinetune,
    retrieveFinetune,
    listFinetunes: { path: '/v1', steps: listFinetunes },
    cancelFinetune: { path: '/v1', steps: cancelFinetune },
  },
  notes: [
    'A model’s publisher stands before its name: anthropic.claude-…, mistralai.…, meta.…, endpoints.<id>; without one it is Google’s.',
    'The gateway’s own identity needs GCP_AUTH_MODE=workload or GCP_WIF_AUDIENCE in its environment.',
    'Files are objects of Cloud Storage: their ids are encoded gs:// addresses.',
    'Transcripts are made by Cloud Speech-to-Text: name one of its models, such as chirp_3. A recording may last one minute.',
    'Realtime is Gemini Live in OpenAI’s events; what has no counterpart is answered with an error event that names it.',
  ],
};
