/** Fine-tuning of Fireworks: supervised jobs in OpenAI's form. */
import type { EndpointKind } from '../endpoints.ts';
import { RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { objectOf, present, secondsOf, textOf } from '../json.ts';
import { listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { asked } from '../stepping.ts';
import { accountPath, bareId, resourceName } from './fireworks-account.ts';

const kind = 'supervisedFineTuningJobs';
const at = (facts: CallFacts): string => accountPath(facts, kind, facts.pathParams.id ?? '');

const createFinetune = (fullName: (model: string) => string): ProviderEndpoint => ({
  path: (facts) => accountPath(facts, kind),
  translation: {
    request: (facts) => writeJob(facts, fullName),
    response: (answer) => readJob(objectOf(answer)),
  },
});

const retrieveFinetune: ProviderEndpoint = {
  path: at,
  translation: { response: (answer) => readJob(objectOf(answer)) },
};

const listFinetunes: Steps = (facts) => listing(facts, accountPath(facts, kind), kind, readJob);

/** A job is cancelled by deleting it, after which nothing can be read of it. */
const cancelFinetune: Steps = function* (facts) {
  const job = readJob(yield* asked({ method: 'GET', path: at(facts) }));
  yield { calls: [{ method: 'DELETE', path: at(facts) }] };
  return { ...job, status: 'cancelled' };
};

function writeJob(facts: CallFacts, fullName: (model: string) => string): JsonObject {
  const body = new Fields(facts.body);
  const method = body.object('method');
  if (method && method.text('type') !== 'supervised') {
    throw new RequestFault('method.type', 'method.type must be supervised: Fireworks tunes in no other way here');
  }
  const settings = method?.object('supervised')?.object('hyperparameters') ?? body.object('hyperparameters');
  refuseOtherScales(settings);
  const dataset = (id: string | null): string | null => (id === null ? null : resourceName(facts, 'datasets', id));
  const suffix = body.text('suffix');
  return present({
    displayName: body.text('job_name'),
    dataset: dataset(body.needText('training_file')),
    evaluationDataset: dataset(body.text('validation_file')),
    baseModel: fullName(facts.model),
    outputModel: suffix === null ? null : resourceName(facts, 'models', suffix),
    epochs: chosen(settings, 'n_epochs'),
    learningRate: chosen(settings, 'learning_rate'),
    loraRank: chosen(settings, 'lora_rank'),
    wandbConfig: wandbOf(body),
    ...body.raw('provider_options'),
  });
}

/** What is left to the service is left out. */
const chosen = (settings: Fields | null, name: string): number | null =>
  settings === null || settings.json[name] === 'auto' ? null : settings.number(name);

/** OpenAI's figures for these are on another scale than Fireworks'. */
const otherScales: Readonly<Record<string, string>> = {
  learning_rate_multiplier: 'give the rate itself, as learning_rate',
  batch_size: 'it is counted in tokens there: give it as provider_options.batchSize',
};

function refuseOtherScales(settings: Fields | null): void {
  for (const [name, instead] of Object.entries(otherScales)) {
    if (settings && chosen(settings, name) !== null)
      throw new RequestFault(settings.at(name), `Fireworks has no ${name}: ${instead}`);
  }
}

function wandbOf(body: Fields): JsonObject | null {
  const given = (body.objects('integrations') ?? []).find(({ json }) => json.type === 'wandb')?.object('wandb');
  if (!given) return null;
  return present({
    enabled: true,
    project: given.text('project'),
    entity: given.text('entity'),
    runId: given.text('name'),
  });
}

const states: Readonly<Record<string, string>> = {
  VALIDATING: 'queued',
  PENDING: 'queued',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  EXPIRED: 'failed',
  CANCELLED: 'cancelled',
  DELETING: 'cancelled',
};

function readJob(job: JsonObject): JsonObject {
  const status = states[(textOf(job.state) ?? '').replace(/^JOB_STATE_/, '')] ?? 'running';
  const { code, message } = objectOf(job.status);
  const fileOf = (name: unknown): string | null => (textOf(name) ? bareId(name) : null);
  return {
    id: bareId(job.name),
    object: 'fine_tuning.job',
    model: job.baseModel ?? null,
    created_at: secondsOf(job.createTime),
    finished_at: secondsOf(job.completedTime),
    fine_tuned_model: status === 'succeeded' ? (job.outputModel ?? null) : null,
    organization_id: null,
    result_files: [],
    status,
    training_file: fileOf(job.dataset),
    validation_file: fileOf(job.evaluationDataset),
    hyperparameters: present({
      n_epochs: job.epochs ?? 'auto',
      learning_rate: job.learningRate,
      lora_rank: job.loraRank,
    }),
    trained_tokens: null,
    error: status === 'failed' ? { code: textOf(code) ?? 'failed', message: textOf(message) ?? '', param: null } : null,
  };
}

export const tuningEndpoints = (fullName: (model: string) => string) =>
  ({
    createFinetune: createFinetune(fullName),
    listFinetunes: { steps: listFinetunes },
    retrieveFinetune,
    cancelFinetune: { steps: cancelFinetune },
  }) satisfies Partial<Record<EndpointKind, ProviderEndpoint>>;
