/** Models and files in OpenAI's form. Anthropic's own clients, which say its version, get them as they are. */
import { countOf, objectOf, objectsOf, secondsOf } from '../json.ts';
import type { CallFacts, JsonObject, OfferedEndpoint, ProviderEndpoint } from '../provider.ts';
import { outputSteps } from './batches.ts';
import { listOfPage, mostPerPage, pageQuery } from './lists.ts';

const speaksNatively = ({ clientHeader }: CallFacts): boolean => clientHeader('anthropic-version') !== null;

/** The endpoint for clients of OpenAI's dialect; relayed untouched for others. */
const translatedFor =
  (endpoint: ProviderEndpoint): OfferedEndpoint =>
  (facts) =>
    speaksNatively(facts) ? {} : endpoint;

const modelOf = (model: JsonObject): JsonObject => ({
  id: model.id,
  object: 'model',
  created: secondsOf(model.created_at) ?? 0,
  owned_by: 'anthropic',
});

export const modelEndpoints = {
  listModels: translatedFor({
    query: () => `limit=${mostPerPage}`,
    translation: {
      response: (answer, { provider }) => ({
        object: 'list',
        data: objectsOf(objectOf(answer).data).map(modelOf),
        provider,
      }),
    },
  }),
  retrieveModel: translatedFor({ translation: { response: (answer) => modelOf(objectOf(answer)) } }),
};

/** What a model's tools have made can be read again; what was uploaded cannot. */
const fileOf = (file: JsonObject): JsonObject => ({
  id: file.id,
  object: 'file',
  bytes: countOf(file.size_bytes),
  created_at: secondsOf(file.created_at),
  filename: file.filename,
  purpose: file.downloadable === true ? 'assistants_output' : 'user_data',
  status: 'processed',
  mime_type: file.mime_type,
});

const fileTranslation = { response: (answer: unknown) => fileOf(objectOf(answer)) };

export const fileEndpoints = {
  uploadFile: translatedFor({ translation: fileTranslation }),
  listFiles: translatedFor({
    query: pageQuery,
    translation: { response: (answer) => listOfPage(answer, fileOf) },
  }),
  retrieveFile: translatedFor({ translation: fileTranslation }),
  deleteFile: translatedFor({
    translation: { response: (answer) => ({ id: objectOf(answer).id, object: 'file', deleted: true }) },
  }),
  /** The output of a batch is read under the id of the batch. */
  retrieveFileContent: ({ pathParams }: CallFacts): ProviderEndpoint =>
    pathParams.id?.startsWith('msgbatch_') ? { steps: outputSteps } : {},
};
