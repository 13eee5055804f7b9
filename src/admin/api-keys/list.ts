/** Listing keys: what the caller may see, narrowed by what they ask for. */
import { type ExpressionBuilder, sql } from 'kysely';
import { type Caller, mayInOrganisation, workspacesWith } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { ApiKeyType, Schema } from '../../store/schema.ts';
import { endpoint, type Page } from '../kernel/endpoint.ts';
import { countOf, holdsInAnyCase } from '../kernel/list-queries.ts';
import { asList, listOf } from '../kernel/paging.ts';
import { byIdAccess, keepsToOwnKeys, keyScope } from './access.ts';
import { keyRecords } from './record.ts';
import { type KeyListQuery, keyListQuery, keyRecord, keyTypes, listedStatuses } from './schema.ts';

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
    const { caller, query, page, db, workspace } = call;
    const matches = matchingKeys(db, caller, query, workspace?.id ?? null);
    if (query.ids) {
      const found = new Set((await matches.select('id').execute()).map((row) => row.id));
      const ids = [...new Set(query.ids)].filter((id) => found.has(id));
      return asList(await keyRecords(call, ids.slice(page.offset, page.offset + page.size)), ids.length);
    }
    const everyStatus = !query.status?.length;
    // The same said twice, each time in the form that is faster: a count goes by status, a page tests row after row.
    const total = await countOf(everyStatus ? matches.where('status', 'in', listedStatuses) : matches);
    const listed = everyStatus ? matches.where('status', '!=', 'archived') : matches;
    return asList(await keyRecords(call, await pageOf(listed, query, page, total)), total);
  },
});

/** Rows are wide, so a page is found in the index alone; one in the second half is read from the end, which is nearer. */
async function pageOf(
  matches: ReturnType<typeof matchingKeys>,
  { sort_by, order }: KeyListQuery,
  page: Page,
  total: number,
): Promise<string[]> {
  const rows = Math.min(page.size, total - page.offset);
  if (rows <= 0) return [];
  const fromEnd = page.offset > total / 2;
  const direction = fromEnd === (order === 'desc') ? 'asc' : 'desc';
  const found = await matches
    .select('id')
    .orderBy((eb) => sortKey(eb, sort_by), direction)
    .orderBy('id', direction)
    .limit(rows)
    .offset(fromEnd ? total - page.offset - rows : page.offset)
    .execute();
  const ids = found.map((row) => row.id);
  return fromEnd ? ids.reverse() : ids;
}

function sortKey(eb: Keys, sortBy: KeyListQuery['sort_by']) {
  if (sortBy === 'name') return eb.fn<string>('lower', ['name']);
  // The engines disagree on where nothing sorts; a key that never expires comes after every one that does.
  if (sortBy === 'expires_at') return sql<string>`coalesce(expires_at, '9999')`;
  return eb.ref(sortBy);
}

function matchingKeys(db: Db, caller: Caller, query: KeyListQuery, workspaceId: string | null) {
  const types = keyTypes.filter((type) => !query.type || type === query.type || type.endsWith(`-${query.type}`));
  const views = types.flatMap((type) => viewsOf(caller, type, workspaceId));
  // One index serves a whole organisation, another a workspace: only the narrower condition is said, so that it is the one used.
  const workspaces = workspaceId !== null ? [workspaceId] : workspacesOf(views);
  let matches = workspaces
    ? db.selectFrom('api_keys').where('workspace_id', 'in', workspaces)
    : db.selectFrom('api_keys').where('organisation_id', '=', caller.organisationId);
  const everything = views.length === keyTypes.length && views.every((view) => view.workspaces === 'all');
  if (!everything) matches = matches.where((eb) => eb.or(views.map((view) => inView(eb, view, workspaces))));
  const owner = query.user_id ?? onlyOwner(views);
  if (owner) matches = matches.where('user_id', '=', owner);
  if (query.ids) matches = matches.where('id', 'in', query.ids);
  if (query.status?.length) matches = matches.where('status', 'in', query.status);
  const { search } = query;
  if (search) matches = matches.where((eb) => holdsInAnyCase(eb.ref('name'), search));
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
