/** What a provider keeps must be found there again: uploads, batches and fine-tunes go to one target alone. */
import type { Plan, PlanNode } from '../../catalog/plan.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { GatewayError } from '../errors.ts';

const kept: ReadonlySet<EndpointKind> = new Set<EndpointKind>(['uploadFile', 'createBatch', 'createFinetune']);

export function requireSingleTarget(kind: EndpointKind, { root }: Plan): void {
  if (!kept.has(kind) || leaves(root) <= 1) return;
  throw new GatewayError(
    'router_invalid_target',
    'files, batches and fine-tunes stay with one provider: use a config with a single target, or name the provider',
    { field: 'x-gw-config' },
  );
}

const leaves = (node: PlanNode): number =>
  node.kind === 'leaf' ? 1 : node.children.reduce((sum, child) => sum + leaves(child), 0);
