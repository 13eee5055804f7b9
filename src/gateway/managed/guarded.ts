/** Batches that a provider runs between guardrails: which requests are for one, and how it is ordered. */
import type { NewProviderBatch } from '../../batches/provider-batches.ts';
import type { ProviderOrder } from '../../batches/provider-calls.ts';
import type { ManagedFileTable } from '../../batches/schema.ts';
import type { BatchService } from '../../batches/service.ts';
import { guardsOf } from '../../catalog/guards.ts';
import type { Plan } from '../../catalog/plan.ts';
import { chatPath, isKept } from '../../providers/batch-rows.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { isObject, objectOf, objectsOf, parsed, textOf, wordOf } from '../../providers/json.ts';
import type { JsonObject, OfferedEndpoint, Provider } from '../../providers/provider.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { leafOf } from '../guardrails/gate.ts';
import { namedProvider } from './named-provider.ts';
import { batchIn, headerOptions } from './new-batch.ts';
import { ownerOf } from './owner.ts';

/** The provider that gets the rows: also where it is the only target of a strategy. */
const rowsProvider = (
  { providers }: Pick<GatewayDeps, 'providers'>,
  context: Pick<RequestContext, 'provider' | 'plan' | 'workspace'>,
): Provider | undefined => providers.get(namedProvider({ ...context, plan: withOnlyTarget(context.plan) }) ?? '');

function withOnlyTarget(plan: Plan): Plan {
  let { root } = plan;
  while (root.kind === 'strategy' && root.children.length === 1 && root.children[0]) [root] = [root.children[0]];
  return root === plan.root ? plan : { ...plan, root };
}

/** Whether guardrails look at the rows that a request brings, or at their answers. */
export function guardsRows({ workspace, plan }: Pick<RequestContext, 'workspace' | 'plan'>): boolean {
  const guards = guardsOf(workspace, leafOf(plan.root));
  if (!guards) return false;
  const { input, output, fault } = guards;
  return fault !== null || [input, output].some(({ sync, async }) => sync.length + async.length > 0);
}

/** Rows for a provider that runs batches stay here, until guardrails have seen them. */
export const keepsGuardedRows = (
  deps: Pick<GatewayDeps, 'providers'>,
  context: Parameters<typeof rowsProvider>[1],
): boolean => rowsProvider(deps, context)?.endpoints.createBatch !== undefined && guardsRows(context);

/** A batch for a provider that has batches, where guardrails apply to the request or stand in a config of its options. */
export function isGuardedBatch(deps: GatewayDeps, context: RequestContext): boolean {
  const provider = rowsProvider(deps, context);
  if (context.matched.route.kind !== 'createBatch' || !provider?.endpoints.createBatch) return false;
  return guardsRows(context) || namesConfig(context);
}

const namesConfig = ({ body }: RequestContext): boolean =>
  body.form === 'json' &&
  Object.keys(objectOf(body.json.gw_options)).some((name) => configOption.test(name.replaceAll('_', '-')));

const configOption = /^x-gw-config$/i;

/** Null where the rows were uploaded for the gateway itself, which then runs them. */
export async function guardedBatchOf(
  { providers, batchService }: GatewayDeps & { batchService: BatchService },
  context: RequestContext,
): Promise<NewProviderBatch | null> {
  const provider = rowsProvider({ providers }, context);
  if (context.body.form !== 'json' || !provider) return null;
  const { json } = context.body;
  if (json.completion_window === 'immediate') return null;
  const owner = ownerOf(context);
  const inputId = wordOf(json.input_file_id ?? '');
  let file: ManagedFileTable | null = null;
  if (isKept(inputId)) {
    file = await batchService.files.find(owner, inputId);
    if (!file) throw new GatewayError('invalid_body', `no file "${inputId}" is kept in this workspace`, inputField);
    if (!file.provider_options && !provider.rowsInline) return null;
  } else if (json.requests !== undefined) {
    const rows = inlineRows(json);
    const written = { filename: 'requests.jsonl', purpose: 'batch', providerOptions: {} };
    file = await batchService.files.write(owner, written, linesOf(rows));
  }
  const { requests: _, gw_options: __, ...body } = json;
  const endpoint = textOf(body.endpoint) ?? (await firstUrl(batchService, file)) ?? chatPath;
  const asked = { ...json, endpoint, input_file_id: file?.id ?? json.input_file_id };
  const order: ProviderOrder = {
    body: { ...body, ...(provider.rowsInline ? {} : { endpoint }) },
    sendsRows: provider.rowsInline === true,
    readsFiles: isPlain(provider, 'uploadFile') && isPlain(provider, 'retrieveFileContent'),
    providerFileId: file ? null : inputId,
    uploadOptions: (file && batchService.files.providerOptions(file)) ?? {},
  };
  const batch = batchIn(asked, context.own);
  return { ...batch, options: { ...batch.options, ...credentialOf(context) }, order, file };
}

const inputField = { field: 'input_file_id' };

/** The provider's own credential, where the request brings one. */
const credentialOf = ({ provider: { credential } }: RequestContext): Record<string, string> =>
  credential === null ? {} : { authorization: `Bearer ${credential}` };

/** What an upload was sent with holds when its rows are sent on. */
export const uploadOptionsOf = (context: RequestContext): Record<string, string> => ({
  ...headerOptions(context.own.all()),
  ...credentialOf(context),
});

/** Its files are read and written as they are. */
function isPlain(provider: Provider, kind: EndpointKind): boolean {
  const endpoint: OfferedEndpoint | undefined = provider.endpoints[kind];
  return typeof endpoint === 'object' && endpoint.steps === undefined && endpoint.translation === undefined;
}

/** Rows that came with the call, as the lines of a file. With `params` they are Anthropic's. */
function inlineRows({ requests }: JsonObject): JsonObject[] {
  if (!Array.isArray(requests) || !requests.every(isObject)) {
    throw new GatewayError('invalid_body', 'requests must be a list of rows', { field: 'requests' });
  }
  return objectsOf(requests).map(({ custom_id, params, url, body }) => ({
    custom_id,
    method: 'POST',
    url: isObject(params) ? '/v1/messages' : (url ?? chatPath),
    body: isObject(params) ? params : body,
  }));
}

async function* linesOf(rows: readonly JsonObject[]): AsyncGenerator<Uint8Array> {
  for (const row of rows) yield Buffer.from(`${JSON.stringify(row)}\n`);
}

/** Rows that came with the call are all for one endpoint, which nobody else names. */
async function firstUrl({ files }: BatchService, file: ManagedFileTable | null): Promise<string | null> {
  if (!file) return null;
  for await (const { text } of files.content(file.id)) {
    return textOf(objectOf(parsed(text.slice(0, text.indexOf('\n')))).url);
  }
  return null;
}
