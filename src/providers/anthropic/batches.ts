/** Message batches in OpenAI's form: rows of chat completions in, their answers out. */
import { chatPath, isKept, outputFile } from '../batch-rows.ts';
import type { ChatFamily } from '../chat/family.ts';
import type { EncodedBody } from '../encoded-body.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { countOf, objectOf, secondsOf, textOf } from '../json.ts';
import type { CallFacts, JsonObject, OfferedEndpoint, ProviderCall } from '../provider.ts';
import { asked, type Stepping } from '../stepping.ts';
import { answerOf, fileRows, inlineRows, writeFileRow } from './batch-rows.ts';
import { betaHeader } from './betas.ts';
import { listOfPage, pageQuery } from './lists.ts';
import { anthropicApi } from './surface.ts';

const path = '/messages/batches';
const at = ({ pathParams }: CallFacts): string => `${path}/${encodeURIComponent(pathParams.id ?? '')}`;

export const batchEndpoints = (family: ChatFamily): Record<BatchKind, OfferedEndpoint> => ({
  createBatch: ({ body }) =>
    namesFile(body)
      ? { path, steps: (facts) => createFromFile(facts, family) }
      : {
          path,
          translation: {
            request: (facts) => ({ requests: inlineRows(facts, family) }),
            response: (answer) => readBatch(answer),
          },
        },
  retrieveBatch: { path: at, translation: { response: (answer) => readBatch(answer) } },
  cancelBatch: { path: (facts) => `${at(facts)}/cancel`, translation: { response: (answer) => readBatch(answer) } },
  listBatches: {
    path,
    query: pageQuery,
    translation: { response: (answer) => listOfPage(answer, readBatch) },
  },
  getBatchOutput: { steps: outputSteps },
});

type BatchKind = 'createBatch' | 'retrieveBatch' | 'cancelBatch' | 'listBatches' | 'getBatchOutput';

const namesFile = (body: Readonly<JsonObject>): boolean => textOf(body.input_file_id) !== null && !body.requests;

/** The API takes rows with the call alone: those of a file are fetched, and sent along. */
function* createFromFile(facts: CallFacts, family: ChatFamily): Stepping<JsonObject> {
  const id = new Fields(facts.body).needText('input_file_id');
  const [file] = yield isKept(id) ? { keptFile: id } : { calls: [contentOf(id, facts)] };
  const rows = fileRows(new TextDecoder().decode(file?.bytes));
  if (rows.length === 0) throw new RequestFault('input_file_id', 'the file has no rows');
  const requests = rows.map((row) => writeFileRow(row, facts, family));
  const headers = betaHeader({ ...facts, body: { requests: rows } }, anthropicApi);
  const batch = yield* asked({ method: 'POST', path, headers, body: { requests } });
  return { ...readBatch(batch), input_file_id: id };
}

/** What was uploaded to the API itself it does not give back, only what its tools have made; it says so. */
const contentOf = (id: string, facts: CallFacts): ProviderCall => ({
  method: 'GET',
  path: `/files/${encodeURIComponent(id)}/content`,
  headers: betaHeader({ ...facts, kind: 'retrieveFileContent' }, anthropicApi),
});

export function readBatch(answer: unknown): JsonObject {
  const batch = objectOf(answer);
  const counts = objectOf(batch.request_counts);
  const [succeeded, errored] = [countOf(counts.succeeded), countOf(counts.errored)];
  const [canceled, expired] = [countOf(counts.canceled), countOf(counts.expired)];
  const total = countOf(counts.processing) + succeeded + errored + canceled + expired;
  const status = statusOf(batch, { total, canceled, expired });
  const endedAt = secondsOf(batch.ended_at);
  return {
    id: batch.id,
    object: 'batch',
    endpoint: chatPath,
    errors: null,
    input_file_id: null,
    completion_window: '24h',
    status,
    output_file_id: batch.processing_status === 'ended' ? batch.id : null,
    error_file_id: null,
    created_at: secondsOf(batch.created_at),
    in_progress_at: secondsOf(batch.created_at),
    expires_at: secondsOf(batch.expires_at),
    finalizing_at: null,
    completed_at: status === 'completed' ? endedAt : null,
    failed_at: null,
    expired_at: status === 'expired' ? endedAt : null,
    cancelling_at: secondsOf(batch.cancel_initiated_at),
    cancelled_at: status === 'cancelled' ? endedAt : null,
    request_counts: { total, completed: succeeded, failed: errored + canceled + expired },
    metadata: null,
    results_url: batch.results_url ?? null,
  };
}

/** A batch that ended is complete, unless nothing of it was ever run. */
function statusOf(
  { processing_status: status }: JsonObject,
  { total, canceled, expired }: { total: number; canceled: number; expired: number },
): string {
  if (status === 'in_progress') return 'in_progress';
  if (status === 'canceling') return 'cancelling';
  if (total > 0 && canceled === total) return 'cancelled';
  return total > 0 && expired === total ? 'expired' : 'completed';
}

/** The output as rows of OpenAI's; a batch that is still at work has none. */
export function* outputSteps(facts: CallFacts): Stepping<EncodedBody> {
  const found = yield* asked({ method: 'GET', path: at(facts) });
  const status = textOf(found.processing_status);
  if (status !== 'ended') throw new ProviderFault(409, `the batch has no output yet: it is ${status}`);
  const [results] = yield { calls: [{ method: 'GET', path: `${at(facts)}/results` }] };
  return outputFile(results, facts, {
    customId: ({ custom_id }) => custom_id,
    answer: (row) => answerOf(row, facts),
  });
}
