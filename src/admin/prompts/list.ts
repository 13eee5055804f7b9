/** Lists of prompts and partials: one's own, or what other workspaces share. */
import { type Caller, workspacesWith } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { collectionIn, reachCollection } from '../collections/access.ts';
import type { NamedWorkspace, Page } from '../kernel/endpoint.ts';
import { holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { type ItemKind, type ItemRow, tableOf } from './access.ts';
import type { PromptVisibility } from './record.ts';
import { sharesOf } from './sharing.ts';

interface Filters {
  collection_id?: string | undefined;
  search?: string | undefined;
  type?: 'shared' | 'own' | undefined;
  show_prompt_share?: boolean | undefined;
}

interface Asked {
  caller: Caller;
  workspace: NamedWorkspace | null;
  query: Filters;
  page: Page;
  db: Db;
}

export async function listItems(
  kind: ItemKind,
  asked: Asked,
): Promise<{ rows: [ItemRow, PromptVisibility][]; total: number }> {
  const { caller, workspace, query, page, db } = asked;
  const workspaces = workspace ? [workspace.id] : workspacesWith(caller, 'prompts.list');
  const all = db.selectFrom(tableOf[kind]).where('status', '=', 'active');
  const shared = query.type === 'shared';
  let matches = shared
    ? all
        .where('organisation_id', '=', caller.organisationId)
        .where('id', 'in', sharedIds(db, kind, caller, workspaces))
    : workspaces === 'all'
      ? all.where('organisation_id', '=', caller.organisationId)
      : all.where('workspace_id', 'in', workspaces);
  // What a workspace shares itself is its own.
  if (shared && workspaces !== 'all') matches = matches.where('workspace_id', 'not in', workspaces);
  if (query.collection_id) {
    const collection =
      workspace && !shared
        ? await collectionIn(db, workspace.id, query.collection_id, 'collection_id')
        : await reachCollection({ caller, workspace: null, db }, query.collection_id, 'read');
    matches = matches.where('collection_id', '=', collection.id);
  }
  const { search } = query;
  if (search) matches = matches.where((eb) => holdsInAnyCase(eb.ref('name'), search));
  const { rows, total } = await newestFirst(matches, page);
  const shares = query.show_prompt_share
    ? await sharesOf(
        db,
        rows.map(({ id }) => id),
      )
    : null;
  return {
    rows: rows.map((row) => [row, { shared, share: shares ? (shares.get(row.id) ?? null) : undefined }]),
    total,
  };
}

function sharedIds(db: Db, kind: ItemKind, caller: Caller, workspaces: 'all' | readonly string[]) {
  const shares = db
    .selectFrom('prompt_shares')
    .select('item_id')
    .where('organisation_id', '=', caller.organisationId)
    .where('item_type', '=', kind);
  if (workspaces === 'all') return shares;
  return shares.where((eb) =>
    eb.or([
      eb('audience', '=', 'organisation'),
      eb(
        'id',
        'in',
        eb.selectFrom('prompt_share_workspaces').select('share_id').where('workspace_id', 'in', workspaces),
      ),
    ]),
  );
}
