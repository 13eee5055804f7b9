/** Listing keys: what the caller may see, narrowed by what they ask for. */
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Caller } from '../../identity/caller.ts';
import type { Schema } from '../../store/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { holdsFolded } from '../kernel/lists/list-queries.ts';
import { pageOfIds } from '../kernel/lists/page-of-ids.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { byIdAccess } from './access.ts';
import { liveKeys } from './live.ts';
import { keyRecords } from './record.ts';
import { type KeyListQuery, keyListQuery, keyRecord } from './schema.ts';
import { type Reach, reachOf, type View } from './views.ts';

export const listKeys = endpoint({
  method: 'GET',
  path: '/api-keys',
  aliases: ['/api_keys'],
  tag: 'API keys',
  summary: 'List the keys that the caller may see, newest first unless asked otherwise',
  access: byIdAccess('list'),
  query: keyListQuery,
  paging: { size: 100, max: 1000 },
  reply: () => listOf(keyRecord()),
  async handle(call) {
    const { caller, query, workspace, page, db } = call;
    const reach = reachOf(caller, query, workspace);
    if (query.ids) {
      // Deleted keys included.
      const keys = await visibleKeys(db.selectFrom('api_keys'), caller, query, reach)
        .where('id', 'in', query.ids)
        .select('id')
        .execute();
      const found = new Set(keys.map(({ id }) => id));
      const ids = [...new Set(query.ids)].filter((id) => found.has(id));
      return asList(await keyRecords(call, ids.slice(page.offset, page.offset + page.size)), ids.length);
    }
    const order = { by: sql.ref<string>(sortColumn(query.sort_by)), id: sql.ref<string>('id'), direction: query.order };
    const matches = visibleKeys(liveKeys(db), caller, query, reach);
    const { ids, total } = await pageOfIds({ matches, order, page });
    return asList(await keyRecords(call, ids), total);
  },
});

function sortColumn(sortBy: KeyListQuery['sort_by']): string {
  if (sortBy === 'name') return 'name_folded';
  // The engines disagree on where nothing sorts.
  return sortBy === 'expires_at' ? 'ends_at' : sortBy;
}

/** What the caller may see and asks for. */
function visibleKeys(
  among: SelectQueryBuilder<Schema, 'api_keys', object>,
  caller: Caller,
  query: KeyListQuery,
  { views, workspaces, owner, types }: Reach,
) {
  let keys = among;
  if (owner) keys = keys.where('user_id', '=', owner);
  // The narrower condition alone is said where it implies the other, so that it is the one whose index is used.
  if (owner || workspaces?.length !== 1) keys = keys.where('organisation_id', '=', caller.organisationId);
  if (workspaces) keys = keys.where('workspace_id', 'in', workspaces);
  keys = types ? keys.where('type', 'in', types) : keys.where((eb) => eb.or(views.map((view) => inView(eb, view))));
  if (query.status?.length) keys = keys.where('status', 'in', query.status);
  if (query.search) keys = keys.where(holdsFolded(sql.ref('name_folded'), query.search));
  return keys;
}

const inView = (eb: ExpressionBuilder<Schema, 'api_keys'>, { type, workspaces, owner }: View) =>
  eb.and([
    eb('type', '=', type),
    ...(workspaces === 'all' ? [] : [eb('workspace_id', 'in', workspaces)]),
    ...(owner === null ? [] : [eb('user_id', '=', owner)]),
  ]);
