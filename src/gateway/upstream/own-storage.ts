/** Which objects of a cloud's storage belong to a call: those below a folder of its workspace, in the bucket that its integration names. */
import type { CallFacts, OwnStorage } from '../../providers/provider.ts';
import { setting } from '../../providers/settings.ts';
import type { Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import { isGatewaysOwn } from './borrowed-identity.ts';

/** Null where the caller brought the credentials along, which then decide by themselves. */
export function ownStorage(context: RequestContext, target: Target, facts: CallFacts): OwnStorage | null {
  const { plan, workspace, lentBuckets } = context;
  const authentication = target.provider.authentication?.(facts) ?? null;
  const lent = authentication !== null && isGatewaysOwn(authentication);
  if (target.saved === null && plan.saved === null && !lent) return null;
  // What an inline config adds to an integration was not written by those who saved it.
  const fields = target.saved && plan.saved === null ? target.saved.fields : target.fields;
  const bucket = setting(fields, 'aws_s3_bucket', 'vertex_storage_bucket_name');
  return {
    folder: `gw/${workspace.workspaceId}/`,
    lent,
    allows: (named) => named === bucket && (!lent || lentBuckets.has(named)),
  };
}
