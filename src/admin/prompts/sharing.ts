/** Shares in the store: which workspaces may use a prompt or partial that belongs to another. */
import { ApiError, conflict, invalid } from '../../http/errors.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { findWorkspace } from '../kernel/workspace-lock.ts';
import type { ItemKind, ItemRow } from './access.ts';

export interface ShareInfo {
  type: 'organisation' | 'workspaces';
  /** Ids; empty where the whole organisation is meant. */
  workspaces: string[];
}

export async function shareOf(db: Db, itemId: string): Promise<ShareInfo | null> {
  return (await sharesOf(db, [itemId])).get(itemId) ?? null;
}

export async function sharesOf(db: Db, itemIds: readonly string[]): Promise<Map<string, ShareInfo>> {
  if (itemIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('prompt_shares as share')
    .leftJoin('prompt_share_workspaces as reader', 'reader.share_id', 'share.id')
    .select(['share.item_id', 'share.audience', 'reader.workspace_id'])
    .where('share.item_id', 'in', itemIds)
    .orderBy('reader.workspace_id')
    .execute();
  const found = new Map<string, ShareInfo>();
  for (const { item_id, audience, workspace_id } of rows) {
    const info = found.get(item_id) ?? { type: audience, workspaces: [] };
    if (workspace_id !== null) info.workspaces.push(workspace_id);
    found.set(item_id, info);
  }
  return found;
}

export async function putShare(db: Db, kind: ItemKind, row: ItemRow, share: ShareInfo, now: Date): Promise<void> {
  await removeShares(db, [row.id]);
  const id = Bun.randomUUIDv7();
  await db
    .insertInto('prompt_shares')
    .values({
      id,
      item_type: kind,
      item_id: row.id,
      organisation_id: row.organisation_id,
      workspace_id: row.workspace_id,
      audience: share.type,
      created_at: now.toISOString(),
    })
    .execute();
  if (share.type === 'organisation' || share.workspaces.length === 0) return;
  await db
    .insertInto('prompt_share_workspaces')
    .values(share.workspaces.map((workspace_id) => ({ share_id: id, workspace_id })))
    .execute();
}

export async function removeShares(db: Db, itemIds: readonly string[]): Promise<void> {
  if (itemIds.length === 0) return;
  const shares = db.selectFrom('prompt_shares').select('id').where('item_id', 'in', itemIds);
  await db.deleteFrom('prompt_share_workspaces').where('share_id', 'in', shares).execute();
  await db.deleteFrom('prompt_shares').where('item_id', 'in', itemIds).execute();
}

/** The audience that a body names: workspaces of the organisation other than the owner's own. */
export async function readAudience(
  db: Db,
  row: ItemRow,
  { type, workspaces = [] }: { type: ShareInfo['type']; workspaces?: string[] | undefined },
): Promise<ShareInfo> {
  if (type === 'organisation') return { type, workspaces: [] };
  if (workspaces.length === 0) throw invalid('workspaces', 'must name at least one workspace');
  const ids = new Set<string>();
  for (const [index, reference] of workspaces.entries()) {
    const found = await findWorkspace(db, row.organisation_id, reference);
    if (!found || found.status === 'archived') {
      const message = 'names no workspace of this organisation';
      throw new ApiError('AB08', `workspaces.${index}: ${message}`, {
        errors: [{ location: 'body', path: `workspaces.${index}`, message }],
      });
    }
    if (found.id === row.workspace_id) throw invalid(`workspaces.${index}`, 'is the workspace that owns it');
    ids.add(found.id);
  }
  return { type, workspaces: [...ids] };
}

/** What a first share and one that stands already make together. */
export function widened(old: ShareInfo | null, wanted: ShareInfo): ShareInfo {
  if (!old) return wanted;
  if (isSame(old, wanted)) throw conflict('It is shared with the same audience already');
  if (old.type === 'organisation' || wanted.type === 'organisation') return { type: 'organisation', workspaces: [] };
  return { type: 'workspaces', workspaces: [...new Set([...old.workspaces, ...wanted.workspaces])] };
}

const isSame = (one: ShareInfo, other: ShareInfo): boolean =>
  one.type === other.type && Bun.deepEquals([...one.workspaces].sort(), [...other.workspaces].sort());

/** True where everybody in `wanted` may use what is shared as `held` says. */
export const covers = (held: ShareInfo | null, wanted: ShareInfo): boolean => {
  if (!held) return false;
  if (held.type === 'organisation') return true;
  return wanted.type === 'workspaces' && wanted.workspaces.every((id) => held.workspaces.includes(id));
};

/** Every workspace of the organisation may be a reader, and the gateway knows readers by workspace. */
export const shareChange = (row: ItemRow): Change => ({ topic: 'catalog', id: row.organisation_id });
