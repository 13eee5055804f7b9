/** Which workspaces may use an MCP integration of the organisation. */
import { notFound } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import { decode, encode } from '../../store/json.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { activeWorkspaceIds } from '../workspaces/references.ts';
import { mcpCatalogChange, organisationAccess, reachOrganisationIntegration } from './access.ts';
import { setMcpGrant } from './grants.ts';
import { mcpIntegrationPath, workspacesList, workspacesPaging, workspacesQuery, workspacesUpdate } from './schema.ts';

const tag = 'MCP integrations';
const path = '/mcp-integrations/:mcpIntegration/workspaces';

const listWorkspaces = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'List the workspaces that an MCP integration of the organisation was handed to',
  access: organisationAccess('read'),
  params: mcpIntegrationPath,
  query: workspacesQuery,
  paging: workspacesPaging,
  reply: workspacesList,
  async handle({ caller, params, query, page, db }) {
    const integration = await reachOrganisationIntegration(db, caller, params.mcpIntegration, 'read');
    const grants = db
      .selectFrom('mcp_integration_workspaces as grant')
      .innerJoin('workspaces as workspace', 'workspace.id', 'grant.workspace_id')
      .where('grant.integration_id', '=', integration.id)
      .where('workspace.status', '=', 'active');
    const total = await countOf(grants);
    const rows = await grants
      .selectAll('grant')
      .select('workspace.status')
      .orderBy('grant.created_at', 'desc')
      .orderBy('grant.workspace_id', 'desc')
      .limit(page.size)
      .offset(page.offset)
      .execute();
    const records = rows.map((row) => ({
      id: row.workspace_id,
      enabled: row.enabled === 1,
      status: row.status,
      created_at: row.created_at,
      last_updated_at: row.last_updated_at,
    }));
    return {
      ...(query.version === undefined ? { workspaces: records } : { data: records }),
      global_workspace_access: integration.global_workspace_access && decode(integration.global_workspace_access),
      total,
    };
  },
});

const setWorkspaces = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Hand an MCP integration of the organisation to workspaces, or take it from them',
  description:
    'A workspace that is newly enabled gets a server. One that is disabled keeps its server, which nobody can use until it is enabled again.',
  access: organisationAccess('update'),
  audit: { resource: 'mcp_integration', action: 'update' },
  params: mcpIntegrationPath,
  body: workspacesUpdate,
  reply: empty,
  async handle({ caller, params, body, db, now, changed, note }) {
    const integration = await reachOrganisationIntegration(db, caller, params.mcpIntegration, 'update');
    if (body.global_workspace_access !== undefined) {
      const access = body.global_workspace_access && encode(body.global_workspace_access);
      await db
        .updateTable('mcp_integrations')
        .set({ global_workspace_access: access, last_updated_at: now.toISOString() })
        .where('id', '=', integration.id)
        .execute();
    }
    const references = body.workspaces.map(({ id }) => id);
    const ids = await activeWorkspaceIds(db, caller.organisationId, references);
    const wanted = new Map<string, boolean>();
    for (const { id, enabled } of body.workspaces) {
      const workspaceId = ids.get(id);
      if (workspaceId === undefined) throw notFound(`workspace: ${id}`);
      wanted.set(workspaceId, enabled);
    }
    if (body.override_existing_workspace_access) {
      const stored = await db
        .selectFrom('mcp_integration_workspaces')
        .select('workspace_id')
        .where('integration_id', '=', integration.id)
        .execute();
      for (const { workspace_id } of stored) if (!wanted.has(workspace_id)) wanted.set(workspace_id, false);
    }
    for (const [workspaceId, enabled] of wanted) {
      await setMcpGrant(db, now, integration, { workspaceId, enabled, createdBy: actorId(caller) });
    }
    changed(mcpCatalogChange(integration));
    note({
      resourceId: integration.id,
      details: { slug: integration.slug, workspaces: [...wanted].map(([id, enabled]) => ({ id, enabled })) },
    });
    return {};
  },
});

export const workspaceEndpoints = [listWorkspaces, setWorkspaces];
