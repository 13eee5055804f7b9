/** The whole of OpenAI's REST API beside chat: every route answers with an object of the form that the real one sends. */
import { type Behaviour, bytes, json, type ReceivedCall } from './simulated.ts';

const created = 1_760_000_000;

export const vector = [0.0123, -0.25, 0.5, 1];
const vectorBytes = Buffer.from(new Float32Array(vector).buffer);

const embeddings = ({ json: body }: ReceivedCall) => ({
  object: 'list',
  data: [
    {
      object: 'embedding',
      index: 0,
      embedding: body.encoding_format === 'base64' ? vectorBytes.toString('base64') : vector,
    },
  ],
  model: body.model,
  usage: { prompt_tokens: 8, total_tokens: 8 },
});

export const moderation = {
  id: 'modr-1',
  model: 'omni-moderation-latest',
  results: [
    {
      flagged: true,
      categories: { violence: true, 'violence/graphic': false },
      category_scores: { violence: 0.93, 'violence/graphic': 0.01 },
      category_applied_input_types: { violence: ['text'], 'violence/graphic': ['text'] },
    },
  ],
};

export const images = {
  created,
  background: 'opaque',
  data: [{ b64_json: Buffer.from('a picture').toString('base64') }],
  output_format: 'png',
  quality: 'low',
  size: '1024x1024',
  usage: {
    input_tokens: 50,
    input_tokens_details: { image_tokens: 40, text_tokens: 10 },
    output_tokens: 272,
    total_tokens: 322,
  },
};

/** Every byte value, so that any change of encoding would show. */
export const speech = Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 31) % 256));
export const transcription = { text: 'Hello there.', usage: { type: 'duration', seconds: 3 } };
export const translation = { text: 'Good day.' };

export const file = {
  id: 'file-1',
  object: 'file',
  bytes: 140,
  created_at: created,
  expires_at: null,
  filename: 'rows.jsonl',
  purpose: 'batch',
  status: 'processed',
  status_details: null,
};
export const fileContent = Buffer.from([0, 255, 254, 13, 10, 0, 128, ...speech.subarray(0, 512)]);

export const batch = {
  id: 'batch_1',
  object: 'batch',
  endpoint: '/v1/chat/completions',
  errors: null,
  input_file_id: 'file-1',
  completion_window: '24h',
  status: 'validating',
  output_file_id: null,
  error_file_id: null,
  created_at: created,
  in_progress_at: null,
  expires_at: created + 86_400,
  finalizing_at: null,
  completed_at: null,
  failed_at: null,
  expired_at: null,
  cancelling_at: null,
  cancelled_at: null,
  request_counts: { total: 0, completed: 0, failed: 0 },
  metadata: { team: 'search' },
};

export const job = {
  object: 'fine_tuning.job',
  id: 'ftjob-1',
  model: 'gpt-4o-mini-2024-07-18',
  created_at: created,
  finished_at: null,
  fine_tuned_model: null,
  organization_id: 'org-1',
  result_files: [],
  status: 'queued',
  validation_file: null,
  training_file: 'file-1',
  hyperparameters: { n_epochs: 'auto' },
  trained_tokens: null,
  error: null,
  seed: 7,
  estimated_finish: null,
  integrations: [],
};

export const model = { id: 'gpt-4o-mini', object: 'model', created, owned_by: 'system' };
export const assistant = { id: 'asst_1', object: 'assistant', created_at: created, name: 'Tutor', model: 'gpt-4o' };
export const thread = { id: 'thread_1', object: 'thread', created_at: created, metadata: {}, tool_resources: {} };
export const run = { id: 'run_1', object: 'thread.run', thread_id: 'thread_1', status: 'queued' };
export const store = { id: 'vs_1', object: 'vector_store', created_at: created, name: 'Papers', status: 'completed' };
export const storeFile = { id: 'file-1', object: 'vector_store.file', vector_store_id: 'vs_1', status: 'completed' };

const list = (item: { id: string }) => ({
  object: 'list',
  data: [item],
  first_id: item.id,
  last_id: item.id,
  has_more: false,
});
const gone = (id: string, object: string) => ({ id, object, deleted: true });
const binary = (body: Buffer, type: string) => bytes(200, body, { 'content-type': type });

const routes: Record<string, Behaviour | undefined> = {
  'POST /embeddings': (call, response) => json(200, embeddings(call))(call, response),
  'POST /moderations': json(200, moderation),
  'POST /images/generations': json(200, images),
  'POST /images/edits': json(200, images),
  'POST /images/variations': json(200, images),
  'POST /audio/speech': binary(speech, 'audio/mpeg'),
  'POST /audio/transcriptions': json(200, transcription),
  'POST /audio/translations': json(200, translation),
  'POST /files': json(200, file),
  'GET /files': json(200, list(file)),
  'GET /files/file-1': json(200, file),
  'GET /files/file-1/content': binary(fileContent, 'application/octet-stream'),
  'DELETE /files/file-1': json(200, gone('file-1', 'file')),
  'POST /batches': json(200, batch),
  'GET /batches': json(200, list(batch)),
  'GET /batches/batch_1': json(200, batch),
  'GET /batches/batch_done': json(200, { ...batch, id: 'batch_done', status: 'completed', output_file_id: 'file-1' }),
  'POST /batches/batch_1/cancel': json(200, { ...batch, status: 'cancelling' }),
  'POST /fine_tuning/jobs': json(200, job),
  'GET /fine_tuning/jobs': json(200, { object: 'list', data: [job], has_more: false }),
  'GET /fine_tuning/jobs/ftjob-1': json(200, job),
  'POST /fine_tuning/jobs/ftjob-1/cancel': json(200, { ...job, status: 'cancelled' }),
  'GET /fine_tuning/jobs/ftjob-1/events': json(200, { object: 'list', data: [], has_more: false }),
  'GET /models': json(200, { object: 'list', data: [model] }),
  'GET /models/gpt-4o-mini': json(200, model),
  'DELETE /models/ft:gpt-4o-mini:org::1': json(200, gone('ft:gpt-4o-mini:org::1', 'model')),
  'POST /assistants': json(200, assistant),
  'GET /assistants/asst_1': json(200, assistant),
  'DELETE /assistants/asst_1': json(200, gone('asst_1', 'assistant.deleted')),
  'POST /threads': json(200, thread),
  'POST /threads/thread_1/runs': json(200, run),
  'POST /vector_stores': json(200, store),
  'GET /vector_stores': json(200, list(store)),
  'POST /vector_stores/vs_1/files': json(200, storeFile),
};

const unknown: Behaviour = (call, response) =>
  json(404, {
    error: {
      message: `Invalid URL (${call.method} ${call.path})`,
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
  })(call, response);

/** Answers every route of the API; a path that it does not have is its own 404. */
export const openAiApi: Behaviour = (call, response) => {
  const [path = ''] = call.path.replace(/^\/v1/, '').split('?', 1);
  const answer = routes[`${call.method} ${decodeURIComponent(path)}`] ?? unknown;
  return answer(call, response);
};
