/** Workspaces that the organisation's default guardrails leave alone. */
import { invalid } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import type { GuardrailDirection } from '../../store/schema.ts';
import { activeWorkspaceIds } from '../workspaces/references.ts';

interface Wish {
  workspace_id: string;
  excluded: boolean;
}

/** As the body of the call says it. */
interface Wishes {
  workspaces: readonly Wish[];
  override_existing: boolean;
}

interface ExclusionChange {
  excluded: string[];
  included: string[];
}

/** Merges the wishes into the list, or makes them the whole list; answers which workspaces changed. */
export async function changeExclusions(
  db: Db,
  now: Date,
  organisationId: string,
  direction: GuardrailDirection,
  { workspaces: wishes, override_existing: replace }: Wishes,
): Promise<ExclusionChange> {
  const wanted = await resolve(db, organisationId, wishes);
  const existing = await db
    .selectFrom('guardrail_exclusions')
    .select('workspace_id')
    .where('organisation_id', '=', organisationId)
    .where('direction', '=', direction)
    .execute();
  const listed = new Set(existing.map((row) => row.workspace_id));
  const excluded = [...wanted].filter(([id, wish]) => wish && !listed.has(id)).map(([id]) => id);
  const included = [...listed].filter((id) => !(wanted.get(id) ?? !replace));
  await remove(db, direction, included);
  await insert(db, now, organisationId, direction, excluded);
  return { excluded, included };
}

/** Workspace id to what is wished for it. */
async function resolve(db: Db, organisationId: string, wishes: readonly Wish[]): Promise<Map<string, boolean>> {
  const wanted = new Map<string, boolean>();
  const references = wishes.map((wish) => wish.workspace_id);
  const ids = await activeWorkspaceIds(db, organisationId, references);
  for (const [index, wish] of wishes.entries()) {
    const id = ids.get(wish.workspace_id);
    const field = `workspaces.${index}.workspace_id`;
    if (id === undefined) throw invalid(field, `${wish.workspace_id} is no active workspace of the organisation`);
    if (wanted.has(id)) throw invalid(field, `${wish.workspace_id} is named twice`);
    wanted.set(id, wish.excluded);
  }
  return wanted;
}

/** Parameters of one statement are limited, so large lists go in slices. */
const rowsPerStatement = 500;

async function remove(db: Db, direction: GuardrailDirection, workspaceIds: readonly string[]): Promise<void> {
  for (let start = 0; start < workspaceIds.length; start += rowsPerStatement) {
    await db
      .deleteFrom('guardrail_exclusions')
      .where('direction', '=', direction)
      .where('workspace_id', 'in', workspaceIds.slice(start, start + rowsPerStatement))
      .execute();
  }
}

async function insert(
  db: Db,
  now: Date,
  organisationId: string,
  direction: GuardrailDirection,
  workspaceIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < workspaceIds.length; start += rowsPerStatement) {
    await db
      .insertInto('guardrail_exclusions')
      .values(
        workspaceIds.slice(start, start + rowsPerStatement).map((workspaceId) => ({
          organisation_id: organisationId,
          workspace_id: workspaceId,
          direction,
          created_at: now.toISOString(),
        })),
      )
      .execute();
  }
}
