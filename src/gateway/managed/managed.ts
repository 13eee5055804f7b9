/** Files and batches of the gateway's own, for requests that name no provider for them. */
import { BatchRefusal } from '../../batches/batches.ts';
import type { BatchDesk } from '../../batches/desk.ts';
import { FileFault, isId } from '../../batches/files.ts';
import { LineFault } from '../../batches/line-chunks.ts';
import { batchRecord, fileRecord } from '../../batches/records.ts';
import type { ManagedBatchTable, ManagedFileTable } from '../../batches/schema.ts';
import { isKept } from '../../providers/batch-rows.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { wordOf } from '../../providers/json.ts';
import { GatewayError } from '../errors.ts';
import type { Journey } from '../journey.ts';
import type { GatewayParts } from '../parts.ts';
import { keepsRowsHere } from './keeps-rows.ts';
import { readUpload } from './multipart.ts';
import { namedProvider } from './named-provider.ts';
import { newBatchOf } from './new-batch.ts';
import { ownerOf } from './owner.ts';

interface Managed extends GatewayParts {
  desk: BatchDesk;
}
type Operation = (parts: Managed, journey: Journey) => Promise<Response>;

const operations: Partial<Record<EndpointKind, Operation>> = {
  uploadFile,
  listFiles,
  retrieveFile: async (parts, journey) => Response.json(fileRecord(await fileOf(parts, journey))),
  retrieveFileContent: async (parts, journey) => contentOf(parts, (await fileOf(parts, journey)).id),
  deleteFile,
  createBatch,
  listBatches,
  retrieveBatch: async (parts, journey) => Response.json(batchRecord(await batchOf(parts, journey))),
  cancelBatch,
  getBatchOutput,
};

/** The operation that a provider must offer to keep what these are about. */
const keeping: Partial<Record<EndpointKind, EndpointKind>> = {
  uploadFile: 'uploadFile',
  listFiles: 'uploadFile',
  createBatch: 'createBatch',
  listBatches: 'createBatch',
};

/** An id of ours; or no provider to ask, or one that keeps nothing: then the gateway does it in its place. */
export function isManaged({ providers }: GatewayParts, journey: Journey): boolean {
  const { kind } = journey.matched.route;
  if (!operations[kind]) return false;
  const { id } = journey.matched.params;
  if (id !== undefined) return isKept(id);
  const named = namedProvider(journey);
  const known = providers.get(named ?? '');
  if (namesOwnFile(journey)) return !known?.rowsInline || runsAtOnce(journey);
  if (named === null || named === 'gw') return true;
  if (keepsRowsHere(known) && journey.purpose === 'batch') return true;
  return known !== undefined && !known.endpoints[keeping[kind] ?? kind];
}

/** A batch of lines that were uploaded to us is run by us, whoever answers the lines; but a provider that takes rows from us can be handed them. */
const namesOwnFile = ({ body }: Journey): boolean => body.form === 'json' && isKept(wordOf(body.json.input_file_id));

const runsAtOnce = ({ body }: Journey): boolean => body.form === 'json' && body.json.completion_window === 'immediate';

export async function managedReply(parts: GatewayParts, journey: Journey): Promise<Response> {
  const operation = operations[journey.matched.route.kind];
  const { desk } = parts;
  if (!operation || !desk) throw new GatewayError('missing_provider', 'this gateway keeps no files or batches itself');
  const reply = await operation({ ...parts, desk }, journey).catch((fault) => {
    throw asGatewayError(fault);
  });
  reply.headers.set(`${journey.own.prefix}trace-id`, journey.traceId);
  reply.headers.set(`${journey.own.prefix}request-id`, journey.requestId);
  return reply;
}

function asGatewayError(fault: unknown): unknown {
  if (fault instanceof FileFault || fault instanceof LineFault) {
    return new GatewayError('invalid_body', `the file cannot be kept: ${fault.message}`, { field: 'file' });
  }
  if (fault instanceof BatchRefusal) return new GatewayError('invalid_body', fault.message, { field: fault.field });
  return fault;
}

async function fileOf({ desk }: Managed, journey: Journey): Promise<ManagedFileTable> {
  const id = journey.matched.params.id ?? '';
  const file = await desk.files.find(ownerOf(journey), id);
  if (!file) throw new GatewayError('file_not_found', `no file "${id}" is kept in this workspace`);
  return file;
}

async function batchOf({ desk }: Managed, journey: Journey): Promise<ManagedBatchTable> {
  const id = journey.matched.params.id ?? '';
  const batch = await desk.batches.find(ownerOf(journey), id);
  if (!batch) throw new GatewayError('batch_not_found', `no batch "${id}" is kept in this workspace`);
  return batch;
}

const longestName = 512;

async function uploadFile({ desk }: Managed, journey: Journey): Promise<Response> {
  const { body } = journey;
  if (body.form !== 'stream' || !body.contentType?.startsWith('multipart/form-data')) {
    throw new GatewayError('invalid_content_type', 'send multipart/form-data with the fields purpose and file');
  }
  const form = await readUpload(body.stream, body.contentType);
  const { filename, content } = form;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
  if (filename.length > longestName || /[\u0000-\u001f\u007f]/.test(filename)) {
    throw new GatewayError('invalid_body', 'the name of the file cannot be kept', { field: 'file' });
  }
  const said = form.field('purpose');
  const purpose = said === null ? async () => knownPurpose(await form.laterField('purpose')) : knownPurpose(said);
  return Response.json(fileRecord(await desk.files.write(ownerOf(journey), { filename, purpose }, content)));
}

function knownPurpose(purpose: string | null): string {
  if (!purpose) throw new GatewayError('invalid_body', 'the field purpose is missing', { field: 'purpose' });
  if (isId(purpose)) return purpose;
  throw new GatewayError('invalid_body', 'purpose must be a word such as batch', { field: 'purpose' });
}

async function listFiles({ desk }: Managed, journey: Journey): Promise<Response> {
  const query = new URLSearchParams(journey.query);
  const page = { purpose: wordIn(query, 'purpose'), after: wordIn(query, 'after'), limit: limitOf(query, 10_000) };
  const { files, hasMore } = await desk.files.list(ownerOf(journey), page);
  return Response.json(listOf(files.map(fileRecord), files, hasMore));
}

async function deleteFile(parts: Managed, journey: Journey): Promise<Response> {
  const { id } = await fileOf(parts, journey);
  await parts.desk.files.remove(ownerOf(journey), id);
  return Response.json({ id, object: 'file', deleted: true });
}

function contentOf({ desk }: Managed, id: string): Response {
  const chunks = desk.files.content(id);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value.text));
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/octet-stream' } });
}

async function createBatch({ desk }: Managed, journey: Journey): Promise<Response> {
  const batch = await desk.batches.create(ownerOf(journey), journey.caller.keyId, newBatchOf(journey));
  return Response.json(batchRecord(batch));
}

async function listBatches({ desk }: Managed, journey: Journey): Promise<Response> {
  const query = new URLSearchParams(journey.query);
  const page = { after: wordIn(query, 'after'), limit: limitOf(query, 20) };
  const { batches, hasMore } = await desk.batches.list(ownerOf(journey), page);
  return Response.json(listOf(batches.map(batchRecord), batches, hasMore));
}

async function cancelBatch(parts: Managed, journey: Journey): Promise<Response> {
  const { id } = await batchOf(parts, journey);
  const batch = await parts.desk.batches.cancel(ownerOf(journey), id);
  if (!batch) throw new GatewayError('batch_not_found', `no batch "${id}" is kept in this workspace`);
  return Response.json(batchRecord(batch));
}

async function getBatchOutput(parts: Managed, journey: Journey): Promise<Response> {
  const batch = await batchOf(parts, journey);
  const file = batch.output_file_id ?? batch.error_file_id;
  if (file) return contentOf(parts, file);
  const ended = ['completed', 'cancelled', 'expired', 'failed'].includes(batch.status);
  if (ended) return new Response('', { headers: { 'content-type': 'application/octet-stream' } });
  throw new GatewayError('batch_not_finished', `the batch is ${batch.status}; ask again when it has ended`);
}

function wordIn(query: URLSearchParams, name: 'after' | 'purpose'): string | null {
  const word = query.get(name);
  if (word === null || isId(word)) return word;
  throw new GatewayError('invalid_body', `${name} must be a word of letters, digits, - and _`, { field: name });
}

function limitOf(query: URLSearchParams, fallback: number): number {
  const text = query.get('limit');
  if (text === null) return fallback;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return Math.min(limit, Math.max(fallback, 100));
  throw new GatewayError('invalid_body', 'limit must be a whole number from 1', { field: 'limit' });
}

const listOf = (data: readonly object[], rows: readonly { id: string }[], hasMore: boolean): object => ({
  object: 'list',
  data,
  first_id: rows[0]?.id ?? null,
  last_id: rows.at(-1)?.id ?? null,
  has_more: hasMore,
});
