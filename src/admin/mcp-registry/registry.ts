/** The registry of MCP servers, in the form of the protocol's own: which servers a key may see, and where clients connect to them. */
import { z } from 'zod';
import { ApiError, errorResponse, forbidden, invalidQuery, notFound, unauthenticated } from '../../http/errors.ts';
import type { WebHandler } from '../../http/web.ts';
import { type Caller, mayInWorkspace, maySomewhere, workspacesWith } from '../../identity/caller.ts';
import type { Keyring } from '../../identity/keyring.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import { holdsInAnyCase } from '../kernel/lists/list-queries.ts';

const schema = 'https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json';
const prefix = 'ai.gw';

const query = lazy(() =>
  z.object({
    limit: z.coerce.number().int().min(1).max(100).default(50),
    cursor: z.string().max(500).optional(),
    search: z.string().max(255).optional(),
    updated_since: z.iso.datetime({ offset: true }).optional(),
    workspace_id: z.string().min(1).max(255).optional(),
  }),
);

interface RegistryDeps {
  db: Db;
  keyring: Pick<Keyring, 'find'>;
  originOf(request: Request, peer: string): string;
  onFault(fault: unknown): void;
}

export function createMcpRegistry({ db, keyring, originOf, onFault }: RegistryDeps): WebHandler {
  const callerOf = async (headers: Headers): Promise<Caller> => {
    const key = headers.get('x-gw-api-key');
    const caller = key ? await keyring.find(key) : null;
    if (!caller) throw unauthenticated('Send an API key in the header x-gw-api-key');
    if (!maySomewhere(caller, 'mcp_servers.list')) throw forbidden('This call needs the scope mcp_servers.list');
    return caller;
  };

  const workspaceOf = async (caller: Caller, reference: string): Promise<string> => {
    const row = await db
      .selectFrom('workspaces')
      .select('id')
      .where('organisation_id', '=', caller.organisationId)
      .where('status', '=', 'active')
      .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
      .executeTakeFirst();
    const bound = caller.kind === 'session' ? null : caller.workspaceId;
    if (bound !== null && row?.id !== bound)
      throw forbidden('This key belongs to another workspace than the one named');
    if (!row) throw notFound('workspace');
    if (!mayInWorkspace(caller, 'mcp_servers.list', row.id))
      throw forbidden('This call needs the scope mcp_servers.list');
    return row.id;
  };

  /** Active servers of active integrations in workspaces that may use them, newest first. */
  const listed = (caller: Caller, workspaces: 'all' | string[]) => {
    const rows = db
      .selectFrom('mcp_servers as server')
      .innerJoin('mcp_integrations as integration', 'integration.id', 'server.integration_id')
      .innerJoin('workspaces as workspace', 'workspace.id', 'server.workspace_id')
      .leftJoin('mcp_integration_workspaces as grant', (join) =>
        join
          .onRef('grant.integration_id', '=', 'server.integration_id')
          .onRef('grant.workspace_id', '=', 'server.workspace_id'),
      )
      .select([
        'server.id',
        'server.slug',
        'server.name',
        'server.description',
        'server.created_at',
        'server.last_updated_at',
        'integration.metadata',
        'workspace.slug as workspace_slug',
      ])
      .where('server.organisation_id', '=', caller.organisationId)
      .where('server.status', '=', 'active')
      .where('integration.status', '=', 'active')
      .where('workspace.status', '=', 'active')
      .where((eb) =>
        eb.or([eb('grant.enabled', '=', 1), eb('integration.workspace_id', '=', eb.ref('server.workspace_id'))]),
      );
    return workspaces === 'all' ? rows : rows.where('server.workspace_id', 'in', workspaces);
  };

  type Row = Awaited<ReturnType<ReturnType<typeof listed>['execute']>>[number];

  const record = (row: Row, origin: string) => {
    const known = decode(row.metadata);
    return {
      server: {
        $schema: schema,
        name: `${prefix}.${row.workspace_slug}/${row.slug}`,
        title: known.title ?? row.name,
        description: row.description ?? known.description ?? row.name,
        version: known.version ?? '0.0.0',
        ...(known.website_url && { websiteUrl: known.website_url }),
        ...(known.icons && { icons: known.icons }),
        remotes: [{ type: 'streamable-http', url: `${origin}/${row.slug}/mcp` }],
      },
      _meta: { 'io.gw/registry': { publishedAt: row.created_at, updatedAt: row.last_updated_at, isLatest: true } },
    };
  };

  const list = async (request: Request, origin: string): Promise<Response> => {
    const caller = await callerOf(request.headers);
    const parsed = query().safeParse(Object.fromEntries(new URL(request.url).searchParams));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw invalidQuery(String(issue?.path[0] ?? ''), issue?.message ?? 'is wrong');
    }
    const { limit, cursor, search, updated_since, workspace_id } = parsed.data;
    const workspaces = workspace_id
      ? [await workspaceOf(caller, workspace_id)]
      : workspacesWith(caller, 'mcp_servers.list');
    let rows = listed(caller, workspaces);
    if (search)
      rows = rows.where((eb) =>
        eb.or([holdsInAnyCase(eb.ref('server.slug'), search), holdsInAnyCase(eb.ref('server.name'), search)]),
      );
    if (updated_since) rows = rows.where('server.last_updated_at', '>=', new Date(updated_since).toISOString());
    if (cursor !== undefined) {
      const after = placeIn(cursor);
      rows = rows.where((eb) =>
        eb.or([
          eb('server.created_at', '<', after.at),
          eb.and([eb('server.created_at', '=', after.at), eb('server.id', '<', after.id)]),
        ]),
      );
    }
    const found = await rows
      .orderBy('server.created_at', 'desc')
      .orderBy('server.id', 'desc')
      .limit(limit + 1)
      .execute();
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const more = found.length > limit && last;
    return Response.json({
      servers: page.map((row) => record(row, origin)),
      metadata: { count: page.length, ...(more && { nextCursor: cursorAt(last.created_at, last.id) }) },
    });
  };

  const one = async (request: Request, name: string, version: string | null, origin: string): Promise<Response> => {
    const caller = await callerOf(request.headers);
    const [space = '', slug = ''] = name.startsWith(`${prefix}.`) ? name.slice(prefix.length + 1).split('/', 2) : [];
    const row = await listed(caller, workspacesWith(caller, 'mcp_servers.list'))
      .where('server.slug', '=', slug)
      .where('workspace.slug', '=', space)
      .executeTakeFirst();
    if (!row) throw notFound('server');
    const shown = record(row, origin);
    if (version === null) return Response.json({ servers: [shown], metadata: { count: 1 } });
    if (version !== 'latest' && version !== shown.server.version) throw notFound('version');
    return Response.json(shown);
  };

  const route = (request: Request, path: string, origin: string): Promise<Response> | null => {
    if (request.method !== 'GET') return null;
    if (path === '/v0.1/servers') return list(request, origin);
    const [, name, version] = /^\/v0\.1\/servers\/([^/]+)\/versions(?:\/([^/]+))?$/.exec(path) ?? [];
    return name === undefined
      ? null
      : one(request, decodeURIComponent(name), version === undefined ? null : decodeURIComponent(version), origin);
  };

  return async (request, peer) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/v0.1/')) return null;
    const requestId = Bun.randomUUIDv7();
    try {
      const answer = await route(request, pathname.replace(/\/$/, ''), originOf(request, peer()));
      return answer ?? errorResponse(new ApiError('AB02', 'There is no such route'), requestId);
    } catch (fault) {
      if (fault instanceof ApiError) return errorResponse(fault, requestId);
      if (fault instanceof URIError)
        return errorResponse(new ApiError('AB01', 'The path is not encoded as it should be'), requestId);
      onFault(fault);
      return errorResponse(new ApiError('AB04', 'Something went wrong on our side'), requestId);
    }
  };
}

const cursorAt = (at: string, id: string): string => Buffer.from(`${at} ${id}`).toString('base64url');

function placeIn(cursor: string): { at: string; id: string } {
  const [, at, id] =
    /^(\d{4}-\d\d-\d\dT[\d:.]+Z) ([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined) throw invalidQuery('cursor', 'is none of ours');
  return { at, id };
}
