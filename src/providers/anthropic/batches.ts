/** Message batches in OpenAI's form: rows of chat completions in, their answers out. */
import type { ChatFamily } from '../chat/family.ts';
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { countOf, objectOf, parsed, secondsOf, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, RawAnswer, Step, StepAnswers } from '../provider.ts';
import { readMessage } from './answer.ts';
import { listOfPage, pageQuery } from './lists.ts';

const path = '/messages/batches';
const at = ({ pathParams }: CallFacts): string => `${path}/${encodeURIComponent(pathParams.id ?? '')}`;

export const batchEndpoints = (family: ChatFamily): Record<BatchKind, ProviderEndpoint> => ({
  createBatch: {
    path,
    translation: { request: (facts) => writeBatch(facts, family), response: (answer) => readBatch(answer) },
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

function writeBatch(facts: CallFacts, family: ChatFamily): JsonObject {
  const body = new Fields(facts.body);
  if (body.has('input_file_id') && !body.has('requests')) {
    throw new RequestFault('input_file_id', 'Anthropic takes the rows of a batch inline: send them as requests');
  }
  const rows = body.needObjects('requests');
  if (rows.length === 0) throw new RequestFault('requests', 'requests must hold at least one row');
  return { requests: rows.map((row) => writeRow(row, facts, family)) };
}

const chatPath = '/v1/chat/completions';
const messagesPath = '/v1/messages';

/** A row is a chat completion; with `params`, or for the messages route, it is Anthropic's already. */
function writeRow(row: Fields, facts: CallFacts, family: ChatFamily): JsonObject {
  const custom_id = row.needText('custom_id');
  const params = row.raw('params');
  if (params) return { custom_id, params };
  const url = row.text('url') ?? chatPath;
  const body = row.needObject('body');
  if (url === messagesPath) return { custom_id, params: body.json };
  if (url !== chatPath)
    throw new RequestFault(row.at('url'), `${row.at('url')} must be ${chatPath} or ${messagesPath}`);
  const model = (body.text('model') ?? facts.model).replace(/^@[^/]+\//, '');
  const rowFacts: CallFacts = { ...facts, kind: 'chatComplete', model, stream: false, body: body.json };
  try {
    return { custom_id, params: family.request(chatFront.read(rowFacts), rowFacts) };
  } catch (fault) {
    if (fault instanceof RequestFault) throw new RequestFault(body.at(fault.field), `${body.path}: ${fault.message}`);
    throw fault;
  }
}

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
export function* outputSteps(facts: CallFacts): Generator<Step, EncodedBody, StepAnswers> {
  const [found] = yield { calls: [{ method: 'GET', path: at(facts) }] };
  const status = textOf(objectOf(jsonOf(found)).processing_status);
  if (status !== 'ended') throw new ProviderFault(409, `the batch has no output yet: it is ${status}`);
  const [results] = yield { calls: [{ method: 'GET', path: `${at(facts)}/results` }] };
  const rows = linesOf(results).map((line) => `${JSON.stringify(readRow(objectOf(parsed(line)), facts))}\n`);
  return new EncodedBody('application/octet-stream', Buffer.from(rows.join('')));
}

const textIn = (answer: RawAnswer | undefined): string => new TextDecoder().decode(answer?.bytes);
const jsonOf = (answer: RawAnswer | undefined): unknown => parsed(textIn(answer));
const linesOf = (answer: RawAnswer | undefined): string[] =>
  textIn(answer)
    .split('\n')
    .filter((line) => line.trim() !== '');

function readRow({ custom_id, result }: JsonObject, facts: CallFacts): JsonObject {
  const { type, message, error } = objectOf(result);
  const id = facts.newId('batch_req_');
  if (type === 'succeeded') {
    const body = chatFront.write(readMessage(message), facts);
    return { id, custom_id, response: { status_code: 200, request_id: body.id, body }, error: null };
  }
  const told = objectOf(objectOf(error).error ?? error);
  const code =
    type === 'errored' ? (textOf(told.type) ?? 'api_error') : `batch_${type === 'canceled' ? 'cancelled' : type}`;
  const said = textOf(told.message) ?? `the request was ${type} before it was run`;
  return { id, custom_id, response: null, error: { code, message: said } };
}
