/** Labels in the store, together with the universal ones, which are nowhere stored. */
import { conflict, forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, runsAll } from '../../identity/caller.ts';
import {
  type UniversalLabel,
  universalLabel,
  universalLabels,
  universalSince,
} from '../../prompts/universal-labels.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { PromptLabelTable } from '../../store/tables/prompts.ts';
import type { PromptAction, Seeker } from '../prompts/access.ts';

export const asRecord = (row: PromptLabelTable) => ({
  object: 'label' as const,
  ...row,
  is_universal: false,
  status: 'active' as const,
});

export const asUniversal = ({ id, name, description, color }: UniversalLabel, organisationId: string) => ({
  object: 'label' as const,
  id,
  name,
  description,
  color_code: color,
  organisation_id: organisationId,
  workspace_id: null,
  is_universal: true,
  status: 'active' as const,
  created_at: universalSince,
  last_updated_at: universalSince,
});

export type LabelRecord = ReturnType<typeof asRecord> | ReturnType<typeof asUniversal>;

/** The label of this id, if the caller may do this to it. Everybody may read the universal ones and nobody changes them. */
export async function reachLabel(seeker: Seeker, id: string, action: PromptAction): Promise<LabelRecord> {
  const { caller, workspace, db } = seeker;
  const universal = universalLabel(id);
  if (universal) {
    if (action !== 'read') throw forbidden(`The label ${universal.name} is universal and stays as it is`);
    return asUniversal(universal, caller.organisationId);
  }
  const row = await db
    .selectFrom('prompt_labels')
    .selectAll()
    .where('organisation_id', '=', caller.organisationId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw notFound('label');
  requireMay(caller, row, action);
  if (workspace && row.workspace_id !== null && row.workspace_id !== workspace.id) throw notFound('label');
  return asRecord(row);
}

/** A label of the whole organisation is read by everybody in it and changed by those who run it. */
function requireMay(caller: Caller, { workspace_id }: PromptLabelTable, action: PromptAction): void {
  const may =
    workspace_id === null
      ? action === 'read' || runsAll(caller)
      : mayInWorkspace(caller, `prompts.${action}`, workspace_id);
  if (!may) throw forbidden(`This call needs the scope prompts.${action} in the workspace of the label`);
}

/** The labels that a workspace sees: its own and those of the organisation. Without a workspace, those of all. */
export const labelsSeen = (db: Db, organisationId: string, workspaces: 'all' | readonly string[]) => {
  const labels = db.selectFrom('prompt_labels').where('organisation_id', '=', organisationId);
  if (workspaces === 'all') return labels;
  return labels.where((eb) =>
    eb.or([eb('workspace_id', 'is', null), ...(workspaces.length > 0 ? [eb('workspace_id', 'in', workspaces)] : [])]),
  );
};

/** A name means one label wherever it is used: in a workspace, those of the organisation count too. */
export async function requireNameFree(
  db: Db,
  organisationId: string,
  workspaceId: string | null,
  name: string,
  except: string | null = null,
): Promise<void> {
  const rivals = labelsSeen(db, organisationId, workspaceId === null ? 'all' : [workspaceId]).where('name', '=', name);
  const taken = await (except === null ? rivals : rivals.where('id', '!=', except)).select('id').executeTakeFirst();
  if (taken || universalLabels.some((label) => label.name === name)) {
    throw conflict(`There is a label ${name} already`);
  }
}

/** The gateway finds versions by the names of labels. */
export const labelChange = (label: LabelRecord): Change => ({
  topic: 'catalog',
  id: label.workspace_id ?? label.organisation_id,
});
