/** MCP servers: MCP integrations as one workspace uses them. */
import { readUpstream } from '../../catalog/mcp/read.ts';
import { actorId } from '../../identity/caller.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import { sentFields } from '../kernel/validate.ts';
import { findMcpIntegration } from '../mcp-integrations/access.ts';
import { asTestResult, keepProbe } from '../mcp-integrations/probe-routes.ts';
import { asMetadata } from '../mcp-integrations/record.ts';
import { metadataRecord, testResult } from '../mcp-integrations/schema.ts';
import { catalogChange, requireActiveWorkspace, serverAccess, shownServers } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { archiveServers } from '../provisioning/grants.ts';
import { storedGuardrails } from '../provisioning/guardrails.ts';
import { insertServer } from '../provisioning/insert-server.ts';
import { changedColumns } from '../provisioning/integrations.ts';
import { created, serverFilters } from '../provisioning/schema.ts';
import { recordServerChange, requireHanded, serverSlug, serversOfWorkspace } from '../provisioning/servers.ts';
import { reachMcpServer, withMcpIntegrations } from './access.ts';
import { capabilityEndpoints } from './capabilities-routes.ts';
import { peopleEndpoints } from './people-routes.ts';
import { asMcpServer, mcpOrigin } from './record.ts';
import {
  changeableFields,
  listedMcpServers,
  mcpServerPath,
  mcpServerRecord,
  mcpServerUpdate,
  newMcpServer,
} from './schema.ts';

const tag = 'MCP servers';

const createMcpServer = endpoint({
  method: 'POST',
  path: '/mcp-servers',
  tag,
  summary: 'Make an MCP server in a workspace from an MCP integration',
  access: serverAccess(mcpFamily, 'create'),
  audit: { resource: 'mcp_server', action: 'create' },
  body: newMcpServer,
  reply: created,
  async handle(call) {
    const { caller, workspace, body, db, now, services } = call;
    const { organisationId } = caller;
    const { id: workspaceId } = requireActiveWorkspace(workspace);
    const named = await findMcpIntegration(db, organisationId, body.mcp_integration_id);
    const integration = await requireHanded(mcpFamily, db, named, workspaceId);
    const slug = await serverSlug(mcpFamily, db, organisationId, body);
    const place = { db, guardrails: services.guardrails, organisationId, workspaceId };
    const id = await insertServer(mcpFamily, db, now, {
      organisationId,
      workspaceId,
      integrationId: integration.id,
      slug,
      name: body.name,
      description: body.description || null,
      guardrails: await storedGuardrails(place, body),
      createdBy: actorId(caller),
    });
    recordServerChange(call, { id, slug, workspace_id: workspaceId }, { mcp_integration: integration.slug });
    return { id, slug };
  },
});

const listMcpServers = endpoint({
  method: 'GET',
  path: '/mcp-servers',
  tag,
  summary: 'List MCP servers, newest first',
  access: serverAccess(mcpFamily, 'list'),
  query: serverFilters,
  paging: { size: 100, max: 100 },
  reply: listedMcpServers,
  async handle({ caller, workspace, query, page, db, services, exchange }) {
    const matches = db.selectFrom('mcp_servers').where(shownServers(mcpFamily, caller, workspace, query));
    const { rows, total } = await newestFirst(matches, page);
    const origin = mcpOrigin(services, exchange);
    const servers = await withMcpIntegrations(db, rows);
    return {
      data: servers.map((row) => asMcpServer(row, caller, services, origin)),
      total,
      has_more: page.offset + rows.length < total,
    };
  },
});

const readMcpServer = endpoint({
  method: 'GET',
  path: '/mcp-servers/:mcpServer',
  tag,
  summary: 'Read an MCP server',
  access: serverAccess(mcpFamily, 'read'),
  params: mcpServerPath,
  query: workspaceQuery,
  reply: mcpServerRecord,
  async handle({ caller, workspace, params, db, services, exchange }) {
    const row = await reachMcpServer(db, caller, workspace, params.mcpServer, 'read');
    return asMcpServer(row, caller, services, mcpOrigin(services, exchange));
  },
});

const updateMcpServer = endpoint({
  method: 'PUT',
  path: '/mcp-servers/:mcpServer',
  tag,
  summary: 'Change the name, the description or the guardrails of an MCP server',
  access: serverAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_server', action: 'update' },
  params: mcpServerPath,
  query: workspaceQuery,
  body: mcpServerUpdate,
  reply: empty,
  async handle(call) {
    const { caller, workspace, params, body, db, now, services } = call;
    const { server } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'update');
    const { organisation_id: organisationId, workspace_id: workspaceId } = server;
    const place = { db, guardrails: services.guardrails, organisationId, workspaceId };
    const guardrails = await storedGuardrails(place, body);
    const fields = sentFields(body, changeableFields());
    await db
      .updateTable('mcp_servers')
      .set({ ...changedColumns(body, now), ...guardrails })
      .where('id', '=', server.id)
      .execute();
    recordServerChange(call, server, { fields });
    return {};
  },
});

const deleteMcpServer = endpoint({
  method: 'DELETE',
  path: '/mcp-servers/:mcpServer',
  tag,
  summary: 'Delete an MCP server together with the sign-ins at its upstream',
  access: serverAccess(mcpFamily, 'delete'),
  audit: { resource: 'mcp_server', action: 'delete' },
  params: mcpServerPath,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const { caller, workspace, params, db, now } = call;
    const { server } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'delete');
    await archiveServers(mcpFamily, db, now, [server.id]);
    recordServerChange(call, server, { name: server.name });
    return {};
  },
});

const testMcpServer = endpoint({
  method: 'POST',
  path: '/mcp-servers/:mcpServer/test',
  tag,
  summary: 'Try whether the upstream of an MCP server answers',
  access: serverAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_server', action: 'invoke' },
  atomic: false,
  params: mcpServerPath,
  query: workspaceQuery,
  reply: testResult,
  async handle({ caller, workspace, params, db, commit, now, services, changed, note }) {
    const { server, integration } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'update');
    const upstream = {
      ...(await readUpstream(db, integration, services.vault)),
      id: server.id,
      workspaceId: server.workspace_id,
    };
    const result = await services.mcp.probe(upstream, caller.userId);
    await commit(async (tx) => {
      if (await keepProbe(tx, now, integration, upstream, result)) changed(catalogChange(integration));
      note({
        resourceId: server.id,
        workspaceId: server.workspace_id,
        details: { slug: server.slug, success: result.success },
      });
    });
    return asTestResult(integration.url, result);
  },
});

const readMcpServerMetadata = endpoint({
  method: 'GET',
  path: '/mcp-servers/:mcpServer/metadata',
  tag,
  summary: 'Read who the upstream of an MCP server says that it is',
  access: serverAccess(mcpFamily, 'read'),
  params: mcpServerPath,
  query: workspaceQuery,
  reply: metadataRecord,
  async handle({ caller, workspace, params, db }) {
    const { integration } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'read');
    return asMetadata(integration);
  },
});

export const mcpServersResource: Resource = {
  name: 'mcp-servers',
  endpoints: [
    createMcpServer,
    listMcpServers,
    readMcpServer,
    updateMcpServer,
    deleteMcpServer,
    testMcpServer,
    readMcpServerMetadata,
    ...capabilityEndpoints,
    ...peopleEndpoints,
  ],
  dependants: [serversOfWorkspace(mcpFamily)],
};
