/** Listing keys: what the caller may see, narrowed by what they ask for. */
import { sql } from 'kysely';
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { ListedKey } from '../../store/list-tables.ts';
import { endpoint, type NamedWorkspace, type Page } from '../kernel/endpoint.ts';
import { allSaid, type Condition, is } from '../kernel/lists/condition.ts';
import type { LongList, Way } from '../kernel/lists/long-list.ts';
import type { LongLists } from '../kernel/lists/long-lists.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import type { PageOfIds } from '../kernel/lists/walk.ts';
import { byIdAccess } from './access.ts';
import { keyRecords } from './record.ts';
import { type KeyListQuery, keyListQuery, keyRecord, keyTypes } from './schema.ts';
import { type Reach, reachOf, type View } from './views.ts';

type KeyCondition = Condition<keyof ListedKey>;

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
    const listing = { ...call, reach: reachOf(caller, query, workspace) };
    if (query.ids) {
      const asked = allSaid([...conditionsOf(listing, 'seek'), is('id', ...query.ids)]);
      const keys = await db.selectFrom('api_keys').where(asked).select('id').execute();
      const found = new Set(keys.map(({ id }) => id));
      const ids = [...new Set(query.ids)].filter((id) => found.has(id));
      return asList(await keyRecords(call, ids.slice(page.offset, page.offset + page.size)), ids.length);
    }
    const { ids, total } = await pageOfKeys(listing);
    return asList(await keyRecords(call, ids), total);
  },
});

interface Listing {
  caller: Caller;
  query: KeyListQuery;
  page: Page;
  db: Db;
  workspace: NamedWorkspace | null;
  services: { longLists: LongLists };
  reach: Reach;
}

/** Rows are wide, so a page is found by ids, in an index alone. */
const pageOfKeys = (listing: Listing): Promise<PageOfIds> =>
  listing.services.longLists.page({
    table: 'api_keys',
    conditions: (way) => conditionsOf(listing, way),
    tallied: tallied(listing),
    order: orderOf(listing.query),
    page: listing.page,
  });

/** The tallies know no names and no people: null where that is asked. */
function tallied({ caller, query, reach, db }: Listing) {
  const { owner, types, workspaces } = reach;
  if (owner !== null || types === null || query.search !== undefined) return null;
  let tallies = db
    .selectFrom('api_key_tallies')
    .where('organisation_id', '=', caller.organisationId)
    .where('status', '!=', 'archived')
    .where('type', 'in', types);
  if (workspaces) tallies = tallies.where('workspace_id', 'in', workspaces);
  if (query.status?.length) tallies = tallies.where('status', 'in', query.status);
  return tallies.select((eb) => eb.fn.coalesce(eb.fn.sum<number>('keys'), sql.lit(0)).as('total'));
}

const orderOf = ({ sort_by, order }: KeyListQuery): LongList['order'] => ({
  by: sortColumn(sort_by),
  direction: order,
});

function sortColumn(sortBy: KeyListQuery['sort_by']): keyof ListedKey {
  if (sortBy === 'name') return 'name_folded';
  // The engines disagree on where nothing sorts.
  return sortBy === 'expires_at' ? 'ends_at' : sortBy;
}

/**
 * What the caller may see and asks for. Each place has its indexes: a person, a workspace, the organisation. Several workspaces
 * are looked up by name to be counted, and picked out of the organisation to be walked in order.
 */
function conditionsOf({ caller, query, reach }: Listing, way: Way): KeyCondition[] {
  const { views, workspaces, owner, types } = reach;
  const conditions: KeyCondition[] = [];
  if (owner) conditions.push(is('user_id', owner));
  // The narrower condition alone is said where it implies the other, so that it is the one whose index is used.
  if (owner || workspaces?.length !== 1) conditions.push(is('organisation_id', caller.organisationId));
  if (workspaces) {
    conditions.push({ ...is('workspace_id', ...workspaces), unsought: way === 'walk' && workspaces.length !== 1 });
  }
  if (types) {
    // Keys of the organisation itself are in no workspace, so there the two other types are all.
    const all = workspaces ? keyTypes.length - 1 : keyTypes.length;
    // A state is looked up below the types.
    const said = types.length < all || (query.status !== undefined && way === 'seek');
    if (said) conditions.push(is('type', ...types));
  } else {
    conditions.push({ kind: 'any of', cases: views.map((view) => inView(view, workspaces)) });
  }
  if (query.status?.length) conditions.push(is('status', ...query.status));
  if (query.search) conditions.push({ kind: 'holds', column: 'name_folded', part: query.search, folded: true });
  return conditions;
}

/** The keys of a view among those of `workspaces`; what that says already is not said again for every row. */
const inView = (view: View, workspaces: readonly string[] | null): KeyCondition[] => [
  is('type', view.type),
  ...(view.workspaces === 'all' || view.workspaces.length === workspaces?.length
    ? []
    : [is('workspace_id', ...view.workspaces)]),
  ...(view.owner === null ? [] : [is('user_id', view.owner)]),
];
