/** Agent servers: agent integrations as one workspace uses them. */
import { conflict, forbidden, notFound } from '../../http/errors.ts';
import { actorId, workspacesWith } from '../../identity/caller.ts';
import { findAgentIntegration } from '../agent-integrations/access.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { type Dependant, endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf, holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { sentFields } from '../kernel/validate.ts';
import { requireActiveWorkspace, serverAccess } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import { archiveAllOf, archiveServers, isHandedTo } from '../provisioning/grants.ts';
import { isServerSlugTaken, newServerSlug } from '../provisioning/slugs.ts';
import { asAgentServer, reachAgentServer, withAgentIntegrations } from './access.ts';
import { insertAgentServer } from './insert.ts';
import { partEndpoints } from './parts-routes.ts';
import {
  agentServerFilters,
  agentServerPath,
  agentServerRecord,
  agentServerUpdate,
  changeableFields,
  createdAgentServer,
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
  reply: createdAgentServer,
  async handle({ caller, workspace, body, db, now, changed, note }) {
    const { id: workspaceId } = requireActiveWorkspace(workspace);
    const { organisationId } = caller;
    const integration = await findAgentIntegration(db, organisationId, body.agent_integration_id);
    if (!integration) throw notFound('agent integration');
    if (!(await isHandedTo(agentFamily, db, integration, workspaceId))) {
      throw forbidden('This agent integration is not enabled for the workspace');
    }
    if (body.slug && (await isServerSlugTaken(agentFamily, db, organisationId, body.slug))) {
      throw conflict(`The slug ${body.slug} is taken by another agent server, perhaps a deleted one`);
    }
    const slug = body.slug ?? (await newServerSlug(agentFamily, db, organisationId, body.name));
    const id = await insertAgentServer(db, now, {
      organisationId,
      workspaceId,
      integrationId: integration.id,
      slug,
      name: body.name,
      description: body.description || null,
      createdBy: actorId(caller),
    });
    changed({ topic: 'catalog', id: workspaceId });
    note({ resourceId: id, workspaceId, details: { slug, agent_integration: integration.slug } });
    return { id, slug };
  },
});

const listAgentServers = endpoint({
  method: 'GET',
  path: '/agent-servers',
  tag,
  summary: 'List agent servers, newest first',
  access: serverAccess(agentFamily, 'list'),
  query: agentServerFilters,
  paging: { size: 100, max: 100 },
  reply: listedAgentServers,
  async handle({ caller, workspace, query, page, db, exchange }) {
    const visible = workspace ? [workspace.id] : workspacesWith(caller, 'agent_servers.list');
    let matches = db
      .selectFrom('agent_servers')
      .where('organisation_id', '=', caller.organisationId)
      .where('status', '=', 'active');
    if (visible !== 'all') {
      if (visible.length === 0) return { data: [], total: 0, has_more: false };
      matches = matches.where('workspace_id', 'in', visible);
    }
    const { id, search } = query;
    if (id) matches = matches.where((eb) => eb.or([eb('id', 'in', id), eb('slug', 'in', id)]));
    if (search) {
      matches = matches.where((eb) =>
        eb.or([holdsInAnyCase(eb.ref('name'), search), holdsInAnyCase(eb.ref('slug'), search)]),
      );
    }
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
  async handle({ caller, workspace, params, body, db, now, changed, note }) {
    const { server } = await reachAgentServer(db, caller, workspace, params.agentServer, 'update');
    const fields = sentFields(body, changeableFields());
    await db
      .updateTable('agent_servers')
      .set({
        ...(body.name !== undefined && { name: body.name }),
        ...(body.description !== undefined && { description: body.description || null }),
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', server.id)
      .execute();
    changed({ topic: 'catalog', id: server.workspace_id });
    note({ resourceId: server.id, workspaceId: server.workspace_id, details: { slug: server.slug, fields } });
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
  async handle({ caller, workspace, params, db, now, changed, note }) {
    const { server } = await reachAgentServer(db, caller, workspace, params.agentServer, 'delete');
    await archiveServers(agentFamily, db, now, [server.id]);
    changed({ topic: 'catalog', id: server.workspace_id });
    note({
      resourceId: server.id,
      workspaceId: server.workspace_id,
      details: { slug: server.slug, name: server.name },
    });
    return {};
  },
});

const serversOfWorkspace: Dependant = {
  kind: 'agent servers',
  count: (db, workspaceId) =>
    countOf(db.selectFrom('agent_servers').where('workspace_id', '=', workspaceId).where('status', '=', 'active')),
  async remove(db, workspaceId, now) {
    await archiveAllOf(agentFamily, db, now, workspaceId);
    return [{ topic: 'catalog', id: workspaceId }];
  },
};

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
  dependants: [serversOfWorkspace],
};
