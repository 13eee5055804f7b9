/** Batches of AI Studio: from a file that was uploaded before, or from rows that come with the call. */

import { type BatchRow, chatPath, outputFile, outputRow, outputRows } from '../batch-rows.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { batchAnswer, batchStatus } from '../job-states.ts';
import { isObject, objectIn, objectOf, objectsOf, textOf } from '../json.ts';
import { listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { answerOf, countIn, rowRequest } from './batch-rows.ts';
import { bareId, contentPath } from './files.ts';

const batches = '/v1beta/batches';
const at = ({ pathParams }: CallFacts): string => `${batches}/${encodeURIComponent(pathParams.id ?? '')}`;

export const createBatch = (path: (facts: CallFacts) => string): ProviderEndpoint => ({
  path,
  translation: { request: writeBatch, response: (answer) => readBatch(objectOf(answer)) },
});

export const retrieveBatch: ProviderEndpoint = {
  path: at,
  translation: { response: (answer) => readBatch(objectOf(answer)) },
};

export const listBatches: Steps = (facts) => listing(facts, batches, 'operations', readBatch);

/** Cancelling answers nothing, so the batch is looked at afterwards. */
export const cancelBatch: Steps = function* (facts) {
  yield { calls: [{ method: 'POST', path: `${at(facts)}:cancel`, body: {} }] };
  const [found] = yield { calls: [{ method: 'GET', path: at(facts) }] };
  return readBatch(objectIn(found?.bytes));
};

function writeBatch(facts: CallFacts): JsonObject {
  const body = new Fields(facts.body);
  if (facts.model === '') throw new RequestFault('model', 'model is missing: a batch here is one model’s');
  const displayName = body.text('job_name') ?? facts.newId('batch-');
  const rows = body.objects('requests');
  if (!rows)
    return { batch: { displayName, inputConfig: { fileName: `files/${bareId(body.needText('input_file_id'))}` } } };
  const requests = rows.map((row) => {
    const key = row.needText('custom_id');
    return { request: rowRequest(rowOf(row, key), facts, 'studio'), metadata: { key } };
  });
  return { batch: { displayName, inputConfig: { requests: { requests } } } };
}

const rowOf = (row: Fields, customId: string): BatchRow => ({
  customId,
  url: row.text('url') ?? chatPath,
  body: { ...row.needObject('body').json },
});

/** A batch is an operation: what is known of it stands in its metadata. */
function readBatch(operation: JsonObject): JsonObject {
  const batch = metadataOf(operation);
  const stats = objectOf(batch.batchStats);
  const file = responsesFile(operation);
  const id = textOf(operation.name ?? batch.name)?.replace(/^batches\//, '') ?? '';
  const input = textOf(objectOf(batch.inputConfig).fileName);
  return batchAnswer({
    id,
    state: batch.state,
    endpoint: chatPath,
    inputFileId: input === null ? null : bareId(input),
    outputFileId: file === null ? null : bareId(file),
    created: batch.createTime,
    started: batch.createTime,
    ended: batch.endTime ?? batch.updateTime,
    counts: {
      total: countIn(stats.requestCount),
      completed: countIn(stats.successfulRequestCount),
      failed: countIn(stats.failedRequestCount),
    },
    error: operation.error,
  });
}

const metadataOf = (operation: JsonObject): JsonObject =>
  isObject(operation.metadata) ? operation.metadata : operation;

const outputOf = (operation: JsonObject): JsonObject =>
  isObject(operation.response) ? operation.response : objectOf(metadataOf(operation).output);

const responsesFile = (operation: JsonObject): string | null => textOf(outputOf(operation).responsesFile);

/** The rows that were answered: in a file, or in the batch itself. */
export const batchOutput: Steps = function* (facts) {
  const [found] = yield { calls: [{ method: 'GET', path: at(facts) }] };
  const operation = objectIn(found?.bytes);
  const status = batchStatus(metadataOf(operation).state);
  if (status !== 'completed') throw new ProviderFault(409, `the batch has no output: it is ${status}`);
  const file = responsesFile(operation);
  const answer = ({ response, error }: JsonObject): JsonObject => answerOf(response, error, facts);
  if (file === null) {
    return outputRows(inlined(operation).map((row) => outputRow(objectOf(row.metadata).key, facts, () => answer(row))));
  }
  const [content] = yield { calls: [{ method: 'GET', path: contentPath(bareId(file)) }] };
  return outputFile(content, facts, { customId: ({ key }) => key, answer });
};

const inlined = (operation: JsonObject): readonly JsonObject[] =>
  objectsOf(objectOf(outputOf(operation).inlinedResponses).inlinedResponses);
