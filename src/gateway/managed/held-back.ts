/** What a provider has written for a batch between guardrails is read by nobody but the gateway, by whatever route and in whatever words it is asked for. */
import type { EndpointKind } from '../../providers/endpoints.ts';
import { objectOf, parsed, textOf } from '../../providers/json.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { isInside } from './inside-calls.ts';

/** Asks the provider of this request for one of its files. */
type LookUp = (fileId: string) => Promise<{ status: number; body: Uint8Array }>;

const kinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'retrieveFile',
  'retrieveFileContent',
  'getBatchOutput',
  'proxy',
]);

/** Whether a request could ask for it at all. */
export const mayReadOutput = ({ matched }: RequestContext): boolean => kinds.has(matched.route.kind);

/** Throws where unchecked answers are asked for. */
export async function refuseHeldBack(deps: GatewayDeps, context: RequestContext, lookUp: LookUp): Promise<void> {
  const { batchService } = deps;
  if (!batchService || isInside(context.request)) return;
  const ids = idsIn(context);
  if (ids.length === 0) return;
  const { organisationId } = context.caller;
  const batch = await batchService.atProviders.heldBack(organisationId, ids);
  if (batch) throw heldBack(batch.id);
  const fileId = context.matched.route.kind === 'getBatchOutput' ? null : fileIdOf(context);
  if (fileId === null || !(await batchService.atProviders.areRunning(organisationId))) return;
  const { status, body } = await lookUp(fileId);
  const purpose = textOf(objectOf(parsed(new TextDecoder().decode(body))).purpose) ?? '';
  // A batch that has just ended may have written it; once the gateway knows its files, all others can be read again.
  if (status === 200 && /output|error/.test(purpose)) {
    throw new GatewayError(
      'batch_not_finished',
      'a batch that guardrails check may have written this file; ask again when it has ended',
    );
  }
}

const heldBack = (batchId: string): GatewayError =>
  new GatewayError(
    'guarded_output',
    `guardrails check what the provider wrote for the batch ${batchId}: read the files that the batch names`,
  );

/** Every word of the address that could name a file or a batch. */
function idsIn({ matched: { route, params }, path, request }: RequestContext): string[] {
  const id = params.id ?? '';
  if (route.kind === 'retrieveFileContent' || route.kind === 'getBatchOutput') return [id];
  // A provider may take an encoded slash for one.
  if (route.kind === 'retrieveFile') return id.endsWith('/content') ? [id.slice(0, id.indexOf('/'))] : [];
  const asked = decoded(path);
  if (route.kind !== 'proxy' || request.method === 'DELETE' || !ofKeptThings.test(asked)) return [];
  return asked.split('/').flatMap((part) => [part, part.split(':')[0] ?? '']);
}

const ofKeptThings = /files|batch|jobs/i;

function fileIdOf({ matched: { route, params }, path }: RequestContext): string | null {
  if (route.kind === 'retrieveFileContent') return params.id ?? null;
  const [, id] = /\/files\/([^/:?]+)(?:\/content|:download)/i.exec(decoded(path)) ?? [];
  return id ?? null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
