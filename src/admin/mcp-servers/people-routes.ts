/** Who may use an MCP server, and who has signed in at its upstream. */
import { readUpstream } from '../../catalog/mcp/read.ts';
import { forbidden, invalidQuery, notFound } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { serverAccess } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { succeeded, userAccessFilters, userAccessUpdate } from '../provisioning/schema.ts';
import { recordServerChange } from '../provisioning/servers.ts';
import { listUserAccessOf, setUserAccessOf } from '../provisioning/user-access.ts';
import { managesConnections, reachMcpServer } from './access.ts';
import { connectionFilters, connectionsList, mcpServerPath, mcpUserAccessList } from './schema.ts';

const tag = 'MCP servers';

const listUserAccess = endpoint({
  method: 'GET',
  path: '/mcp-servers/:mcpServer/user-access',
  tag,
  summary: 'List who of the workspace may use an MCP server',
  access: serverAccess(mcpFamily, 'read'),
  params: mcpServerPath,
  query: userAccessFilters,
  paging: { size: 100, max: 500, first: 1 },
  reply: mcpUserAccessList,
  async handle({ caller, workspace, params, query, page, db }) {
    const { server } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'read');
    const { data, ...listed } = await listUserAccessOf(mcpFamily, db, server, query.search, page);
    const signedIn = await signedInAmong(
      db,
      server.id,
      data.map(({ user_id }) => user_id),
    );
    return {
      ...listed,
      data: data.map((person) => ({
        ...person,
        connection_status: signedIn.has(person.user_id) ? ('connected' as const) : ('not_connected' as const),
      })),
    };
  },
});

const setUserAccess = endpoint({
  method: 'PUT',
  path: '/mcp-servers/:mcpServer/user-access',
  tag,
  summary: 'Allow or deny people the use of an MCP server',
  access: serverAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_server', action: 'update' },
  params: mcpServerPath,
  body: userAccessUpdate,
  reply: succeeded,
  async handle(call) {
    const { caller, workspace, params, body, db, now } = call;
    const { server } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'update');
    await setUserAccessOf(mcpFamily, db, now, server, body);
    const { user_access, default_user_access } = body;
    recordServerChange(call, server, { user_access, default_user_access });
    return { success: true as const };
  },
});

async function signedInAmong(db: Db, serverId: string, userIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('mcp_connections')
    .select('user_id')
    .where('server_id', '=', serverId)
    .where('user_id', 'in', userIds)
    .where('status', '=', 'connected')
    .execute();
  return new Set(rows.map(({ user_id }) => user_id));
}

const listConnections = endpoint({
  method: 'GET',
  path: '/mcp-servers/:mcpServer/connections',
  tag,
  summary: 'List who has signed in at the upstream of an MCP server',
  description: 'Those who manage the server see everybody, others themselves; user_id narrows it down.',
  access: serverAccess(mcpFamily, 'read'),
  params: mcpServerPath,
  query: connectionFilters,
  paging: { size: 100, max: 500 },
  reply: connectionsList,
  async handle({ caller, workspace, params, query, page, db }) {
    const { server } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'read');
    const userId = shownPerson(caller, server.workspace_id, query.user_id ?? null);
    let matches = db.selectFrom('mcp_connections').where('server_id', '=', server.id);
    if (userId !== null) matches = matches.where('user_id', '=', userId);
    const total = await countOf(matches);
    const rows = await matches
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('user_id')
      .limit(page.size)
      .offset(page.offset)
      .execute();
    return {
      data: rows.map((row) => ({
        user_id: row.user_id,
        connected: row.status === 'connected',
        created_at: row.created_at,
        last_updated_at: row.last_updated_at,
      })),
      total,
      has_more: page.offset + rows.length < total,
    };
  },
});

/** Whose sign-ins are shown; null: everybody's. */
function shownPerson(caller: Caller, workspaceId: string, asked: string | null): string | null {
  const own = caller.userId;
  if (asked !== null && asked !== own && !managesConnections(caller, workspaceId)) {
    throw forbidden('Only those who manage the MCP server see the sign-ins of others');
  }
  if (asked !== null) return asked;
  if (caller.kind === 'user-key') return own;
  return own === null || managesConnections(caller, workspaceId) ? null : own;
}

const endConnection = endpoint({
  method: 'DELETE',
  path: '/mcp-servers/:mcpServer/connections',
  tag,
  summary: 'End a sign-in at the upstream of an MCP server',
  description:
    'Without user_id the own one; a key that belongs to nobody must name the user. The tokens are deleted, and revoked upstream where that is offered.',
  access: serverAccess(mcpFamily, 'read'),
  audit: { resource: 'mcp_server', action: 'update' },
  atomic: false,
  params: mcpServerPath,
  query: connectionFilters,
  reply: succeeded,
  async handle({ caller, workspace, params, query, db, commit, services, changed, note }) {
    const { server, integration } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'read');
    const userId = query.user_id ?? caller.userId;
    if (userId === null) throw invalidQuery('user_id', 'is required with a key that belongs to nobody');
    if (userId !== caller.userId && !managesConnections(caller, server.workspace_id)) {
      throw forbidden('Only those who manage the MCP server end the sign-ins of others');
    }
    const upstream = {
      ...(await readUpstream(db, integration, services.vault)),
      id: server.id,
      workspaceId: server.workspace_id,
    };
    await services.mcp.revoke(upstream, userId);
    await commit(async (tx) => {
      const { numDeletedRows } = await tx
        .deleteFrom('mcp_connections')
        .where('server_id', '=', server.id)
        .where('user_id', '=', userId)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw notFound('connection');
      changed({ topic: 'mcp_connection', id: `${server.id} ${userId}` });
      note({
        resourceId: server.id,
        workspaceId: server.workspace_id,
        details: { slug: server.slug, revoked_connection_of: userId },
      });
    });
    return { success: true as const };
  },
});

export const peopleEndpoints = [listUserAccess, setUserAccess, listConnections, endConnection];
