/** One target being tried: the request, the leaf of its plan, what the leaf resolves to, and what is remembered of the attempt. */
import type { Leaf } from '../../catalog/plan.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import type { HoldBytes } from '../request/body-budget.ts';
import type { AttemptRecord } from './answer.ts';
import type { Target } from './target.ts';

export interface AttemptContext {
  readonly deps: GatewayDeps;
  readonly context: RequestContext;
  readonly leaf: Leaf;
  readonly record: AttemptRecord;
  readonly target: Target;
  /** The parameters as they go to the target; a step may replace them. */
  shaped: JsonObject;
}

/** Counts what is held for the request until it is over. */
export function holdFor({ deps: { bodies }, context: { request, caller } }: AttemptContext): HoldBytes {
  return (bytes) => bodies.hold(request, caller.organisationId, bytes);
}
