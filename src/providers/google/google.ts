/** Google's AI Studio: Gemini, Imagen and embeddings by an API key. */
import type { CallFacts, Provider } from '../provider.ts';
import { batchOutput, cancelBatch, createBatch, listBatches, retrieveBatch } from './batches.ts';
import { countTokens } from './count-tokens.ts';
import { drawing } from './drawing.ts';
import { embeddings } from './embeddings.ts';
import { geminiFamily } from './family.ts';
import { deleteFile, fileContent, listFiles, retrieveFile, uploadFile } from './files.ts';
import { imagen } from './imagen.ts';
import { geminiLive, requireModel } from './live/live.ts';
import { listedModels, oneModel } from './model-list.ts';
import { modelName } from './model-name.ts';
import { speech } from './speech.ts';

const version = '/v1beta';

const resourceOf = (model: string): string => modelName(model).split('/').map(encodeURIComponent).join('/');

const method =
  (name: string) =>
  ({ model }: CallFacts): string =>
    `${version}/${resourceOf(model)}:${name}`;

const generates = method('generateContent');
const generation = (facts: CallFacts): string =>
  facts.stream ? method('streamGenerateContent?alt=sse')(facts) : generates(facts);

const isImagen = ({ model }: CallFacts): boolean => model.includes('imagen');

export const google: Provider = {
  id: 'google',
  name: 'Google Gemini (AI Studio)',
  aliases: ['gemini'],
  address: 'https://generativelanguage.googleapis.com',
  // In a header: keys in addresses end up in logs.
  headers: ({ credential }): Record<string, string> => (credential === null ? {} : { 'x-goog-api-key': credential }),
  needsCredential: true,
  endpoints: {
    chatComplete: { path: generation, chat: geminiFamily('studio') },
    messagesCountTokens: { path: method('countTokens'), translation: countTokens('studio') },
    embed: { steps: embeddings(method('batchEmbedContents')) },
    imageGenerate: (facts) =>
      isImagen(facts)
        ? { path: method('predict'), translation: imagen }
        : { path: generates, steps: drawing(generates) },
    imageEdit: (facts) => (isImagen(facts) ? null : { path: generates, steps: drawing(generates) }),
    createSpeech: { path: generates, translation: speech },
    realtime: {
      path: (facts) => {
        requireModel(facts);
        return '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
      },
      query: () => '',
      realtime: geminiLive(({ model }) => ({ resource: modelName(model), labels: null })),
    },
    listModels: { path: `${version}/models?pageSize=1000`, translation: listedModels },
    retrieveModel: {
      path: ({ pathParams }) => `${version}/${resourceOf(pathParams.id ?? '')}`,
      translation: oneModel,
    },
    uploadFile: { path: `${version}/files`, steps: uploadFile },
    listFiles: { path: `${version}/files`, steps: listFiles },
    retrieveFile,
    deleteFile,
    retrieveFileContent: fileContent,
    createBatch: createBatch(method('batchGenerateContent')),
    retrieveBatch,
    listBatches: { path: `${version}/batches`, steps: listBatches },
    cancelBatch: { path: `${version}/batches`, steps: cancelBatch },
    getBatchOutput: { path: `${version}/batches`, steps: batchOutput },
  },
  notes: [
    'Thoughts are shown where answers need not be strict; a call’s `function.thought_signature` must come back with it.',
    'Images at web addresses are fetched by the gateway and sent inline; `files/…` ids and `gs://` addresses are passed on.',
    'Tools named google_search, url_context, code_execution, google_maps, computer_use or file_search are run by Google.',
    'Extra fields: safety_settings, cached_content, modalities, image_config, media_resolution, generation_config.',
    'Speech is wav or pcm, with the voices of Gemini.',
    'Realtime is Gemini Live in OpenAI’s events: PCM audio, the voices of Gemini, functions. What has no counterpart is answered with an error event that names it.',
    'A file uploaded for a batch is rewritten row by row; GET /batches/{id}/output answers with OpenAI’s rows.',
  ],
};
