/** Listing keys: what the caller may see, narrowed by what they ask for. */
import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { ListedKey } from '../../store/list-tables.ts';
import { endpoint, type NamedWorkspace, type Page } from '../kernel/endpoint.ts';
import { holdsFolded } from '../kernel/list-queries.ts';
import type { Source, Way } from '../kernel/long-list.ts';
import type { LongLists } from '../kernel/long-lists.ts';
import { asList, listOf } from '../kernel/paging.ts';
import type { Order, PageOfIds } from '../kernel/walk.ts';
import { byIdAccess } from './access.ts';
import { isLive } from './live.ts';
import { keyRecords } from './record.ts';
import { type KeyListQuery, keyListQuery, keyRecord, keyTypes } from './schema.ts';
import { type Reach, reachOf, type View } from './views.ts';

type Keys = ExpressionBuilder<{ api_keys: ListedKey }, 'api_keys'>;

export const listKeys = endpoint({
  method: 'GET',
  path: '/api-keys',
  aliases: ['/api_keys'],
  tag: 'API keys',
  summary: 'List the keys that the caller may see, newest first unless asked otherwise',
  access: byIdAccess('list'),
  query: keyListQuery,
  paging: { size: 100, max: 1000 },
  reply: listOf(keyRecord),
  async handle(call) {
    const { caller, query, workspace, page, db } = call;
    const listing = { ...call, reach: reachOf(caller, query, workspace) };
    if (query.ids) {
      const found = new Set(
        (
          await matchingKeys(listing, keysIn(db, sql.table('api_keys')), 'seek')
            .select('id')
            .execute()
        ).map(({ id }) => id),
      );
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
  listing.services.longLists.page(listing.db, {
    table: 'api_keys',
    matches: (source, there, way) => matchingKeys(listing, keysIn(listing.db, source).where(there).where(isLive), way),
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

const orderOf = ({ sort_by, order }: KeyListQuery): Order => ({
  by: sortKey(sort_by),
  id: sql<string>`id`,
  direction: order,
});

function sortKey(sortBy: KeyListQuery['sort_by']): Expression<string> {
  if (sortBy === 'name') return sql.ref('name_folded');
  // The engines disagree on where nothing sorts.
  if (sortBy === 'expires_at') return sql.ref('ends_at');
  return sql.ref(sortBy);
}

/** The keys themselves, or as they were and became when they were changed. */
const keysIn = (db: Db, source: Source) => db.selectFrom(sql<ListedKey>`${source}`.as('api_keys'));

type Matches = ReturnType<typeof keysIn>;

/**
 * Of these keys the ones that the caller may see and asks for. Each place has its indexes: a person, a workspace, the
 * organisation. Several workspaces are looked up by name to be counted, and picked out of the organisation to be walked in order.
 */
function matchingKeys({ caller, query, reach }: Listing, keys: Matches, way: Way): Matches {
  const { views, workspaces, owner, types } = reach;
  let matches = keys;
  if (owner) matches = matches.where('user_id', '=', owner);
  // The narrower condition alone is said where it implies the other, so that it is the one whose index is used.
  if (owner || workspaces?.length !== 1) matches = matches.where('organisation_id', '=', caller.organisationId);
  if (workspaces) {
    const seekable = way === 'seek' || workspaces.length === 1;
    matches = matches.where((eb) =>
      eb(seekable ? eb.ref('workspace_id') : eb.fn.coalesce('workspace_id', sql.lit('')), 'in', workspaces),
    );
  }
  if (types) {
    // Keys of the organisation itself are in no workspace, so there the two other types are all.
    const all = workspaces ? keyTypes.length - 1 : keyTypes.length;
    // A state is looked up below the types.
    const said = types.length < all || (query.status !== undefined && way === 'seek');
    if (said) matches = matches.where('type', 'in', types);
  } else {
    matches = matches.where((eb) => eb.or(views.map((view) => inView(eb, view, workspaces))));
  }
  if (query.ids) matches = matches.where('id', 'in', query.ids);
  if (query.status?.length) matches = matches.where('status', 'in', query.status);
  const { search } = query;
  if (search) matches = matches.where((eb) => holdsFolded(eb.ref('name_folded'), search));
  return matches;
}

/** The keys of a view among those of `workspaces`; what that says already is not said again for every row. */
const inView = (eb: Keys, view: View, workspaces: readonly string[] | null) =>
  eb.and([
    eb('type', '=', view.type),
    ...(view.workspaces === 'all' || view.workspaces.length === workspaces?.length
      ? []
      : [eb('workspace_id', 'in', view.workspaces)]),
    ...(view.owner === null ? [] : [eb('user_id', '=', view.owner)]),
  ]);
