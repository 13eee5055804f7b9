/** Nitro mode: a call whose body nobody here reads. It goes to a provider of the route's own dialect as it arrives. */
import type { WorkspaceCatalog } from '../../catalog/catalog.ts';
import type { Plan, PlanNode } from '../../catalog/plan.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import type { ProviderEndpoint, Translation } from '../../providers/provider.ts';
import { streamOf } from '../../wire/client/streamed.ts';
import { restrictsModels, type Target } from '../attempt/target.ts';
import type { Identified, RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { hidden } from '../upstream/passthrough-model-guard.ts';
import type { ClientBody } from './body.ts';

const kinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'embed',
  'messages',
  'createModelResponse',
]);

export const wantsNitro = ({ own }: Identified): boolean => own.flag('nitro-mode') === true;

export function unreadBody({ request, workspace, matched: { route } }: Identified, { root }: Plan): ClientBody {
  if (!kinds.has(route.kind)) throw unsupported(`${route.kind} is not offered`);
  const obstacle = obstacleIn(root, workspace);
  if (obstacle) throw unsupported(`the config must have no ${obstacle}`);
  const contentType = request.headers.get('content-type');
  if (contentType !== null && !/^application\/json\b/i.test(contentType)) throw unsupported('the body must be JSON');
  return request.body ? { form: 'stream', stream: streamOf(request.body), contentType } : { form: 'none' };
}

/** What a config says that cannot be done without reading, or with a body that is sent only once. */
function obstacleIn(root: PlanNode, workspace: WorkspaceCatalog): string | null {
  if (root.kind === 'strategy') return 'strategy';
  if ((root.retry?.attempts ?? 0) > 0) return 'retry';
  if (root.overrideParams || root.defaultParams || root.dropParams.length > 0) return 'parameters to set or drop';
  const guarded = root.hooks.before.length > 0 || workspace.guardrails.defaults.input.length > 0;
  return guarded ? 'input guardrails' : null;
}

/** What must be known of an operation to tell whether it takes a body as it comes. */
interface Native {
  endpoint: ProviderEndpoint;
  translation: Translation | null;
  passthrough: boolean;
}

/** Whether a body that was not read can go to this endpoint as it is. */
export function requireNative({ body, matched }: RequestContext, { saved, provider }: Target, operation: Native): void {
  if (body.form !== 'stream' || !kinds.has(matched.route.kind) || operation.passthrough) return;
  const { endpoint, translation } = operation;
  if (translation || endpoint.steps || typeof endpoint.path === 'function') {
    throw unsupported(`${provider.id} does not take ${matched.route.kind} as it comes`);
  }
  if (saved && restrictsModels(saved)) throw hidden(saved);
}

const unsupported = (reason: string): GatewayError =>
  new GatewayError('nitro_unsupported', `this call cannot be made in nitro mode: ${reason}`, {
    field: 'x-gw-nitro-mode',
  });
