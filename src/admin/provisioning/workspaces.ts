/** Which workspaces may use an integration of the organisation: the list, and what a change of it does. */
import { notFound } from '../../http/errors.ts';
import { actorId, type Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode, type JsonText } from '../../store/json.ts';
import type { Page } from '../kernel/endpoint.ts';
import { countOf, holdsInAnyCase } from '../kernel/lists/list-queries.ts';
import { activeWorkspaceIds } from '../workspaces/references.ts';
import type { Family } from './family.ts';
import { setGrant } from './grants.ts';
import type { WorkspacesUpdate } from './schema.ts';

interface Integration {
  id: string;
  organisation_id: string;
  slug: string;
  name: string;
  global_workspace_access: JsonText<{ enabled: boolean }> | null;
}

export async function listWorkspacesOf(
  family: Family,
  db: Db,
  integration: Integration,
  { version, search }: { version?: string | undefined; search?: string | undefined },
  page: Page,
) {
  const active = db
    .selectFrom('workspaces')
    .select('workspaces.id')
    .where('status', '=', 'active')
    .$if(search !== undefined, (found) =>
      found.where((eb) =>
        eb.or([holdsInAnyCase(eb.ref('name'), search ?? ''), holdsInAnyCase(eb.ref('slug'), search ?? '')]),
      ),
    );
  const grants = db
    .selectFrom(family.grants)
    .where('integration_id', '=', integration.id)
    .where('workspace_id', 'in', active);
  const total = await countOf(grants);
  const rows = await grants
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('workspace_id', 'desc')
    .limit(page.size)
    .offset(page.offset)
    .execute();
  const records = rows.map((row) => ({
    id: row.workspace_id,
    enabled: row.enabled === 1,
    status: 'active' as const,
    created_at: row.created_at,
    last_updated_at: row.last_updated_at,
  }));
  return {
    ...(version === undefined ? { workspaces: records } : { data: records }),
    global_workspace_access: integration.global_workspace_access && decode(integration.global_workspace_access),
    total,
  };
}

/** Answers what was set, for the audit row. */
export async function setWorkspacesOf(
  family: Family,
  db: Db,
  now: Date,
  caller: Caller,
  integration: Integration,
  body: WorkspacesUpdate,
): Promise<{ id: string; enabled: boolean }[]> {
  if (body.global_workspace_access !== undefined) {
    const access = body.global_workspace_access && encode(body.global_workspace_access);
    await db
      .updateTable(family.integrations)
      .set({ global_workspace_access: access, last_updated_at: now.toISOString() })
      .where('id', '=', integration.id)
      .execute();
  }
  const references = body.workspaces.map(({ id }) => id);
  const ids = await activeWorkspaceIds(db, caller.organisationId, references);
  const wanted = new Map<string, boolean>();
  for (const { id, enabled } of body.workspaces) {
    const workspaceId = ids.get(id);
    if (workspaceId === undefined) throw notFound(`workspace: ${id}`);
    wanted.set(workspaceId, enabled);
  }
  if (body.override_existing_workspace_access) {
    const stored = await db
      .selectFrom(family.grants)
      .select('workspace_id')
      .where('integration_id', '=', integration.id)
      .execute();
    for (const { workspace_id } of stored) if (!wanted.has(workspace_id)) wanted.set(workspace_id, false);
  }
  for (const [workspaceId, enabled] of wanted) {
    await setGrant(family, db, now, integration, { workspaceId, enabled, createdBy: actorId(caller) });
  }
  return [...wanted].map(([id, enabled]) => ({ id, enabled }));
}
