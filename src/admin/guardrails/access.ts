/** Which guardrails a caller may touch: those of a workspace, and those of the organisation, which its workspaces only read. */
import { forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInOrganisation, mayInWorkspace, maySomewhere, runsAll } from '../../identity/caller.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { GuardrailTable } from '../../store/tables/guardrails.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';

export type GuardrailAction = 'create' | 'read' | 'update' | 'delete' | 'list' | 'invoke';

export const guardrailAccess = <A extends GuardrailAction>(action: A) => ({
  callers: ['admin-key', 'workspace-key', 'user-key', 'session'] as const,
  scope: `guardrails.${action}` as const,
  level: 'workspace' as const,
});

interface Seeker {
  caller: Caller;
  /** The workspace that the call names, or the key's own. */
  workspace: NamedWorkspace | null;
  db: Db;
}

/** The guardrail that `reference` (id or slug) names, if the caller may do this to it. */
export async function reachGuardrail(
  { caller, workspace, db }: Seeker,
  reference: string,
  action: GuardrailAction,
): Promise<GuardrailTable> {
  const found = await db
    .selectFrom('guardrails')
    .selectAll()
    .where('organisation_id', '=', caller.organisationId)
    .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!found) throw notFound('guardrail');
  requireGuardrailScope(caller, found.workspace_id, action);
  if (workspace && found.workspace_id !== null && workspace.id !== found.workspace_id) throw notFound('guardrail');
  return found;
}

export function requireGuardrailScope(caller: Caller, workspaceId: string | null, action: GuardrailAction): void {
  if (workspaceId === null) {
    if (mayTouchOrganisation(caller, action)) return;
    throw forbidden('A guardrail of the organisation is changed by its admins and admin keys only');
  }
  if (mayInWorkspace(caller, `guardrails.${action}`, workspaceId)) return;
  throw forbidden(`This call needs the scope guardrails.${action} in the workspace of the guardrail`);
}

/** Workspaces read and run what the organisation puts on their requests; only those who run the organisation change it. */
function mayTouchOrganisation(caller: Caller, action: GuardrailAction): boolean {
  if (action === 'invoke') return maySomewhere(caller, 'guardrails.invoke');
  if (action === 'read' || action === 'list') return maySomewhere(caller, `guardrails.${action}`);
  if (mayInOrganisation(caller, `organisation_guardrails.${action}`)) return true;
  return runsAll(caller) && maySomewhere(caller, `guardrails.${action}`);
}

/** Who must forget what they know: the workspace of the guardrail, or every workspace of the organisation. */
export const catalogChange = (row: Pick<GuardrailTable, 'organisation_id' | 'workspace_id'>): Change => ({
  topic: 'catalog',
  id: row.workspace_id ?? row.organisation_id,
});
