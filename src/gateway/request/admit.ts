/** Limits of the key, the workspace and policies, before anything is sent. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { Admission, type AdmittedContext } from '../limits/admission.ts';

/** Reading what was made before costs nothing, so an exhausted key may still do it. */
const exempt: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'listModels',
  'retrieveModel',
  'listFiles',
  'retrieveFile',
  'retrieveFileContent',
  'listBatches',
  'retrieveBatch',
  'getBatchOutput',
  'messagesCountTokens',
]);

/** Null where nothing limits this request. `isOurs`: no target will be asked, the gateway answers it itself. `tokens`: of a tool call. */
export function admit(
  deps: GatewayDeps,
  context: AdmittedContext,
  isOurs: boolean,
  tokens?: () => number,
): MaybePromise<Admission | null> {
  const { limits } = deps;
  if (!limits || isExempt(context)) return null;
  const admission = new Admission(limits, context, () => deps.clock.now().getTime());
  context.admission = admission;
  // A single target takes the request's own count together with what it may use, in one step.
  if (admission.onRequest.length === 0 || (!isOurs && reservesOnce(context))) return admission;
  const counted = admission.count(tokens && admission.countsTokens ? tokens() : 0);
  return counted instanceof Promise ? counted.then(() => admission) : admission;
}

/** The refusal by limits of a request that is refused for something else too: limits count first. Null where they have room. */
export async function refusedByLimits(deps: GatewayDeps, context: RequestContext): Promise<GatewayError | null> {
  try {
    const admission = await admit(deps, context, true);
    admission?.end(false);
    return null;
  } catch (fault) {
    if (fault instanceof GatewayError) return fault;
    throw fault;
  }
}

const isExempt = ({ matched, request }: RequestContext): boolean =>
  exempt.has(matched.route.kind) ||
  (request.method === 'GET' && matched.route.kind !== 'realtime' && matched.route.scopes === undefined);

const reservesOnce = ({ plan: { root }, rules, matched }: RequestContext): boolean =>
  root.kind === 'leaf' && root.cache === null && rules.cache === null && matched.route.kind !== 'realtime';
