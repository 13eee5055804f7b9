/** Batches of Bedrock: jobs from one object of S3 to another, in OpenAI's form. */
import { awsAddress } from '../aws/access.ts';
import { chatPath, embeddingsPath, outputFile } from '../batch-rows.ts';
import type { EncodedBody } from '../encoded-body.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { batchAnswer, batchStatus } from '../job-states.ts';
import { countOf, objectOf, present, textOf } from '../json.ts';
import { awsWords, listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { setting } from '../settings.ts';
import { asked, type Stepping } from '../stepping.ts';
import { fileId } from '../stored-files.ts';
import { answerOf } from './batch-rows.ts';
import { isOwn, objectAddress, objectUri, storageAuthentication } from './storage.ts';

const jobs = (facts: CallFacts): string => `${awsAddress('bedrock', facts)}/model-invocation-job`;
const job = (facts: CallFacts): string => `${jobs(facts)}/${encodeURIComponent(facts.pathParams.id ?? '')}`;

export const createBatch: Steps = function* (facts) {
  const created = yield* asked({ method: 'POST', path: jobs(facts), body: writeBatch(facts) });
  const id = jobId(created.jobArn);
  return readBatch(yield* asked({ method: 'GET', path: `${jobs(facts)}/${encodeURIComponent(id)}` }));
};

export const retrieveBatch: ProviderEndpoint = {
  path: job,
  translation: { response: (answer, facts) => readBatch(requireOwn(objectOf(answer), facts)) },
};

export const listBatches: Steps = (facts) =>
  listing(
    facts,
    `${awsAddress('bedrock', facts)}/model-invocation-jobs`,
    'invocationJobSummaries',
    (found) => (isOwnJob(found, facts) ? readBatch(found) : null),
    awsWords,
  );

/** Stopping answers nothing, so the job is looked at afterwards. */
export const cancelBatch: Steps = function* (facts) {
  requireOwn(yield* asked({ method: 'GET', path: job(facts) }), facts);
  yield { calls: [{ method: 'POST', path: `${job(facts)}/stop`, body: {} }] };
  return readBatch(yield* asked({ method: 'GET', path: job(facts) }));
};

function writeBatch(facts: CallFacts): JsonObject {
  const body = new Fields(facts.body);
  const options = body.object('provider_options');
  const said = (name: string): string | null => body.text(name) ?? options?.text(name) ?? null;
  const input = objectUri(body.needText('input_file_id'), 'input_file_id', facts);
  const named = facts.model || said('model') || setting(facts.fields, 'aws_bedrock_model');
  const model = named && facts.permittedModel(named, 'the batch');
  if (!model) throw new RequestFault('model', 'model is missing: a batch of Bedrock is for one model');
  const role = said('role_arn');
  if (role === null)
    throw new RequestFault('role_arn', 'role_arn is missing: Bedrock reads and writes S3 as this role');
  const key = setting(facts.fields, 'aws_server_side_encryption_kms_key_id');
  return {
    jobName: said('job_name') ?? facts.newId('batch-'),
    modelId: model,
    roleArn: role,
    inputDataConfig: { s3InputDataConfig: { s3Uri: input, s3InputFormat: 'JSONL' } },
    outputDataConfig: {
      s3OutputDataConfig: present({
        s3Uri: outputOf(said('output_data_config'), facts) ?? input.slice(0, input.lastIndexOf('/') + 1),
        s3EncryptionKeyId: key,
      }),
    },
  };
}

const outputOf = (asked: string | null, facts: CallFacts): string | null =>
  asked === null ? null : objectUri(asked, 'output_data_config', facts);

/** Jobs of everybody who shares the account stand side by side: those that read the caller's files are the caller's. */
const isOwnJob = (found: JsonObject, facts: CallFacts): boolean => isOwn(inputUri(found) ?? '', facts);

function requireOwn(found: JsonObject, facts: CallFacts): JsonObject {
  if (isOwnJob(found, facts)) return found;
  throw notOwn();
}

const notOwn = (): ProviderFault => new ProviderFault(404, 'there is no such batch in this workspace');

/** The short id at the end of an ARN is enough within the account. */
const jobId = (arn: unknown): string => textOf(arn)?.split('/').at(-1) ?? '';

/** In the words that jobs of other clouds have, too. */
const states: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Submitted: 'QUEUED',
    Validating: 'QUEUED',
    Scheduled: 'QUEUED',
    InProgress: 'RUNNING',
    Completed: 'SUCCEEDED',
    PartiallyCompleted: 'SUCCEEDED',
    Failed: 'FAILED',
    Stopping: 'CANCELLING',
    Stopped: 'CANCELLED',
    Expired: 'EXPIRED',
  }),
);

const stateOf = ({ status }: JsonObject): string => states.get(textOf(status) ?? '') ?? 'RUNNING';

const inputUri = ({ inputDataConfig }: JsonObject): string | null =>
  textOf(objectOf(objectOf(inputDataConfig).s3InputDataConfig).s3Uri);

/** The output lies in a folder of the job's, under the name of its input. */
function outputUri(found: JsonObject): string | null {
  const prefix = textOf(objectOf(objectOf(found.outputDataConfig).s3OutputDataConfig).s3Uri);
  const input = inputUri(found);
  if (prefix === null || input === null) return null;
  const folder = prefix.endsWith('/') ? prefix : `${prefix}/`;
  return `${folder}${jobId(found.jobArn)}/${input.split('/').at(-1)}.out`;
}

function readBatch(found: JsonObject): JsonObject {
  const input = inputUri(found);
  const output = outputUri(found);
  const message = textOf(found.message);
  const failed = countOf(found.errorRecordCount);
  const completed = countOf(found.successRecordCount);
  return {
    ...batchAnswer({
      id: jobId(found.jobArn),
      state: stateOf(found),
      endpoint: (textOf(found.modelId) ?? '').includes('embed') ? embeddingsPath : chatPath,
      inputFileId: input === null ? null : fileId(input),
      outputFileId: output === null ? null : fileId(output),
      created: found.submitTime,
      started: found.submitTime,
      ended: found.endTime ?? found.lastModifiedTime,
      counts: { total: countOf(found.totalRecordCount) || completed + failed, completed, failed },
      error: message === null ? null : { code: textOf(found.status) ?? 'failed', message },
    }),
    model: textOf(found.modelId),
  };
}

export const batchOutput: Steps = function* (facts): Stepping<EncodedBody> {
  const found = requireOwn(yield* asked({ method: 'GET', path: job(facts) }), facts);
  const uri = outputUri(found);
  const status = batchStatus(stateOf(found));
  if (uri !== null && !isOwn(uri, facts)) throw notOwn();
  if (uri === null || status !== 'completed') throw new ProviderFault(409, `the batch has no output: it is ${status}`);
  const authentication = storageAuthentication(facts);
  const [content] = yield { calls: [{ method: 'GET', path: objectAddress(uri, facts), authentication }] };
  const model = textOf(found.modelId)?.split('/').at(-1) ?? facts.model;
  return outputFile(content, facts, {
    customId: ({ recordId }) => recordId,
    answer: (row) => answerOf(row, { ...facts, model }),
  });
};
