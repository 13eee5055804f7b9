/** Files and batches of the gateway's own, for requests that name no provider for them. */
import { BatchRefusal } from '../../batches/batches.ts';
import { FileFault, isId } from '../../batches/files.ts';
import { LineFault } from '../../batches/line-chunks.ts';
import { batchRecord, fileRecord } from '../../batches/records.ts';
import type { ManagedBatchTable, ManagedFileTable } from '../../batches/schema.ts';
import type { BatchService } from '../../batches/service.ts';
import { isKept } from '../../providers/batch-rows.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { wordOf } from '../../providers/json.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { requireBudget } from '../limits/provider-batch-budgets.ts';
import { guardedBatchOf, isGuardedBatch, keepsGuardedRows, uploadOptionsOf } from './guarded.ts';
import { isInside } from './inside-calls.ts';
import { keepsRowsHere } from './keeps-rows.ts';
import { readUpload } from './multipart.ts';
import { namedProvider } from './named-provider.ts';
import { newBatchOf } from './new-batch.ts';
import { ownerOf } from './owner.ts';
import { callElsewhere } from './row-checks.ts';

interface Managed extends GatewayDeps {
  batchService: BatchService;
}
type Operation = (deps: Managed, context: RequestContext) => Promise<Response>;

const operations: Partial<Record<EndpointKind, Operation>> = {
  uploadFile,
  listFiles,
  retrieveFile: async (deps, context) => Response.json(fileRecord(await fileOf(deps, context))),
  retrieveFileContent: async (deps, context) => contentOf(deps, (await fileOf(deps, context)).id),
  deleteFile,
  createBatch,
  listBatches,
  retrieveBatch: async (deps, context) => Response.json(batchRecord(await batchOf(deps, context))),
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
export function isManaged(deps: GatewayDeps, context: RequestContext): boolean {
  const { providers } = deps;
  const { kind } = context.matched.route;
  if (!operations[kind] || isInside(context.request)) return false;
  const { id } = context.matched.params;
  if (id !== undefined) return isKept(id);
  const named = namedProvider(context);
  const known = providers.get(named ?? '');
  if (isGuardedBatch(deps, context)) return true;
  if (namesOwnFile(context)) return !known?.rowsInline || runsAtOnce(context);
  if (named === null || named === 'gw') return true;
  if (context.purpose === 'batch' && (keepsRowsHere(known) || keepsGuardedRows(deps, context))) return true;
  return known !== undefined && !known.endpoints[keeping[kind] ?? kind];
}

/** A batch of lines that were uploaded to us is run by us, whoever answers the lines; but a provider that takes rows from us can be handed them. */
const namesOwnFile = ({ body }: RequestContext): boolean =>
  body.form === 'json' && isKept(wordOf(body.json.input_file_id));

const runsAtOnce = ({ body }: RequestContext): boolean =>
  body.form === 'json' && body.json.completion_window === 'immediate';

export async function managedReply(deps: GatewayDeps, context: RequestContext): Promise<Response> {
  const operation = operations[context.matched.route.kind];
  const { batchService } = deps;
  if (!operation || !batchService)
    throw new GatewayError('missing_provider', 'this gateway keeps no files or batchService itself');
  const reply = await operation({ ...deps, batchService }, context).catch((fault) => {
    throw asGatewayError(fault);
  });
  reply.headers.set(`${context.own.prefix}trace-id`, context.traceId);
  reply.headers.set(`${context.own.prefix}request-id`, context.requestId);
  return reply;
}

function asGatewayError(fault: unknown): unknown {
  if (fault instanceof FileFault || fault instanceof LineFault) {
    return new GatewayError('invalid_body', `the file cannot be kept: ${fault.message}`, { field: 'file' });
  }
  if (fault instanceof BatchRefusal) return new GatewayError('invalid_body', fault.message, { field: fault.field });
  return fault;
}

async function fileOf({ batchService }: Managed, context: RequestContext): Promise<ManagedFileTable> {
  const id = context.matched.params.id ?? '';
  const file = await batchService.files.find(ownerOf(context), id);
  if (!file) throw new GatewayError('file_not_found', `no file "${id}" is kept in this workspace`);
  return file;
}

async function batchOf({ batchService }: Managed, context: RequestContext): Promise<ManagedBatchTable> {
  const id = context.matched.params.id ?? '';
  const batch = await batchService.batches.find(ownerOf(context), id);
  if (!batch) throw new GatewayError('batch_not_found', `no batch "${id}" is kept in this workspace`);
  return batch;
}

const longestName = 512;

async function uploadFile(deps: Managed, context: RequestContext): Promise<Response> {
  const { body } = context;
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
  const isForProvider = keepsGuardedRows(deps, context);
  const file = { filename, purpose, ...(isForProvider && { providerOptions: uploadOptionsOf(context) }) };
  return Response.json(fileRecord(await deps.batchService.files.write(ownerOf(context), file, content)));
}

function knownPurpose(purpose: string | null): string {
  if (!purpose) throw new GatewayError('invalid_body', 'the field purpose is missing', { field: 'purpose' });
  if (isId(purpose)) return purpose;
  throw new GatewayError('invalid_body', 'purpose must be a word such as batch', { field: 'purpose' });
}

async function listFiles({ batchService }: Managed, context: RequestContext): Promise<Response> {
  const query = new URLSearchParams(context.query);
  const page = { purpose: wordIn(query, 'purpose'), after: wordIn(query, 'after'), limit: limitOf(query, 10_000) };
  const { files, hasMore } = await batchService.files.list(ownerOf(context), page);
  return Response.json(listOf(files.map(fileRecord), files, hasMore));
}

async function deleteFile(deps: Managed, context: RequestContext): Promise<Response> {
  const { id } = await fileOf(deps, context);
  await deps.batchService.files.remove(ownerOf(context), id);
  return Response.json({ id, object: 'file', deleted: true });
}

function contentOf({ batchService }: Managed, id: string): Response {
  const chunks = batchService.files.content(id);
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

async function createBatch(deps: Managed, context: RequestContext): Promise<Response> {
  const { batchService } = deps;
  const { keyId, token } = context.caller;
  const by = { keyId, grant: token?.grant ?? null };
  const guarded = isGuardedBatch(deps, context) ? await guardedBatchOf(deps, context) : null;
  if (guarded) {
    await requireBudget(callElsewhere(deps, context));
    return Response.json(batchRecord(await batchService.atProviders.create(ownerOf(context), by, guarded)));
  }
  const batch = await batchService.batches.create(ownerOf(context), by, newBatchOf(context));
  return Response.json(batchRecord(batch));
}

async function listBatches({ batchService }: Managed, context: RequestContext): Promise<Response> {
  const query = new URLSearchParams(context.query);
  const page = { after: wordIn(query, 'after'), limit: limitOf(query, 20) };
  const { batches, hasMore } = await batchService.batches.list(ownerOf(context), page);
  return Response.json(listOf(batches.map(batchRecord), batches, hasMore));
}

async function cancelBatch(deps: Managed, context: RequestContext): Promise<Response> {
  const { id } = await batchOf(deps, context);
  const batch = await deps.batchService.batches.cancel(ownerOf(context), id);
  if (!batch) throw new GatewayError('batch_not_found', `no batch "${id}" is kept in this workspace`);
  return Response.json(batchRecord(batch));
}

async function getBatchOutput(deps: Managed, context: RequestContext): Promise<Response> {
  const batch = await batchOf(deps, context);
  const file = batch.output_file_id ?? batch.error_file_id;
  if (file) return contentOf(deps, file);
  const ended = batch.completed_at ?? batch.cancelled_at ?? batch.expired_at ?? batch.failed_at;
  if (ended !== null) return new Response('', { headers: { 'content-type': 'application/octet-stream' } });
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
