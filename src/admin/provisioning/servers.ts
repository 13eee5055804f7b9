/** What is stored, shown and told of every server in a workspace, whether of MCP or of an agent. */
import { conflict, forbidden, notFound } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import type { AgentServerTable } from '../../store/tables/agents.ts';
import type { Call, Dependant } from '../kernel/endpoint.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import type { Family } from './family.ts';
import { archiveAllOf, isHandedTo } from './grants.ts';
import { isServerSlugTaken, newServerSlug } from './slugs.ts';

/** What both kinds have. */
type Server = AgentServerTable;

interface Integration {
  id: string;
  workspace_id: string | null;
  auth_type: string;
}

/** A server together with what it stands for. */
export interface PlacedServer<S extends Server = Server, I extends Integration = Integration> {
  server: S;
  integration: I;
  workspace: { id: string; slug: string; name: string };
  /** Whether the integration is handed to the workspace. */
  granted: boolean;
}

/** Servers of a deleted integration are left out: `integrations` answers the active ones. */
export async function placedServers<S extends Server, I extends Integration>(
  family: Family,
  db: Db,
  servers: readonly S[],
  integrations: (ids: readonly string[]) => Promise<readonly I[]>,
): Promise<PlacedServer<S, I>[]> {
  if (servers.length === 0) return [];
  const integrationIds = [...new Set(servers.map((server) => server.integration_id))];
  const workspaceIds = [...new Set(servers.map((server) => server.workspace_id))];
  const found = await integrations(integrationIds);
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['id', 'slug', 'name'])
    .where('id', 'in', workspaceIds)
    .execute();
  const grants = await db
    .selectFrom(family.grants)
    .select(['integration_id', 'workspace_id'])
    .where('integration_id', 'in', integrationIds)
    .where('workspace_id', 'in', workspaceIds)
    .where('enabled', '=', 1)
    .execute();
  const granted = new Set(grants.map((grant) => `${grant.integration_id} ${grant.workspace_id}`));
  return servers.flatMap((server): PlacedServer<S, I>[] => {
    const integration = found.find(({ id }) => id === server.integration_id);
    const workspace = workspaces.find(({ id }) => id === server.workspace_id);
    if (!integration || !workspace) return [];
    const isGranted = integration.workspace_id === workspace.id || granted.has(`${integration.id} ${workspace.id}`);
    return [{ server, integration, workspace, granted: isGranted }];
  });
}

/** The fields that the records of all servers have. */
export const serverFields = ({ server, integration, workspace, granted }: PlacedServer) => ({
  id: server.id,
  slug: server.slug,
  name: server.name,
  description: server.description,
  status: server.status,
  owner_id: server.created_by,
  organisation_id: server.organisation_id,
  workspace_id: server.workspace_id,
  workspace_name: workspace.name,
  workspace_slug: workspace.slug,
  auth_type: integration.auth_type,
  default_user_access: server.default_user_access,
  enabled: granted,
  created_at: server.created_at,
  last_updated_at: server.last_updated_at,
});

/** The integration, if the workspace may use it: its own, or one that the organisation handed to it. */
export async function requireHanded<I extends Integration>(
  family: Family,
  db: Db,
  integration: I | undefined,
  workspaceId: string,
): Promise<I> {
  if (!integration) throw notFound(`${family.word} integration`);
  if (await isHandedTo(family, db, integration, workspaceId)) return integration;
  throw forbidden(`This ${family.word} integration is not enabled for the workspace`);
}

/** The slug that was asked for, if it is free, or one that is made from the name. */
export async function serverSlug(
  family: Family,
  db: Db,
  organisationId: string,
  { slug, name }: { slug?: string | undefined; name: string },
): Promise<string> {
  if (slug === undefined) return newServerSlug(family, db, organisationId, name);
  if (!(await isServerSlugTaken(family, db, organisationId, slug))) return slug;
  throw conflict(`The slug ${slug} is taken by another ${family.word} server, perhaps a deleted one`);
}

/** Tells the workspace of the server that it changed, and the audit trail what was done. */
export function recordServerChange(
  { changed, note }: Pick<Call<unknown, unknown, unknown>, 'changed' | 'note'>,
  { id, slug, workspace_id }: Pick<Server, 'id' | 'slug' | 'workspace_id'>,
  details: Record<string, unknown>,
): void {
  changed({ topic: 'catalog', id: workspace_id });
  note({ resourceId: id, workspaceId: workspace_id, details: { slug, ...details } });
}

/** What a workspace holds of the family when it is deleted. */
export const serversOfWorkspace = (family: Family): Dependant => ({
  kind: `${family.word} servers`,
  count: (db, workspaceId) =>
    countOf(db.selectFrom(family.servers).where('workspace_id', '=', workspaceId).where('status', '=', 'active')),
  async remove(db, workspaceId, now) {
    await archiveAllOf(family, db, now, workspaceId);
    return [{ topic: 'catalog', id: workspaceId }];
  },
});
