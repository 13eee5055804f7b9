/** Policies: limits of a workspace on the calls that their conditions describe. */
import type { Dependant, Resource } from '../kernel/endpoint.ts';
import { ratePolicyEndpoints } from './rate-limits.ts';
import { usagePolicyEndpoints } from './usage-limits.ts';

/** They hinder nobody from removing a workspace, and end with it. */
const policiesOfWorkspace: Dependant = {
  kind: 'policies',
  async remove(db, workspaceId, now) {
    await db
      .updateTable('policies')
      .set({ status: 'archived', last_updated_at: now.toISOString() })
      .where('workspace_id', '=', workspaceId)
      .where('status', '=', 'active')
      .execute();
    return [{ topic: 'catalog', id: workspaceId }];
  },
};

export const policiesResource: Resource = {
  name: 'policies',
  endpoints: [...ratePolicyEndpoints, ...usagePolicyEndpoints],
  dependants: [policiesOfWorkspace],
};
