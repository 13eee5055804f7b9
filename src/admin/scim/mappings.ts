/** Groups that lead to workspaces: mappings made by hand, and those that the name of a group makes. */
import { type WorkspaceRole, workspaceRoles } from '../../identity/roles.ts';
import type { ScimGroupTable, ScimWorkspaceTable } from '../../store/tables/scim.ts';
import { provisionNewWorkspace } from '../integrations/provision.ts';
import { insertSandbox } from '../integrations/sandbox.ts';
import { agentFamily, mcpFamily } from '../provisioning/family.ts';
import { provisionIntegrations } from '../provisioning/grants.ts';
import { insertWorkspace } from '../workspaces/create.ts';
import { splitIcon } from '../workspaces/name.ts';
import { recordEffect, type ScimContext } from './context.ts';
import type { ScimSettings } from './settings.ts';

export interface PatternName {
  workspace: string;
  role: WorkspaceRole;
}

/** `ws-Research Lab-role-manager` leads managers to the workspace `Research Lab`; null for a name of another form. */
export function patternName(name: string, settings: ScimSettings): PatternName | null {
  const { patternPrefix: prefix, patternRoleSeparator: separator } = settings;
  if (!name.startsWith(prefix)) return null;
  const at = name.lastIndexOf(separator);
  const workspace = name.slice(prefix.length, Math.max(at, 0)).trim();
  const role = workspaceRoles.find(
    (known) =>
      known ===
      name
        .slice(at + separator.length)
        .trim()
        .toLowerCase(),
  );
  return at >= prefix.length && workspace !== '' && workspace.length <= 255 && role ? { workspace, role } : null;
}

export async function insertMapping(
  { db, now, organisationId }: ScimContext,
  mapping: Pick<ScimWorkspaceTable, 'group_id' | 'workspace_id' | 'role' | 'source'>,
): Promise<ScimWorkspaceTable> {
  const at = now.toISOString();
  const row: ScimWorkspaceTable = {
    id: Bun.randomUUIDv7(),
    organisation_id: organisationId,
    ...mapping,
    status: 'active',
    created_at: at,
    last_updated_at: at,
  };
  await db.insertInto('scim_workspaces').values(row).execute();
  return row;
}

export const activeMappings = ({ db }: Pick<ScimContext, 'db'>, groupId: string): Promise<ScimWorkspaceTable[]> =>
  db
    .selectFrom('scim_workspaces')
    .selectAll()
    .where('group_id', '=', groupId)
    .where('status', '=', 'active')
    .orderBy('created_at')
    .orderBy('id')
    .execute();

export async function archiveMappings({ db, now }: ScimContext, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('scim_workspaces')
    .set({ status: 'archived', last_updated_at: now.toISOString() })
    .where('id', 'in', ids)
    .execute();
}

/** Makes the mapping that the name of the group asks for, and ends the one that an earlier name asked for; tells whether it did. */
export async function followPattern(context: ScimContext, group: ScimGroupTable): Promise<boolean> {
  const wanted = patternName(group.display_name, context.settings);
  const before = (await activeMappings(context, group.id)).filter(({ source }) => source === 'pattern');
  const workspaceId = wanted && (await patternWorkspace(context, wanted.workspace));
  const fits = (mapping: ScimWorkspaceTable) => mapping.workspace_id === workspaceId && mapping.role === wanted?.role;
  const over = before.filter((mapping) => !fits(mapping)).map(({ id }) => id);
  await archiveMappings(context, over);
  if (!wanted || workspaceId === null || before.some(fits)) return over.length > 0;
  const { role } = wanted;
  const mapping = await insertMapping(context, {
    group_id: group.id,
    workspace_id: workspaceId,
    role,
    source: 'pattern',
  });
  await recordEffect(context, {
    resource: 'scim_workspace',
    action: 'create',
    resourceId: mapping.id,
    workspaceId,
    details: { group: group.display_name, workspace_id: workspaceId, role, pattern: true },
  });
  return true;
}

/** By its plain name, then by its slug; the oldest of several; made where there is none. */
async function patternWorkspace(context: ScimContext, name: string): Promise<string> {
  const { db, organisationId } = context;
  for (const column of ['name', 'slug'] as const) {
    const found = await db
      .selectFrom('workspaces')
      .select('id')
      .where('organisation_id', '=', organisationId)
      .where('status', '=', 'active')
      .where(column, '=', splitIcon(name).name)
      .orderBy('created_at')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (found) return found.id;
  }
  return makeWorkspace(context, name);
}

async function makeWorkspace(context: ScimContext, name: string): Promise<string> {
  const { db, now, organisationId } = context;
  const workspaceId = await insertWorkspace(db, now, { organisationId, ...splitIcon(name), createdBy: null });
  await provisionNewWorkspace(db, now, workspaceId, organisationId);
  await insertSandbox(db, now, { organisationId, workspaceId, createdBy: null });
  for (const family of [mcpFamily, agentFamily])
    await provisionIntegrations(family, db, now, workspaceId, organisationId);
  context.changed({ topic: 'workspace', id: workspaceId });
  await recordEffect(context, {
    resource: 'workspace',
    action: 'create',
    resourceId: workspaceId,
    workspaceId,
    details: { name },
  });
  return workspaceId;
}
