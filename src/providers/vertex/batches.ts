/** Batches of Vertex AI: prediction jobs from an object of Cloud Storage to another. */

import { readMessage } from '../anthropic/answer.ts';
import { chatPath, embeddingsPath, outputFile } from '../batch-rows.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { answerOf, countIn } from '../google/batch-rows.ts';
import { batchAnswer, batchStatus } from '../job-states.ts';
import { listOf, numberOf, objectIn, objectOf, textOf } from '../json.ts';
import { listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { needSetting } from '../settings.ts';
import { fileId } from '../stored-files.ts';
import { vertexModel } from './model.ts';
import { placeOf } from './place.ts';
import { isOwn, objectAddress, objectUri } from './storage.ts';

const jobs = (facts: CallFacts): string => `/v1/${placeOf(facts)}/batchPredictionJobs`;
const job = (facts: CallFacts): string => `${jobs(facts)}/${encodeURIComponent(facts.pathParams.id ?? '')}`;

export const createBatch: ProviderEndpoint = {
  path: jobs,
  translation: { request: writeBatch, response: (answer) => readBatch(objectOf(answer)) },
};

export const retrieveBatch: ProviderEndpoint = {
  path: job,
  translation: { response: (answer, facts) => readBatch(requireOwn(objectOf(answer), facts)) },
};

export const listBatches: Steps = (facts) =>
  listing(facts, jobs(facts), 'batchPredictionJobs', (found) => (isOwnJob(found, facts) ? readBatch(found) : null));

/** Cancelling answers nothing, so the job is looked at afterwards. */
export const cancelBatch: Steps = function* (facts) {
  const [running] = yield { calls: [{ method: 'GET', path: job(facts) }] };
  requireOwn(objectIn(running?.bytes), facts);
  yield { calls: [{ method: 'POST', path: `${job(facts)}:cancel`, body: {} }] };
  const [found] = yield { calls: [{ method: 'GET', path: job(facts) }] };
  return readBatch(objectIn(found?.bytes));
};

const inputUri = ({ inputConfig }: JsonObject): string | null =>
  textOf(listOf(objectOf(objectOf(inputConfig).gcsSource).uris)[0]);

/** Jobs of everybody who shares the project stand side by side: those that read the caller's files are the caller's. */
const isOwnJob = (found: JsonObject, facts: CallFacts): boolean => isOwn(inputUri(found) ?? '', facts);

function requireOwn(found: JsonObject, facts: CallFacts): JsonObject {
  if (isOwnJob(found, facts)) return found;
  throw notOwn();
}

const notOwn = (): ProviderFault => new ProviderFault(404, 'there is no such batch in this workspace');

function writeBatch(facts: CallFacts): JsonObject {
  const body = new Fields(facts.body);
  const input = objectUri(body.needText('input_file_id'), 'input_file_id', facts);
  const asked = facts.model || needSetting(facts.fields, 'provider_model', 'vertex_model_name');
  const { kind, name } = vertexModel(facts.permittedModel(asked, 'the batch'));
  if (kind !== 'google' && kind !== 'anthropic') {
    throw new RequestFault('model', `${asked} has no batches here: they are for Google’s models and Claude`);
  }
  const output = outputOf(body.text('output_data_config'), facts) ?? input.slice(0, input.lastIndexOf('/'));
  return {
    displayName: body.text('job_name') ?? facts.newId('batch-'),
    model: `publishers/${kind}/models/${name}`,
    inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: [input] } },
    outputConfig: { predictionsFormat: 'jsonl', gcsDestination: { outputUriPrefix: output } },
  };
}

const outputOf = (asked: string | null, facts: CallFacts): string | null =>
  asked === null ? null : objectUri(asked, 'output_data_config', facts);

/** Embeddings are written under another name than everything else. */
const outputUri = (found: JsonObject): string | null => {
  const directory = textOf(objectOf(found.outputInfo).gcsOutputDirectory);
  if (directory === null) return null;
  return `${directory}/${isEmbedding(found) ? '000000000000.jsonl' : 'predictions.jsonl'}`;
};

const isEmbedding = ({ model }: JsonObject): boolean => (textOf(model) ?? '').includes('embedding');

function readBatch(found: JsonObject): JsonObject {
  const stats = objectOf(found.completionStats);
  const [completed, failed] = [countIn(stats.successfulCount), countIn(stats.failedCount)];
  const input = inputUri(found);
  const output = outputUri(found);
  return batchAnswer({
    id: textOf(found.name)?.split('/').at(-1) ?? '',
    state: found.state,
    endpoint: isEmbedding(found) ? embeddingsPath : chatPath,
    inputFileId: input === null ? null : fileId(input),
    outputFileId: output === null ? null : fileId(output),
    created: found.createTime,
    started: found.startTime,
    ended: found.endTime,
    counts: { total: completed + failed + countIn(stats.incompleteCount), completed, failed },
    error: found.error,
  });
}

export const batchOutput: Steps = function* (facts) {
  const [answer] = yield { calls: [{ method: 'GET', path: job(facts) }] };
  const found = requireOwn(objectIn(answer?.bytes), facts);
  const uri = outputUri(found);
  const status = batchStatus(found.state);
  if (uri !== null && !isOwn(uri, facts)) throw notOwn();
  if (uri === null || status !== 'completed') throw new ProviderFault(409, `the batch has no output: it is ${status}`);
  const [content] = yield { calls: [{ method: 'GET', path: objectAddress(uri, facts) }] };
  return outputFile(content, facts, { customId: rowId, answer: (line) => readLine(line, facts) });
};

const rowId = (line: JsonObject): unknown => line.requestId ?? line.custom_id ?? objectOf(line.instance).requestId;

/** A line repeats the request beside its answer; faults stand in its status. */
function readLine(line: JsonObject, facts: CallFacts): JsonObject {
  const [prediction] = listOf(line.predictions);
  const values = listOf(objectOf(objectOf(prediction).embeddings).values);
  const response = objectOf(line.response);
  if (response.type === 'message') return chatFront.write(readMessage(response), facts);
  if (response.type === 'error') return answerOf(null, response.error, facts);
  if (values.length === 0) return answerOf(line.response, line.status, facts);
  const embedding = values.flatMap((value) => numberOf(value) ?? []);
  return { object: 'list', data: [{ object: 'embedding', index: 0, embedding }], model: facts.model };
}
