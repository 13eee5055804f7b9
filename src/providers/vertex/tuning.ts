/** Fine-tuning of Vertex AI: supervised tuning jobs in OpenAI's form. */
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { tuningStatus } from '../job-states.ts';
import { objectIn, objectOf, present, secondsOf, textOf, wordOf } from '../json.ts';
import { listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { fileId } from '../stored-files.ts';
import { vertexModel } from './model.ts';
import { placeOf } from './place.ts';
import { isOwn, objectUri } from './storage.ts';

const jobs = (facts: CallFacts): string => `/v1/${placeOf(facts)}/tuningJobs`;
const job = (facts: CallFacts): string => `${jobs(facts)}/${encodeURIComponent(facts.pathParams.id ?? '')}`;

export const createFinetune: ProviderEndpoint = {
  path: jobs,
  translation: { request: writeJob, response: (answer) => readJob(objectOf(answer)) },
};

export const retrieveFinetune: ProviderEndpoint = {
  path: job,
  translation: { response: (answer, facts) => readJob(requireOwn(objectOf(answer), facts)) },
};

export const listFinetunes: Steps = (facts) =>
  listing(facts, jobs(facts), 'tuningJobs', (found) => (isOwnJob(found, facts) ? readJob(found) : null));

/** Cancelling answers nothing, so the job is looked at afterwards. */
export const cancelFinetune: Steps = function* (facts) {
  const [running] = yield { calls: [{ method: 'GET', path: job(facts) }] };
  requireOwn(objectIn(running?.bytes), facts);
  yield { calls: [{ method: 'POST', path: `${job(facts)}:cancel`, body: {} }] };
  const [found] = yield { calls: [{ method: 'GET', path: job(facts) }] };
  return readJob(objectIn(found?.bytes));
};

/** A job is the caller's when it was trained with the caller's file. */
const isOwnJob = ({ supervisedTuningSpec: spec }: JsonObject, facts: CallFacts): boolean =>
  isOwn(textOf(objectOf(spec).trainingDatasetUri) ?? '', facts);

function requireOwn(found: JsonObject, facts: CallFacts): JsonObject {
  if (isOwnJob(found, facts)) return found;
  throw new ProviderFault(404, 'there is no such fine-tuning job in this workspace');
}

function writeJob(facts: CallFacts): JsonObject {
  const body = new Fields(facts.body);
  const method = body.object('method');
  if (method && method.text('type') !== 'supervised') {
    throw new RequestFault('method.type', 'method.type must be supervised: Vertex AI tunes in no other way here');
  }
  const settings = method?.object('supervised')?.object('hyperparameters') ?? body.object('hyperparameters');
  const validation = body.text('validation_file');
  const hyperParameters = present({
    epochCount: chosen(settings, 'n_epochs'),
    learningRateMultiplier: chosen(settings, 'learning_rate_multiplier'),
    adapterSize: settings?.text('adapter_size'),
  });
  return present({
    baseModel: vertexModel(facts.model).name,
    supervisedTuningSpec: present({
      trainingDatasetUri: objectUri(body.needText('training_file'), 'training_file', facts),
      validationDatasetUri: validation === null ? null : objectUri(validation, 'validation_file', facts),
      hyperParameters: Object.keys(hyperParameters).length > 0 ? hyperParameters : null,
    }),
    tunedModelDisplayName: body.text('suffix'),
  });
}

/** What is left to the service is left out. */
const chosen = (settings: Fields | null, name: string): number | null =>
  settings === null || settings.json[name] === 'auto' ? null : settings.number(name);

function readJob(found: JsonObject): JsonObject {
  const spec = objectOf(found.supervisedTuningSpec);
  const { epochCount, learningRateMultiplier, adapterSize } = objectOf(spec.hyperParameters);
  const tuned = objectOf(found.tunedModel);
  const message = textOf(objectOf(found.error).message);
  const encoded = (uri: unknown): string | null => (typeof uri === 'string' ? fileId(uri) : null);
  return {
    id: textOf(found.name)?.split('/').at(-1) ?? '',
    object: 'fine_tuning.job',
    model: found.baseModel ?? null,
    created_at: secondsOf(found.createTime),
    finished_at: secondsOf(found.endTime),
    fine_tuned_model: textOf(tuned.endpoint)?.replace(/^.*\/endpoints\//, 'endpoints.') ?? tuned.model ?? null,
    organization_id: null,
    result_files: [],
    status: tuningStatus(found.state),
    training_file: encoded(spec.trainingDatasetUri),
    validation_file: encoded(spec.validationDatasetUri),
    hyperparameters: present({
      n_epochs: epochCount === undefined ? 'auto' : Number(epochCount),
      learning_rate_multiplier: learningRateMultiplier,
      adapter_size: adapterSize,
    }),
    trained_tokens: null,
    error: message === null ? null : { code: wordOf(objectOf(found.error).code ?? 'failed'), message, param: null },
  };
}
