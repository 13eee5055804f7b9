/** Batches of Cohere are embed jobs: a dataset of texts becomes a dataset of vectors. */
import { embeddingsPath, outputRows } from '../batch-rows.ts';
import type { EndpointKind } from '../endpoints.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { batchAnswer } from '../job-states.ts';
import { objectOf, present, textOf } from '../json.ts';
import { listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { asked, polled } from '../stepping.ts';
import { datasetPath, datasetRows, embeddedRow, pageWords } from './datasets.ts';

const jobs = '/v1/embed-jobs';
const jobPath = (id: string): string => `${jobs}/${encodeURIComponent(id)}`;
const at = ({ pathParams }: CallFacts): string => jobPath(pathParams.id ?? '');

const states: Readonly<Record<string, string>> = {
  processing: 'RUNNING',
  complete: 'SUCCEEDED',
  failed: 'FAILED',
  cancelling: 'CANCELLING',
  cancelled: 'CANCELLED',
};

/** How many rows a job has, and when it ended, is not told. */
const readJob = (job: JsonObject): JsonObject =>
  batchAnswer({
    id: textOf(job.job_id) ?? '',
    state: states[textOf(job.status) ?? ''],
    endpoint: embeddingsPath,
    inputFileId: textOf(job.input_dataset_id),
    outputFileId: textOf(job.output_dataset_id),
    created: job.created_at,
    started: job.created_at,
    ended: null,
    counts: { total: 0, completed: 0, failed: 0 },
    error: null,
  });

function writeJob(facts: CallFacts): JsonObject {
  const body = new Fields(facts.body);
  if (facts.model === '') throw new RequestFault('model', 'model is missing: a batch here is one model’s');
  const endpoint = body.text('endpoint') ?? embeddingsPath;
  if (endpoint !== embeddingsPath) {
    throw new RequestFault('endpoint', `endpoint must be ${embeddingsPath}: Cohere’s batches embed only`);
  }
  const options = body.object('provider_options');
  return present({
    model: facts.model,
    dataset_id: body.needText('input_file_id'),
    input_type: body.text('input_type') ?? options?.text('input_type') ?? 'search_document',
    name: body.text('job_name'),
    embedding_types: ['float'],
    truncate: body.text('truncate') ?? options?.text('truncate'),
  });
}

/** A dataset is looked at before it can be used, which takes a while after the upload. */
function validated({ dataset }: JsonObject): JsonObject | null {
  const { validation_status, validation_error } = objectOf(dataset);
  if (validation_status === 'failed') {
    throw new ProviderFault(400, textOf(validation_error) ?? 'the dataset was refused', { param: 'input_file_id' });
  }
  return validation_status === 'validated' || validation_status === 'skipped' ? objectOf(dataset) : null;
}

const createBatch: Steps = function* (facts) {
  const body = writeJob(facts);
  yield* polled({ method: 'GET', path: datasetPath(textOf(body.dataset_id) ?? '') }, validated);
  const { job_id } = yield* asked({ method: 'POST', path: jobs, body });
  return readJob(yield* asked({ method: 'GET', path: jobPath(textOf(job_id) ?? '') }));
};

/** Cancelling answers nothing, so the job is looked at afterwards. */
const cancelBatch: Steps = function* (facts) {
  yield { calls: [{ method: 'POST', path: `${at(facts)}/cancel`, body: {} }] };
  return readJob(yield* asked({ method: 'GET', path: at(facts) }));
};

const batchOutput: Steps = function* (facts) {
  const job = yield* asked({ method: 'GET', path: at(facts) });
  const output = textOf(job.output_dataset_id);
  if (job.status !== 'complete' || output === null) {
    throw new ProviderFault(409, `the batch has no output: it is ${textOf(job.status) ?? 'unknown'}`);
  }
  const rows = yield* datasetRows(output);
  const answered: CallFacts = { ...facts, model: textOf(job.model) ?? facts.model };
  return outputRows(rows.map((row) => embeddedRow(row, answered)));
};

export const batchEndpoints = {
  createBatch: { steps: createBatch },
  listBatches: { steps: (facts) => listing(facts, jobs, 'embed_jobs', readJob, pageWords) },
  retrieveBatch: { path: at, translation: { response: (answer) => readJob(objectOf(answer)) } },
  cancelBatch: { steps: cancelBatch },
  getBatchOutput: { steps: batchOutput },
} satisfies Partial<Record<EndpointKind, ProviderEndpoint>>;
