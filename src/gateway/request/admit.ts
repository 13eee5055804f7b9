/** Budgets and rate limits of the key and the workspace, before anything is sent. */
import type { EndpointKind } from '../../providers/endpoints.ts';
import type { Identified } from '../context.ts';
import { GatewayError } from '../errors.ts';

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
]);

export function admit({ caller, matched }: Identified): void {
  if (caller.exhausted && !exempt.has(matched.route.kind)) {
    throw new GatewayError(
      'usage_limit_exceeded',
      `usage limit exceeded for API key "${caller.keyName}"; raise its limit or reset its usage`,
    );
  }
}
