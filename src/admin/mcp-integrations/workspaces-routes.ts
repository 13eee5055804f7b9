/** Which workspaces may use an MCP integration of the organisation. */
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { catalogChange, organisationAccess } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { workspacesList, workspacesPaging, workspacesQuery, workspacesUpdate } from '../provisioning/schema.ts';
import { listWorkspacesOf, setWorkspacesOf } from '../provisioning/workspaces.ts';
import { reachMcpOfOrganisation } from './access.ts';
import { mcpIntegrationPath } from './schema.ts';

const tag = 'MCP integrations';
const path = '/mcp-integrations/:mcpIntegration/workspaces';

const listWorkspaces = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'List the workspaces that an MCP integration of the organisation was handed to',
  access: organisationAccess(mcpFamily, 'read'),
  params: mcpIntegrationPath,
  query: workspacesQuery,
  paging: workspacesPaging,
  reply: workspacesList,
  async handle({ caller, params, query, page, db }) {
    const integration = await reachMcpOfOrganisation(db, caller, params.mcpIntegration, 'read');
    return listWorkspacesOf(mcpFamily, db, integration, query, page);
  },
});

const setWorkspaces = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Hand an MCP integration of the organisation to workspaces, or take it from them',
  description:
    'A workspace that is newly enabled gets a server. One that is disabled keeps its server, which nobody can use until it is enabled again.',
  access: organisationAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_integration', action: 'update' },
  params: mcpIntegrationPath,
  body: workspacesUpdate,
  reply: empty,
  async handle({ caller, params, body, db, now, changed, note }) {
    const integration = await reachMcpOfOrganisation(db, caller, params.mcpIntegration, 'update');
    const workspaces = await setWorkspacesOf(mcpFamily, db, now, caller, integration, body);
    changed(catalogChange(integration));
    note({ resourceId: integration.id, details: { slug: integration.slug, workspaces } });
    return {};
  },
});

export const workspaceEndpoints = [listWorkspaces, setWorkspaces];
