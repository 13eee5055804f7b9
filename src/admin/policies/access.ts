/** Which policies a caller may touch: those of the workspaces in which they hold the scope. */
import { forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, workspacesWith } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { PolicyTable } from '../../store/tables/limits.ts';
import type { NamedWorkspace, Page } from '../kernel/endpoint.ts';
import { holdsInAnyCase } from '../kernel/lists/list-queries.ts';

type PolicyAction = 'create' | 'read' | 'update' | 'delete' | 'list';

export const policyAccess = <A extends PolicyAction>(action: A) => ({
  callers: ['admin-key', 'workspace-key', 'user-key', 'session'] as const,
  scope: `policies.${action}` as const,
  level: 'workspace' as const,
});

interface Seeker {
  caller: Caller;
  workspace: NamedWorkspace | null;
  db: Db;
}

/** The policy of this kind with this id, if the caller may do this to it; `status` leaves out those in the other state. */
export async function reachPolicy(
  { caller, workspace, db }: Seeker,
  kind: PolicyTable['kind'],
  id: string,
  action: PolicyAction,
  status?: PolicyTable['status'],
): Promise<PolicyTable> {
  const found = await db
    .selectFrom('policies')
    .selectAll()
    .where('id', '=', id)
    .where('organisation_id', '=', caller.organisationId)
    .where('kind', '=', kind)
    .executeTakeFirst();
  if (!found) throw notFound('policy');
  if (!mayInWorkspace(caller, `policies.${action}`, found.workspace_id)) {
    throw forbidden(`This call needs the scope policies.${action} in the workspace of the policy`);
  }
  if (workspace && workspace.id !== found.workspace_id) throw notFound('policy');
  if (status !== undefined && found.status !== status) throw notFound('policy');
  return found;
}

export function visiblePolicies({ caller, workspace, db }: Seeker, kind: PolicyTable['kind'], part?: string) {
  const workspaces = workspace ? [workspace.id] : workspacesWith(caller, 'policies.list');
  const policies = db
    .selectFrom('policies')
    .where('kind', '=', kind)
    .$if(part !== undefined, (found) =>
      found.where((eb) => holdsInAnyCase(eb.ref('name').$castTo<string>(), part ?? '')),
    );
  return workspaces === 'all'
    ? policies.where('organisation_id', '=', caller.organisationId)
    : policies.where('workspace_id', 'in', workspaces);
}

/** Clients write a page of 0 rows for the usual page. */
export const usualPage = (page: Page, size: number): Page =>
  page.size > 0 ? page : { index: page.index, size, offset: page.index * size };
