/** Listing keys: what the caller may see, narrowed by what they ask for. */
import { type Expression, type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { Schema } from '../../store/schema.ts';
import { endpoint, type NamedWorkspace, type Page } from '../kernel/endpoint.ts';
import { countOf, holdsFolded } from '../kernel/list-queries.ts';
import { asList, listOf } from '../kernel/paging.ts';
import { type Order, type PageMarks, walk } from '../kernel/walk.ts';
import { byIdAccess } from './access.ts';
import type { FoundCounts } from './found-counts.ts';
import { liveKeys } from './live.ts';
import { keyRecords } from './record.ts';
import { type KeyListQuery, keyListQuery, keyRecord, keyTypes } from './schema.ts';
import { type Reach, reachOf, type View } from './views.ts';

type Keys = ExpressionBuilder<Schema, 'api_keys'>;

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
        (await matchingKeys(listing, db.selectFrom('api_keys')).select('id').execute()).map(({ id }) => id),
      );
      const ids = [...new Set(query.ids)].filter((id) => found.has(id));
      return asList(await keyRecords(call, ids.slice(page.offset, page.offset + page.size)), ids.length);
    }
    const { ids, total } = await (query.search === undefined ? pageOfKeys(listing) : pageOfFound(listing));
    return asList(await keyRecords(call, ids), total);
  },
});

interface Listing {
  caller: Caller;
  query: KeyListQuery;
  page: Page;
  db: Db;
  workspace: NamedWorkspace | null;
  services: { pageMarks: PageMarks; foundCounts: FoundCounts };
  reach: Reach;
}

interface PageOfIds {
  ids: string[];
  total: number;
}

async function pageOfKeys(listing: Listing): Promise<PageOfIds> {
  const { query, page, db } = listing;
  const matches = matchingKeys(listing, liveKeys(db));
  const total = (await tallied(listing)) ?? (await countOf(matches));
  if (page.offset >= total) return { ids: [], total };
  // What narrows a list may leave little of it: found in one pass, where a walk would go through everything for a few.
  const narrowed = query.type !== undefined || query.status !== undefined;
  const few = narrowed && total <= mostInOrder ? await fewInOrder(listing, matches) : null;
  return few ?? { ids: await walkToPage(listing, total), total };
}

/** How many names hold a text is as much work as to find them, so that many are counted and walked to at the same time. */
async function pageOfFound(listing: Listing): Promise<PageOfIds> {
  const { page, db, services } = listing;
  const matches = matchingKeys(listing, liveKeys(db));
  const few = await fewInOrder(listing, matches);
  if (few) return few;
  const most = await tallied(listing);
  const counted = most === null ? countOf(matches) : services.foundCounts.of(db, matches);
  // As far as the middle of what there is at most, the walk begins at the same end whatever the total.
  if (most === null || page.offset > most / 2) {
    const total = await counted;
    return { ids: await walkToPage(listing, total), total };
  }
  const [total, ids] = await Promise.all([counted, walkToPage(listing, most)]);
  return { ids, total };
}

/** How many keys there are by the tallies, which know no names and no people; null where that is asked. */
async function tallied({ caller, query, reach, db }: Listing): Promise<number | null> {
  const { owner, types, workspaces } = reach;
  if (owner !== null || types === null) return null;
  let tallies = db
    .selectFrom('api_key_tallies')
    .where('organisation_id', '=', caller.organisationId)
    .where('status', '!=', 'archived')
    .where('type', 'in', types);
  if (workspaces) tallies = tallies.where('workspace_id', 'in', workspaces);
  if (query.status?.length) tallies = tallies.where('status', 'in', query.status);
  const { total } = await tallies
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('keys'), sql.lit(0)).as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

const mostInOrder = 2_000;

/** One pass over the matches, as long as they are few enough to be put in order; null when they are not. */
async function fewInOrder(listing: Listing, matches: Matches): Promise<PageOfIds | null> {
  const { query, page, db } = listing;
  const order = orderOf(query);
  const direction = sql.raw(order.direction);
  const { rows } = await sql<{ total: number; id: string | null }>`with found as materialized ${matches
    .select('id')
    .limit(mostInOrder + 1)},
      counted as materialized (select count(*) as total from found)
    select counted.total, listed.id from counted left join (
      select api_keys.id, ${order.by} as place from found inner join api_keys on api_keys.id = found.id
      where (select total from counted) <= ${mostInOrder}
      order by place ${direction}, api_keys.id ${direction} limit ${page.size} offset ${page.offset}
    ) as listed on true order by listed.place ${direction}, listed.id ${direction}`.execute(db);
  const total = rows[0]?.total ?? 0;
  return total > mostInOrder ? null : { ids: rows.flatMap(({ id }) => id ?? []), total };
}

/** Rows are wide, so a page is found by ids, in an index alone. */
const walkToPage = (listing: Listing, total: number): Promise<string[]> =>
  walk(listing.services.pageMarks, {
    matches: (there) => matchingKeys(listing, liveKeys(listing.db).where(there), 'walk'),
    order: orderOf(listing.query),
    page: listing.page,
    total,
  });

const orderOf = ({ sort_by, order }: KeyListQuery): Order => ({
  by: sortKey(sort_by),
  id: sql<string>`id`,
  direction: order,
});

function sortKey(sortBy: KeyListQuery['sort_by']): Expression<string> {
  if (sortBy === 'name') return sql.ref('name_folded');
  // The engines disagree on where nothing sorts; a key that never expires comes after every one that does.
  if (sortBy === 'expires_at') return sql`coalesce(expires_at, '9999')`;
  return sql.ref(sortBy);
}

type Matches = SelectQueryBuilder<Schema, 'api_keys', object>;

/**
 * Of these keys the ones that the caller may see and asks for. Each place has its indexes: a person, a workspace, the
 * organisation. Several workspaces are looked up by name to be counted, and picked out of the organisation to be walked in order.
 */
function matchingKeys({ caller, query, reach }: Listing, keys: Matches, way: 'seek' | 'walk' = 'seek'): Matches {
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
