/** Listing keys: what the caller may see, narrowed by what they ask for. */
import { type Expression, type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { type Caller, mayInOrganisation, workspacesWith } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { ApiKeyType, Schema } from '../../store/schema.ts';
import { endpoint, type NamedWorkspace, type Page } from '../kernel/endpoint.ts';
import { countOf, holdsFolded } from '../kernel/list-queries.ts';
import { asList, listOf } from '../kernel/paging.ts';
import { byIdAccess, keepsToOwnKeys, keyScope } from './access.ts';
import { liveKeys } from './live.ts';
import { keyRecords } from './record.ts';
import { type KeyListQuery, keyListQuery, keyRecord, keyTypes } from './schema.ts';

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
    const { query, page, db } = call;
    if (query.ids) {
      const found = new Set(
        (await matchingKeys(call, db.selectFrom('api_keys')).select('id').execute()).map(({ id }) => id),
      );
      const ids = [...new Set(query.ids)].filter((id) => found.has(id));
      return asList(await keyRecords(call, ids.slice(page.offset, page.offset + page.size)), ids.length);
    }
    const { ids, total } = await pageOfKeys(call);
    return asList(await keyRecords(call, ids), total);
  },
});

interface Listing {
  caller: Caller;
  query: KeyListQuery;
  page: Page;
  db: Db;
  workspace: NamedWorkspace | null;
}

/** Rows are wide, so a page is found by ids, in an index alone. */
async function pageOfKeys(listing: Listing): Promise<{ ids: string[]; total: number }> {
  const { query, page, db } = listing;
  const order = { by: sortKey(query.sort_by), direction: query.order };
  const matches = matchingKeys(listing, liveKeys(db));
  // What narrows a list may leave little of it: found in one pass, where a walk would go through everything for a few.
  // How many have a type or a state a small index tells; how many names hold a text is as much work as to find them.
  const searched = query.search === undefined ? null : await fewInOrder(db, matches, order, page);
  if (searched) return searched;
  const total = await countOf(matches);
  if (page.offset >= total) return { ids: [], total };
  const narrowed = query.type !== undefined || query.status !== undefined;
  const few = narrowed && total <= mostInOrder ? await fewInOrder(db, matches, order, page) : null;
  if (few) return few;
  return { ids: await walk(matchingKeys(listing, liveKeys(db), 'walk'), order, page, total), total };
}

interface Order {
  by: Expression<string>;
  direction: 'asc' | 'desc';
}

const mostInOrder = 2_000;

/** One pass over the matches, as long as they are few enough to be put in order; null when they are not. */
async function fewInOrder(db: Db, matches: Matches, order: Order, page: Page) {
  const direction = sql.raw(order.direction);
  const { rows } = await sql<{ total: number; id: string | null }>`
    with found as materialized ${matches.select('id').limit(mostInOrder + 1)},
      counted as materialized (select count(*) as total from found)
    select counted.total, listed.id from counted left join (
      select api_keys.id, ${order.by} as place from found inner join api_keys on api_keys.id = found.id
      where (select total from counted) <= ${mostInOrder}
      order by place ${direction}, api_keys.id ${direction} limit ${page.size} offset ${page.offset}
    ) as listed on true order by listed.place ${direction}, listed.id ${direction}`.execute(db);
  const total = rows[0]?.total ?? 0;
  return total > mostInOrder ? null : { ids: rows.flatMap(({ id }) => id ?? []), total };
}

/** Goes through the index in its order as far as the page; one in the second half is reached from the end, which is nearer. */
async function walk(matches: Matches, order: Order, page: Page, total: number): Promise<string[]> {
  const rows = Math.min(page.size, total - page.offset);
  if (rows <= 0) return [];
  const fromEnd = page.offset > total / 2;
  const direction = fromEnd === (order.direction === 'desc') ? 'asc' : 'desc';
  const found = await matches
    .select('id')
    .orderBy(order.by, direction)
    .orderBy('id', direction)
    .limit(rows)
    .offset(fromEnd ? total - page.offset - rows : page.offset)
    .execute();
  const ids = found.map((row) => row.id);
  return fromEnd ? ids.reverse() : ids;
}

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
function matchingKeys(listing: Listing, keys: Matches, way: 'seek' | 'walk' = 'seek'): Matches {
  const { caller, query, workspace } = listing;
  const workspaceId = workspace?.id ?? null;
  const types = keyTypes.filter((type) => !query.type || type === query.type || type.endsWith(`-${query.type}`));
  const views = types.flatMap((type) => viewsOf(caller, type, workspaceId));
  const workspaces = workspaceId !== null ? [workspaceId] : workspacesOf(views);
  const owner = query.user_id ?? onlyOwner(views);
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
  if (views.length > 0 && views.every((view) => isWhole(view, workspaces))) {
    // Keys of the organisation itself are in no workspace, so there the two other types are all.
    const all = workspaces ? keyTypes.length - 1 : keyTypes.length;
    const seen = views.map((view) => view.type);
    if (seen.length < all) matches = matches.where('type', 'in', seen);
  } else {
    matches = matches.where((eb) => eb.or(views.map((view) => inView(eb, view, workspaces))));
  }
  if (query.ids) matches = matches.where('id', 'in', query.ids);
  if (query.status?.length) matches = matches.where('status', 'in', query.status);
  const { search } = query;
  if (search) matches = matches.where((eb) => holdsFolded(eb.ref('name_folded'), search));
  return matches;
}

/** Keys of one type that the caller sees: in the whole organisation or in some workspaces, of everybody or of one person. */
interface View {
  type: ApiKeyType;
  workspaces: string[] | 'all';
  owner: string | null;
}

function viewsOf(caller: Caller, type: ApiKeyType, workspaceId: string | null): View[] {
  const scope = keyScope(type, 'list');
  if (type === 'organisation-service') {
    const visible = workspaceId === null && mayInOrganisation(caller, scope);
    return visible ? [{ type, workspaces: 'all', owner: null }] : [];
  }
  const held = workspacesWith(caller, scope);
  if (held === 'all') return [{ type, workspaces: 'all', owner: null }];
  const here = held.filter((id) => workspaceId === null || id === workspaceId);
  const whole = here.filter((id) => !keepsToOwnKeys(caller, id));
  const own = here.filter((id) => keepsToOwnKeys(caller, id));
  return [
    ...(whole.length > 0 ? [{ type, workspaces: whole, owner: null }] : []),
    ...(own.length > 0 && caller.userId !== null ? [{ type, workspaces: own, owner: caller.userId }] : []),
  ];
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

/** True when the view holds every key of its type among those of `workspaces`. */
const isWhole = (view: View, workspaces: readonly string[] | null): boolean =>
  view.owner === null && (view.workspaces === 'all' || view.workspaces.length === workspaces?.length);

/** Every workspace in view, or null when the whole organisation is. */
function workspacesOf(views: readonly View[]): string[] | null {
  const workspaces = new Set<string>();
  for (const view of views) {
    if (view.workspaces === 'all') return null;
    for (const id of view.workspaces) workspaces.add(id);
  }
  return views.length > 0 ? [...workspaces] : null;
}

/** The person whose keys alone are in view, if there is one. */
const onlyOwner = (views: readonly View[]): string | null =>
  views.length > 0 && views.every((view) => view.owner !== null) ? (views[0]?.owner ?? null) : null;
