/** Which kinds of request may be made at all, on routes that are served without a target. */
import { guardsOf } from '../../catalog/guards.ts';
import type { Leaf, PlanNode } from '../../catalog/plan.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { parametersOf } from '../request/body.ts';
import { denialError } from './denial.ts';
import { factsOf, run } from './run.ts';
import { newGuardState } from './state.ts';

/** Throws where a guardrail forbids this kind of request. */
export async function requireAllowedType(deps: GatewayDeps, context: RequestContext): Promise<void> {
  const guards = guardsOf(context.workspace, leafOf(context.plan.root));
  if (!guards) return;
  if (guards.fault !== null) throw new GatewayError('guardrail_not_found', guards.fault);
  const { gate } = guards.input;
  if (gate.length === 0) return;
  const request = parametersOf(context.body);
  const state = newGuardState(guards, request);
  const outcome = await run(deps, context, gate, factsOf(context, '', request, null));
  state.before = outcome.results;
  if (outcome.denial) throw denialError(outcome.denial, state);
}

/** What a config says of all its targets stands in each of them. */
export const leafOf = (node: PlanNode): Leaf => {
  if (node.kind === 'leaf') return node;
  const [first] = node.children;
  if (!first) throw new Error('A strategy has at least one target');
  return leafOf(first);
};
