/** Which integrations a caller may touch: those of the organisation and those of a workspace have scopes of their own. */
import { forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInOrganisation, mayInWorkspace } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { IntegrationTable } from '../../store/tables/catalog.ts';

type IntegrationAction = 'create' | 'read' | 'update' | 'delete' | 'list';

export const everyCaller = ['admin-key', 'workspace-key', 'user-key', 'session'] as const;

/** Access to a route that names an integration: one of the two families must be held, and the handler asks for the right one. */
export const integrationAccess = (action: IntegrationAction) => ({
  callers: everyCaller,
  scope: { anyOf: [`organisation_integrations.${action}`, `workspace_integrations.${action}`] as const },
  level: 'workspace' as const,
});

/** The integration of the caller's organisation that `reference` (id or slug) names, if the caller may do this to it. */
export async function reachIntegration(
  db: Db,
  caller: Caller,
  reference: string,
  action: IntegrationAction,
): Promise<IntegrationTable> {
  const row = await findIntegration(db, caller.organisationId, reference);
  if (!row) throw notFound('integration');
  requireIntegrationScope(caller, row.workspace_id, action);
  return row;
}

/** An archived integration does not exist for any caller. */
export async function findIntegration(
  db: Db,
  organisationId: string,
  reference: string,
): Promise<IntegrationTable | undefined> {
  return db
    .selectFrom('integrations')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where((eb) => eb.or([eb('slug', '=', reference), eb('id', '=', reference)]))
    .where('status', '=', 'active')
    .executeTakeFirst();
}

export function requireIntegrationScope(caller: Caller, workspaceId: string | null, action: IntegrationAction): void {
  const scope: Scope =
    workspaceId === null ? `organisation_integrations.${action}` : `workspace_integrations.${action}`;
  const held = workspaceId === null ? mayInOrganisation(caller, scope) : mayInWorkspace(caller, scope, workspaceId);
  if (held) return;
  throw forbidden(
    workspaceId === null
      ? `An integration of the organisation needs the scope ${scope}, which keys of a workspace cannot hold`
      : `An integration of a workspace needs the scope ${scope} there`,
  );
}

/** Who must forget what they know: the workspace of the integration, or every workspace of the organisation. */
export const catalogChange = (row: Pick<IntegrationTable, 'organisation_id' | 'workspace_id'>): Change => ({
  topic: 'catalog',
  id: row.workspace_id ?? row.organisation_id,
});
