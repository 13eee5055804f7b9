/** Fine-tuning of Bedrock: customization jobs in OpenAI's form. */
import { awsAddress } from '../aws/access.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { objectOf, objectsOf, present, secondsOf, textOf, wordOf } from '../json.ts';
import { awsWords, listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { asked } from '../stepping.ts';
import { decoded, fileId } from '../stored-files.ts';
import { isOwn, objectUri } from './storage.ts';

const jobs = (facts: CallFacts): string => `${awsAddress('bedrock', facts)}/model-customization-jobs`;

/** Ids are ARNs, encoded; the route has decoded them once. */
const job = (facts: CallFacts): string => jobAt(facts, decoded(facts.pathParams.id ?? ''));
const jobAt = (facts: CallFacts, arn: string): string => `${jobs(facts)}/${encodeURIComponent(arn)}`;

export const createFinetune: Steps = function* (facts) {
  const created = yield* asked({ method: 'POST', path: jobs(facts), body: writeJob(facts) });
  return readJob(yield* asked({ method: 'GET', path: jobAt(facts, textOf(created.jobArn) ?? '') }));
};

export const retrieveFinetune: ProviderEndpoint = {
  path: job,
  translation: { response: (answer, facts) => readJob(requireOwn(objectOf(answer), facts)) },
};

/** Summaries do not say which file a job was trained with: where that decides whose it is, each job is looked at. */
export const listFinetunes: Steps = (facts) =>
  listing(
    facts,
    jobs(facts),
    'modelCustomizationJobSummaries',
    (found) => (facts.storage() === null || isOwnJob(found, facts) ? readJob(found) : null),
    awsWords,
    facts.storage() === null ? null : ({ jobArn }) => jobAt(facts, textOf(jobArn) ?? ''),
  );

/** Stopping answers nothing, so the job is looked at afterwards. */
export const cancelFinetune: Steps = function* (facts) {
  requireOwn(yield* asked({ method: 'GET', path: job(facts) }), facts);
  yield { calls: [{ method: 'POST', path: `${job(facts)}/stop`, body: {} }] };
  return readJob(yield* asked({ method: 'GET', path: job(facts) }));
};

function writeJob(facts: CallFacts): JsonObject {
  const body = new Fields(facts.body);
  const options = body.object('provider_options');
  const said = (name: string): string | null => body.text(name) ?? options?.text(name) ?? null;
  const need = (name: string): string => said(name) ?? missing(name);
  const method = body.object('method');
  if (method && method.text('type') !== 'supervised') {
    throw new RequestFault('method.type', 'method.type must be supervised: Bedrock tunes in no other way here');
  }
  const settings = method?.object('supervised')?.object('hyperparameters') ?? body.object('hyperparameters');
  const hyperParameters = hyperParametersOf(settings);
  const validation = body.text('validation_file');
  const training = objectUri(body.needText('training_file'), 'training_file', facts);
  const name = said('job_name') ?? facts.newId('tuning-');
  return present({
    baseModelIdentifier: facts.model || need('model'),
    customizationType: 'FINE_TUNING',
    jobName: name,
    customModelName: said('suffix') ?? name,
    roleArn: need('role_arn'),
    trainingDataConfig: { s3Uri: training },
    validationDataConfig:
      validation === null ? null : { validators: [{ s3Uri: objectUri(validation, 'validation_file', facts) }] },
    outputDataConfig: { s3Uri: outputOf(said('output_file'), training, facts) },
    hyperParameters: Object.keys(hyperParameters).length > 0 ? hyperParameters : null,
  });
}

/** A job is the caller's when it was trained with the caller's file. */
const isOwnJob = (found: JsonObject, facts: CallFacts): boolean =>
  isOwn(textOf(objectOf(found.trainingDataConfig).s3Uri) ?? '', facts);

function requireOwn(found: JsonObject, facts: CallFacts): JsonObject {
  if (isOwnJob(found, facts)) return found;
  throw new ProviderFault(404, 'there is no such fine-tuning job in this workspace');
}

function missing(name: string): never {
  throw new RequestFault(name, `${name} is missing`);
}

const outputOf = (asked: string | null, training: string, facts: CallFacts): string =>
  asked === null ? training.slice(0, training.lastIndexOf('/') + 1) : objectUri(asked, 'output_file', facts);

const hyperNames: Readonly<Record<string, string>> = {
  n_epochs: 'epochCount',
  learning_rate_multiplier: 'learningRateMultiplier',
  learning_rate: 'learningRate',
  batch_size: 'batchSize',
};

/** Bedrock wants them as text; what is left to the service is left out. */
const hyperParametersOf = (settings: Fields | null): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hyperNames).flatMap(([name, own]) => {
      const value = settings?.json[name];
      return value === undefined || value === null || value === 'auto' ? [] : [[own, wordOf(value)]];
    }),
  );

const states: ReadonlyMap<string, string> = new Map(
  Object.entries({
    InProgress: 'running',
    Stopping: 'running',
    Completed: 'succeeded',
    Failed: 'failed',
    Stopped: 'cancelled',
  }),
);

function readJob(found: JsonObject): JsonObject {
  const hyper = objectOf(found.hyperParameters);
  const [validator] = objectsOf(objectOf(found.validationDataConfig).validators);
  const message = textOf(found.failureMessage);
  const encoded = (uri: unknown): string | null => (typeof uri === 'string' ? fileId(uri) : null);
  return {
    id: encodeURIComponent(textOf(found.jobArn) ?? ''),
    object: 'fine_tuning.job',
    model: textOf(found.baseModelArn)?.split('/').at(-1) ?? null,
    created_at: secondsOf(found.creationTime),
    finished_at: secondsOf(found.endTime),
    fine_tuned_model: found.outputModelArn ?? found.customModelArn ?? null,
    organization_id: null,
    result_files: [],
    status: states.get(textOf(found.status) ?? '') ?? 'queued',
    training_file: encoded(objectOf(found.trainingDataConfig).s3Uri),
    validation_file: encoded(validator?.s3Uri),
    hyperparameters: present({
      n_epochs: hyper.epochCount === undefined ? 'auto' : Number(hyper.epochCount),
      batch_size: hyper.batchSize === undefined ? null : Number(hyper.batchSize),
      learning_rate_multiplier:
        hyper.learningRateMultiplier === undefined ? null : Number(hyper.learningRateMultiplier),
    }),
    trained_tokens: null,
    error: message === null ? null : { code: 'failed', message, param: null },
  };
}
