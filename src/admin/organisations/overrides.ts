/** Opening sections of the settings to workspaces, and closing them again. */
import {
  afterOverrideChange,
  type OrganisationSettings,
  type OverrideSection,
  overrideSections,
  type WorkspaceOverrides,
} from '../../identity/settings.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { OrganisationTable, WorkspaceTable } from '../../store/schema.ts';

/** Carries the change into every workspace and answers the switches as they stand then. */
export async function changeOverrides(
  db: Db,
  now: Date,
  organisation: OrganisationTable,
  settings: OrganisationSettings,
  wanted: WorkspaceOverrides,
): Promise<WorkspaceOverrides> {
  const before = decode(organisation.workspace_overrides);
  const after = { ...before, ...wanted };
  const opened = overrideSections.filter((section) => !before[section] && after[section]);
  const closed = overrideSections.filter((section) => before[section] && !after[section]);
  if (opened.length > 0 || closed.length > 0) {
    await rewriteWorkspaces(db, now, organisation.id, settings, { opened, closed });
  }
  return after;
}

const idsPerStatement = 500;

async function rewriteWorkspaces(
  db: Db,
  now: Date,
  organisationId: string,
  settings: OrganisationSettings,
  change: { opened: OverrideSection[]; closed: OverrideSection[] },
): Promise<void> {
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['id', 'settings'])
    .where('organisation_id', '=', organisationId)
    .execute();
  // Most workspaces end up with the same values, so they are written together.
  const idsByValues = new Map<WorkspaceTable['settings'], string[]>();
  for (const workspace of workspaces) {
    const values = encode(afterOverrideChange(decode(workspace.settings), settings, change));
    if (values === workspace.settings) continue;
    const alike = idsByValues.get(values);
    if (alike) alike.push(workspace.id);
    else idsByValues.set(values, [workspace.id]);
  }
  for (const [values, ids] of idsByValues) {
    for (let start = 0; start < ids.length; start += idsPerStatement) {
      await db
        .updateTable('workspaces')
        .set({ settings: values, last_updated_at: now.toISOString() })
        .where('id', 'in', ids.slice(start, start + idsPerStatement))
        .execute();
    }
  }
}
