/** Which workspaces may use an agent integration of the organisation. */
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { catalogChange, organisationAccess } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import { workspacesList, workspacesPaging, workspacesQuery, workspacesUpdate } from '../provisioning/schema.ts';
import { listWorkspacesOf, setWorkspacesOf } from '../provisioning/workspaces.ts';
import { reachAgentOfOrganisation } from './access.ts';
import { agentIntegrationPath } from './schema.ts';

const tag = 'Agent integrations';
const path = '/agent-integrations/:agentIntegration/workspaces';

const listWorkspaces = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'List the workspaces that an agent integration of the organisation was handed to',
  access: organisationAccess(agentFamily, 'read'),
  params: agentIntegrationPath,
  query: workspacesQuery,
  paging: workspacesPaging,
  reply: workspacesList,
  async handle({ caller, params, query, page, db }) {
    const integration = await reachAgentOfOrganisation(db, caller, params.agentIntegration, 'read');
    return listWorkspacesOf(agentFamily, db, integration, query, page);
  },
});

const setWorkspaces = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Hand an agent integration of the organisation to workspaces, or take it from them',
  description:
    'A workspace that is newly enabled gets a server. One that is disabled keeps its server, which nobody can use until it is enabled again.',
  access: organisationAccess(agentFamily, 'update'),
  audit: { resource: 'agent_integration', action: 'update' },
  params: agentIntegrationPath,
  body: workspacesUpdate,
  reply: empty,
  async handle({ caller, params, body, db, now, changed, note }) {
    const integration = await reachAgentOfOrganisation(db, caller, params.agentIntegration, 'update');
    const workspaces = await setWorkspacesOf(agentFamily, db, now, caller, integration, body);
    changed(catalogChange(integration));
    note({ resourceId: integration.id, details: { slug: integration.slug, workspaces } });
    return {};
  },
});

export const workspaceEndpoints = [listWorkspaces, setWorkspaces];
