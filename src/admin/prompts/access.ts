/** Which prompts and partials a caller may touch: those of workspaces where they hold the scope, and for reading those shared with them. */
import { forbidden, invalid, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, workspacesWith } from '../../identity/caller.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { PromptTable } from '../../store/tables/prompts.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';

export type PromptAction = 'create' | 'read' | 'update' | 'delete' | 'list' | 'publish';

/** Collections, labels and partials are opened by the scopes of prompts. */
export const promptAccess = <A extends PromptAction>(action: A) => ({
  callers: ['admin-key', 'workspace-key', 'user-key', 'session'] as const,
  scope: `prompts.${action}` as const,
  level: 'workspace' as const,
});

/** A prompt and a partial are rows of one form, in tables of their own. */
export type ItemKind = 'prompt' | 'partial';
export type ItemRow = PromptTable;
export const tableOf = { prompt: 'prompts', partial: 'prompt_partials' } as const;

export interface Seeker {
  caller: Caller;
  /** The workspace that the call names, or the key's own. */
  workspace: NamedWorkspace | null;
  db: Db;
}

export interface Reached {
  row: ItemRow;
  /** True where it belongs to another workspace, which shares it. */
  shared: boolean;
}

/** The prompt or partial that `reference` (id or slug) names, if the caller may do this to it. */
export async function reachItem(
  seeker: Seeker,
  kind: ItemKind,
  reference: string,
  action: PromptAction,
): Promise<Reached> {
  const { caller, workspace, db } = seeker;
  const row = await db
    .selectFrom(tableOf[kind])
    .selectAll()
    .where('organisation_id', '=', caller.organisationId)
    .where(reference.startsWith('pp-') ? 'slug' : 'id', '=', reference)
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!row) throw notFound(kind);
  const own = !workspace || workspace.id === row.workspace_id;
  if (own && mayInWorkspace(caller, `prompts.${action}`, row.workspace_id)) return { row, shared: false };
  if (await isSharedWithCaller(seeker, row.id)) {
    if (action === 'read') return { row, shared: true };
    throw forbidden(`This ${kind} is shared for reading; only the workspace that owns it changes it`);
  }
  if (own || !mayInWorkspace(caller, `prompts.${action}`, row.workspace_id)) {
    throw forbidden(`This call needs the scope prompts.${action} in the workspace of the ${kind}`);
  }
  throw notFound(kind);
}

/** For what only the owning workspace does. */
export async function reachOwn(
  seeker: Seeker,
  kind: ItemKind,
  reference: string,
  action: PromptAction,
): Promise<ItemRow> {
  const { row } = await reachItem(seeker, kind, reference, action);
  return row;
}

async function isSharedWithCaller({ caller, workspace, db }: Seeker, itemId: string): Promise<boolean> {
  const readers = workspace
    ? mayInWorkspace(caller, 'prompts.read', workspace.id)
      ? [workspace.id]
      : []
    : workspacesWith(caller, 'prompts.read');
  // Whoever reads in every workspace needs no share.
  if (readers === 'all' || readers.length === 0) return false;
  return isSharedWith(db, itemId, readers);
}

/** Whether one of these workspaces is among those that the item is shared with. */
export async function isSharedWith(db: Db, itemId: string, workspaceIds: readonly string[]): Promise<boolean> {
  const share = await db
    .selectFrom('prompt_shares')
    .select(['id', 'audience'])
    .where('item_id', '=', itemId)
    .executeTakeFirst();
  if (!share) return false;
  if (share.audience === 'organisation') return true;
  const named = await db
    .selectFrom('prompt_share_workspaces')
    .select('workspace_id')
    .where('share_id', '=', share.id)
    .where('workspace_id', 'in', workspaceIds)
    .executeTakeFirst();
  return named !== undefined;
}

/** The workspace that something new goes to; a caller of the whole organisation must name it. */
export function requireDestination(workspace: NamedWorkspace | null): string {
  if (!workspace) throw invalid('workspace_id', 'is required: name a workspace by id or slug');
  if (workspace.status === 'archived')
    throw invalid('workspace_id', 'names an archived workspace, which takes nothing new');
  return workspace.id;
}

/** What the gateway keeps of a workspace is to be read again. */
export const promptsChanged = (workspaceId: string): Change => ({ topic: 'catalog', id: workspaceId });
