/** The data plane's part of the OpenAPI document, made from the table that its router uses. */
import {
  type DocumentPart,
  type HttpMethod,
  type MediaContent,
  type OpenApiOperation,
  operationIdFor,
  type Parameter,
  schemaReference,
  templateOf,
} from '../../http/openapi-document.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { scopesFor } from '../request/identify.ts';
import { type DeclaredRoute, declaredRoutes, type GatewayRoute } from '../request/routes.ts';
import { gatewaySchemas } from './schemas.ts';

interface Described {
  tag: string;
  summary: string;
  /** The schemas of body and answer, by name. */
  takes?: string;
  answers: string | 'bytes' | 'socket';
  /** `stream: true` answers with events. */
  streams?: true;
}

const inference = 'Inference';
const media = 'Images and audio';
const responses = 'Stored responses';
const models = 'Models';
const files = 'Files and batches';
const tuning = 'Fine-tuning';
const prompts = 'Saved prompts';

const described: Partial<Record<EndpointKind, Described>> = {
  chatComplete: {
    tag: inference,
    summary: 'Create a chat completion',
    takes: 'ChatCompletionRequest',
    answers: 'ChatCompletion',
    streams: true,
  },
  complete: {
    tag: inference,
    summary: 'Create a completion',
    takes: 'CompletionRequest',
    answers: 'Completion',
    streams: true,
  },
  createModelResponse: {
    tag: inference,
    summary: 'Create a response',
    takes: 'ResponseRequest',
    answers: 'ModelResponse',
    streams: true,
  },
  messages: {
    tag: inference,
    summary: 'Create a message, in Anthropic’s dialect',
    takes: 'MessagesRequest',
    answers: 'AnthropicMessage',
    streams: true,
  },
  messagesCountTokens: {
    tag: inference,
    summary: 'Count the tokens of a message',
    takes: 'MessagesRequest',
    answers: 'TokenCount',
  },
  embed: { tag: inference, summary: 'Create embeddings', takes: 'EmbeddingRequest', answers: 'EmbeddingList' },
  rerank: { tag: inference, summary: 'Rank documents by a query', takes: 'RerankRequest', answers: 'RerankResult' },
  moderate: { tag: inference, summary: 'Moderate content', takes: 'ModerationRequest', answers: 'ModerationResult' },
  ocr: { tag: inference, summary: 'Read the text of a document', takes: 'OcrRequest', answers: 'OcrResult' },
  realtime: { tag: inference, summary: 'Open a realtime session over a WebSocket', answers: 'socket' },
  imageGenerate: { tag: media, summary: 'Create images', takes: 'ImageRequest', answers: 'ImageList' },
  imageEdit: { tag: media, summary: 'Edit an image', takes: 'ImageForm', answers: 'ImageList' },
  imageVariation: { tag: media, summary: 'Create variations of an image', takes: 'ImageForm', answers: 'ImageList' },
  createSpeech: { tag: media, summary: 'Create speech', takes: 'SpeechRequest', answers: 'bytes' },
  createTranscription: { tag: media, summary: 'Transcribe sound', takes: 'AudioForm', answers: 'Transcript' },
  createTranslation: { tag: media, summary: 'Translate sound into English', takes: 'AudioForm', answers: 'Transcript' },
  getModelResponse: { tag: responses, summary: 'Read a stored response', answers: 'ModelResponse' },
  deleteModelResponse: { tag: responses, summary: 'Delete a stored response', answers: 'Deleted' },
  listResponseInputItems: { tag: responses, summary: 'List the input of a stored response', answers: 'ModelResponse' },
  listModels: { tag: models, summary: 'List the models that this key can use', answers: 'ModelList' },
  retrieveModel: { tag: models, summary: 'Read a model', answers: 'Model' },
  deleteModel: { tag: models, summary: 'Delete a model that was tuned', answers: 'Deleted' },
  uploadFile: { tag: files, summary: 'Upload a file', takes: 'FileForm', answers: 'File' },
  listFiles: { tag: files, summary: 'List files', answers: 'FileList' },
  retrieveFile: { tag: files, summary: 'Read a file’s entry', answers: 'File' },
  deleteFile: { tag: files, summary: 'Delete a file', answers: 'Deleted' },
  retrieveFileContent: { tag: files, summary: 'Read a file', answers: 'bytes' },
  createBatch: { tag: files, summary: 'Create a batch', takes: 'BatchRequest', answers: 'Batch' },
  listBatches: { tag: files, summary: 'List batches', answers: 'BatchList' },
  retrieveBatch: { tag: files, summary: 'Read a batch', answers: 'Batch' },
  cancelBatch: { tag: files, summary: 'Cancel a batch', answers: 'Batch' },
  getBatchOutput: { tag: files, summary: 'Read the answers of a batch', answers: 'bytes' },
  createFinetune: { tag: tuning, summary: 'Create a fine-tuning job', takes: 'FineTuneRequest', answers: 'FineTune' },
  listFinetunes: { tag: tuning, summary: 'List fine-tuning jobs', answers: 'FineTuneList' },
  retrieveFinetune: { tag: tuning, summary: 'Read a fine-tuning job', answers: 'FineTune' },
  cancelFinetune: { tag: tuning, summary: 'Cancel a fine-tuning job', answers: 'FineTune' },
};

const ofPrompt: Record<NonNullable<GatewayRoute['prompt']>, Described> = {
  render: {
    tag: prompts,
    summary: 'Render a saved prompt with its variables',
    takes: 'PromptRequest',
    answers: 'RenderedPrompt',
  },
  complete: {
    tag: prompts,
    summary: 'Run a saved prompt',
    takes: 'PromptRequest',
    answers: 'ChatCompletion',
    streams: true,
  },
};

/** Headers of ours that every call may carry; docs/gateway.md has all of them. */
const headers: Parameter[] = [
  ['x-gw-provider', 'The provider: `@slug` of a saved one, or its name beside a credential'],
  ['x-gw-config', 'The slug of a saved config, or a config as JSON'],
  ['x-gw-metadata', 'A JSON object of texts, kept with the log'],
  ['x-gw-trace-id', 'Groups the calls of one trace'],
].map(([name = '', description]) => ({
  name,
  in: 'header',
  required: false,
  ...(description && { description }),
  schema: { type: 'string' },
}));

export const gatewayDocument = (): DocumentPart => ({
  operations: declaredRoutes.map(({ method, path, route, aliases }) => ({
    method: method.toLowerCase() as HttpMethod,
    path: templateOf(`/v1${path}`),
    operation: operationOf(method, path, route, aliases),
  })),
  schemas: gatewaySchemas,
  responses: {
    GatewayRefused: {
      description:
        'The gateway refused, with a code of its own, or the provider did, in its own words. On `/messages` errors have Anthropic’s form.',
      content: { 'application/json': { schema: schemaReference('GatewayError') } },
    },
  },
});

function operationOf(method: string, path: string, route: GatewayRoute, aliases: DeclaredRoute['aliases']) {
  const about = route.prompt ? ofPrompt[route.prompt] : described[route.kind];
  if (!about) throw new Error(`No description of ${method} ${path}`);
  const parameters = [...path.matchAll(/:(\w+)/g)].map(
    ([, name = '']): Parameter => ({ name, in: 'path', required: true, schema: { type: 'string', minLength: 1 } }),
  );
  const operation: OpenApiOperation = {
    operationId: operationIdFor(method, path),
    tags: [about.tag],
    summary: about.summary,
    parameters: [...parameters, ...headers],
    ...(about.takes && { requestBody: { required: !route.prompt, content: bodyOf(about.takes, route) } }),
    responses: {
      200: { description: 'The provider’s answer.', content: contentOf(about) },
      default: { $ref: '#/components/responses/GatewayRefused' },
    },
    security: [{ apiKey: [] }, { bearer: [] }],
    'x-aliases': aliases.map((alias) => templateOf(`/v1${alias}`)),
    'x-callers': ['workspace-key', 'user-key'],
    'x-scope': [...scopesFor(route)],
    'x-level': 'workspace',
  };
  return operation;
}

const isForm = (schema: string): boolean => schema.endsWith('Form');

const bodyOf = (schema: string, { body }: GatewayRoute): MediaContent => ({
  [isForm(schema) || body === 'form' ? 'multipart/form-data' : 'application/json']: { schema: schemaReference(schema) },
});

function contentOf({ answers, streams }: Described): MediaContent {
  if (answers === 'socket') return {};
  if (answers === 'bytes') return { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  return {
    'application/json': { schema: schemaReference(answers) },
    ...(streams && { 'text/event-stream': { schema: { type: 'string' } } }),
  };
}
