/** MCP servers: MCP integrations as one workspace uses them. */
import { readUpstream } from '../../catalog/mcp/read.ts';
import { conflict, forbidden, notFound } from '../../http/errors.ts';
import { actorId, workspacesWith } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { type Dependant, endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf, holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { sentFields } from '../kernel/validate.ts';
import { findMcpIntegration, mcpCatalogChange } from '../mcp-integrations/access.ts';
import { asTestResult, keepProbe, personOf } from '../mcp-integrations/probe-routes.ts';
import { asMetadata } from '../mcp-integrations/record.ts';
import { metadataRecord, testResult } from '../mcp-integrations/schema.ts';
import { isMcpServerSlugTaken, newMcpServerSlug } from '../mcp-integrations/slugs.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { archiveAllOf, archiveServers, isHandedTo } from '../provisioning/grants.ts';
import { reachMcpServer, requireActiveWorkspace, serverAccess, withIntegrations } from './access.ts';
import { capabilityEndpoints } from './capabilities-routes.ts';
import { storedGuardrails } from './guardrails.ts';
import { insertMcpServer } from './insert.ts';
import { peopleEndpoints } from './people-routes.ts';
import { asMcpServer, mcpOrigin } from './record.ts';
import {
  changeableFields,
  createdMcpServer,
  listedMcpServers,
  mcpServerFilters,
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
  access: serverAccess('create'),
  audit: { resource: 'mcp_server', action: 'create' },
  body: newMcpServer,
  reply: createdMcpServer,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    const { id: workspaceId } = requireActiveWorkspace(workspace);
    const integration = await usableIntegration(db, caller.organisationId, workspaceId, body.mcp_integration_id);
    const { organisationId } = caller;
    if (body.slug && (await isMcpServerSlugTaken(db, organisationId, body.slug))) {
      throw conflict(`The slug ${body.slug} is taken by another MCP server, perhaps a deleted one`);
    }
    const place = { db, guardrails: services.guardrails, organisationId, workspaceId };
    const guardrails = await storedGuardrails(place, body);
    const slug = body.slug ?? (await newMcpServerSlug(db, organisationId, body.name));
    const id = await insertMcpServer(db, now, {
      organisationId,
      workspaceId,
      integrationId: integration.id,
      slug,
      name: body.name,
      description: body.description || null,
      guardrails,
      createdBy: actorId(caller),
    });
    changed({ topic: 'catalog', id: workspaceId });
    note({ resourceId: id, workspaceId, details: { slug, mcp_integration: integration.slug } });
    return { id, slug };
  },
});

/** The integration, if the workspace may use it: its own, or one that the organisation handed to it. */
async function usableIntegration(
  db: Db,
  organisationId: string,
  workspaceId: string,
  reference: string,
): Promise<McpIntegrationTable> {
  const integration = await findMcpIntegration(db, organisationId, reference);
  if (!integration) throw notFound('MCP integration');
  if (!(await isHandedTo(mcpFamily, db, integration, workspaceId))) {
    throw forbidden('This MCP integration is not enabled for the workspace');
  }
  return integration;
}

const listMcpServers = endpoint({
  method: 'GET',
  path: '/mcp-servers',
  tag,
  summary: 'List MCP servers, newest first',
  access: serverAccess('list'),
  query: mcpServerFilters,
  paging: { size: 100, max: 100 },
  reply: listedMcpServers,
  async handle({ caller, workspace, query, page, db, services, exchange }) {
    const visible = workspace ? [workspace.id] : workspacesWith(caller, 'mcp_servers.list');
    let matches = db
      .selectFrom('mcp_servers')
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
    const origin = mcpOrigin(services, exchange);
    const servers = await withIntegrations(db, rows);
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
  access: serverAccess('read'),
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
  access: serverAccess('update'),
  audit: { resource: 'mcp_server', action: 'update' },
  params: mcpServerPath,
  query: workspaceQuery,
  body: mcpServerUpdate,
  reply: empty,
  async handle({ caller, workspace, params, body, db, now, services, changed, note }) {
    const { server } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'update');
    const { organisation_id: organisationId, workspace_id: workspaceId } = server;
    const guardrails = await storedGuardrails(
      { db, guardrails: services.guardrails, organisationId, workspaceId },
      body,
    );
    const fields = sentFields(body, changeableFields());
    await db
      .updateTable('mcp_servers')
      .set({
        ...(body.name !== undefined && { name: body.name }),
        ...(body.description !== undefined && { description: body.description || null }),
        ...guardrails,
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', server.id)
      .execute();
    changed({ topic: 'catalog', id: server.workspace_id });
    note({ resourceId: server.id, workspaceId: server.workspace_id, details: { slug: server.slug, fields } });
    return {};
  },
});

const deleteMcpServer = endpoint({
  method: 'DELETE',
  path: '/mcp-servers/:mcpServer',
  tag,
  summary: 'Delete an MCP server together with the sign-ins at its upstream',
  access: serverAccess('delete'),
  audit: { resource: 'mcp_server', action: 'delete' },
  params: mcpServerPath,
  query: workspaceQuery,
  reply: empty,
  async handle({ caller, workspace, params, db, now, changed, note }) {
    const { server } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'delete');
    await archiveServers(mcpFamily, db, now, [server.id]);
    changed({ topic: 'catalog', id: server.workspace_id });
    note({
      resourceId: server.id,
      workspaceId: server.workspace_id,
      details: { slug: server.slug, name: server.name },
    });
    return {};
  },
});

const testMcpServer = endpoint({
  method: 'POST',
  path: '/mcp-servers/:mcpServer/test',
  tag,
  summary: 'Try whether the upstream of an MCP server answers',
  access: serverAccess('update'),
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
    const result = await services.mcp.probe(upstream, personOf(caller));
    await commit(async (tx) => {
      if (await keepProbe(tx, now, integration, upstream, result)) changed(mcpCatalogChange(integration));
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
  access: serverAccess('read'),
  params: mcpServerPath,
  query: workspaceQuery,
  reply: metadataRecord,
  async handle({ caller, workspace, params, db }) {
    const { integration } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'read');
    return asMetadata(integration);
  },
});

const serversOfWorkspace: Dependant = {
  kind: 'MCP servers',
  count: (db, workspaceId) =>
    countOf(db.selectFrom('mcp_servers').where('workspace_id', '=', workspaceId).where('status', '=', 'active')),
  async remove(db, workspaceId, now) {
    await archiveAllOf(mcpFamily, db, now, workspaceId);
    return [{ topic: 'catalog', id: workspaceId }];
  },
};

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
  dependants: [serversOfWorkspace],
};
