/** Agent servers: agent integrations as one workspace uses them. */
import { actorId } from '../../identity/caller.ts';
import { findAgentIntegration } from '../agent-integrations/access.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import { sentFields } from '../kernel/validate.ts';
import { requireActiveWorkspace, serverAccess, shownServers } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import { archiveServers } from '../provisioning/grants.ts';
import { insertServer } from '../provisioning/insert-server.ts';
import { changedColumns } from '../provisioning/integrations.ts';
import { created, serverFilters } from '../provisioning/schema.ts';
import { recordServerChange, requireHanded, serverSlug, serversOfWorkspace } from '../provisioning/servers.ts';
import { asAgentServer, reachAgentServer, withAgentIntegrations } from './access.ts';
import { partEndpoints } from './parts-routes.ts';
import {
  agentServerPath,
  agentServerRecord,
  agentServerUpdate,
  changeableFields,
  listedAgentServers,
  newAgentServer,
} from './schema.ts';

const tag = 'Agent servers';

const createAgentServer = endpoint({
  method: 'POST',
  path: '/agent-servers',
  tag,
  summary: 'Make an agent server in a workspace from an agent integration',
  access: serverAccess(agentFamily, 'create'),
  audit: { resource: 'agent_server', action: 'create' },
  body: newAgentServer,
  reply: created,
  async handle(call) {
    const { caller, workspace, body, db, now } = call;
    const { organisationId } = caller;
    const { id: workspaceId } = requireActiveWorkspace(workspace);
    const named = await findAgentIntegration(db, organisationId, body.agent_integration_id);
    const integration = await requireHanded(agentFamily, db, named, workspaceId);
    const slug = await serverSlug(agentFamily, db, organisationId, body);
    const id = await insertServer(agentFamily, db, now, {
      organisationId,
      workspaceId,
      integrationId: integration.id,
      slug,
      name: body.name,
      description: body.description || null,
      createdBy: actorId(caller),
    });
    recordServerChange(call, { id, slug, workspace_id: workspaceId }, { agent_integration: integration.slug });
    return { id, slug };
  },
});

const listAgentServers = endpoint({
  method: 'GET',
  path: '/agent-servers',
  tag,
  summary: 'List agent servers, newest first',
  access: serverAccess(agentFamily, 'list'),
  query: serverFilters,
  paging: { size: 100, max: 100 },
  reply: listedAgentServers,
  async handle({ caller, workspace, query, page, db, exchange }) {
    const matches = db.selectFrom('agent_servers').where(shownServers(agentFamily, caller, workspace, query));
    const { rows, total } = await newestFirst(matches, page);
    const servers = await withAgentIntegrations(db, rows);
    return {
      data: servers.map((row) => asAgentServer(row, exchange.origin)),
      total,
      has_more: page.offset + rows.length < total,
    };
  },
});

const readAgentServer = endpoint({
  method: 'GET',
  path: '/agent-servers/:agentServer',
  tag,
  summary: 'Read an agent server',
  access: serverAccess(agentFamily, 'read'),
  params: agentServerPath,
  query: workspaceQuery,
  reply: agentServerRecord,
  async handle({ caller, workspace, params, db, exchange }) {
    return asAgentServer(await reachAgentServer(db, caller, workspace, params.agentServer, 'read'), exchange.origin);
  },
});

const updateAgentServer = endpoint({
  method: 'PUT',
  path: '/agent-servers/:agentServer',
  tag,
  summary: 'Change the name or the description of an agent server',
  access: serverAccess(agentFamily, 'update'),
  audit: { resource: 'agent_server', action: 'update' },
  params: agentServerPath,
  query: workspaceQuery,
  body: agentServerUpdate,
  reply: empty,
  async handle(call) {
    const { caller, workspace, params, body, db, now } = call;
    const { server } = await reachAgentServer(db, caller, workspace, params.agentServer, 'update');
    const fields = sentFields(body, changeableFields());
    await db.updateTable('agent_servers').set(changedColumns(body, now)).where('id', '=', server.id).execute();
    recordServerChange(call, server, { fields });
    return {};
  },
});

const deleteAgentServer = endpoint({
  method: 'DELETE',
  path: '/agent-servers/:agentServer',
  tag,
  summary: 'Delete an agent server',
  access: serverAccess(agentFamily, 'delete'),
  audit: { resource: 'agent_server', action: 'delete' },
  params: agentServerPath,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const { caller, workspace, params, db, now } = call;
    const { server } = await reachAgentServer(db, caller, workspace, params.agentServer, 'delete');
    await archiveServers(agentFamily, db, now, [server.id]);
    recordServerChange(call, server, { name: server.name });
    return {};
  },
});

export const agentServersResource: Resource = {
  name: 'agent-servers',
  endpoints: [
    createAgentServer,
    listAgentServers,
    readAgentServer,
    updateAgentServer,
    deleteAgentServer,
    ...partEndpoints,
  ],
  dependants: [serversOfWorkspace(agentFamily)],
};
