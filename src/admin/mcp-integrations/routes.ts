/** MCP integrations: upstream MCP servers that the organisation or a workspace has registered. */
import { conflict } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { storedMappings } from '../integrations/secret-mappings.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { sentFields } from '../kernel/validate.ts';
import { requireGuardrailsIn } from '../mcp-servers/guardrails.ts';
import { placeFor, shownIntegrations } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { archiveIntegrations, ensureServer, grantCounts } from '../provisioning/grants.ts';
import { integrationAccess, mcpCatalogChange, reachMcpIntegration } from './access.ts';
import { capabilityEndpoints } from './capabilities-routes.ts';
import { savedSettings } from './configurations.ts';
import { probeEndpoints } from './probe-routes.ts';
import { asMcpIntegration } from './record.ts';
import {
  changeableFields,
  createdMcpIntegration,
  listedMcpIntegrations,
  mcpIntegrationFilters,
  mcpIntegrationPath,
  mcpIntegrationRecord,
  mcpIntegrationUpdate,
  newMcpIntegration,
  updatedMcpIntegration,
} from './schema.ts';
import { isMcpIntegrationSlugTaken, newMcpIntegrationSlug } from './slugs.ts';
import { workspaceEndpoints } from './workspaces-routes.ts';

const tag = 'MCP integrations';

const createMcpIntegration = endpoint({
  method: 'POST',
  path: '/mcp-integrations',
  tag,
  summary: 'Register an upstream MCP server',
  description:
    'Without workspace_id it belongs to the organisation and is handed to workspaces by PUT /mcp-integrations/{id}/workspaces. With it, it belongs to that workspace and comes with a server there.',
  access: integrationAccess('create'),
  audit: { resource: 'mcp_integration', action: 'create' },
  body: newMcpIntegration,
  reply: createdMcpIntegration,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    const { vault, settings } = services;
    const workspaceId = placeFor(mcpFamily, caller, workspace);
    const { organisationId } = caller;
    const url = body.url ?? body.server_url ?? '';
    const mappings = await storedMappings(db, { organisationId, workspaceId }, body.secret_mappings ?? []);
    const integration = { url, transport: body.transport, authType: body.auth_type, mapped: mappings };
    const sealed = savedSettings(vault, body.configurations ?? {}, null, integration, settings.trustedHosts);
    const place = { db, guardrails: services.guardrails, organisationId, workspaceId };
    await requireGuardrailsIn(place, body.configurations ?? {});
    if (body.slug && (await isMcpIntegrationSlugTaken(db, organisationId, body.slug))) {
      throw conflict(`The slug ${body.slug} is taken by another MCP integration, perhaps a deleted one`);
    }
    const at = now.toISOString();
    const row: McpIntegrationTable = {
      id: Bun.randomUUIDv7(),
      organisation_id: organisationId,
      workspace_id: workspaceId,
      slug: body.slug ?? (await newMcpIntegrationSlug(db, organisationId, body.name)),
      name: body.name,
      description: body.description || null,
      status: 'active',
      url,
      transport: body.transport,
      auth_type: body.auth_type,
      configurations_sealed: sealed,
      secret_mappings: encode(mappings),
      global_workspace_access: null,
      metadata: encode({}),
      sync_status: 'pending',
      last_synced_at: null,
      sync_error: null,
      created_by: actorId(caller),
      created_at: at,
      last_updated_at: at,
    };
    await db.insertInto('mcp_integrations').values(row).execute();
    if (workspaceId !== null) await ensureServer(mcpFamily, db, now, row, workspaceId, actorId(caller));
    changed(mcpCatalogChange(row));
    note({
      resourceId: row.id,
      ...(workspaceId !== null && { workspaceId }),
      details: { slug: row.slug, url, auth_type: row.auth_type },
    });
    return { id: row.id, slug: row.slug };
  },
});

const listMcpIntegrations = endpoint({
  method: 'GET',
  path: '/mcp-integrations',
  tag,
  summary: 'List MCP integrations, newest first',
  description: 'A key of a workspace sees what its workspace can use: its own integrations and those handed to it.',
  access: integrationAccess('list'),
  query: mcpIntegrationFilters,
  paging: { size: 100, max: 1000 },
  reply: listedMcpIntegrations,
  async handle({ caller, workspace, query, page, db, services }) {
    const { search } = query;
    const shown = db
      .selectFrom('mcp_integrations')
      .where('organisation_id', '=', caller.organisationId)
      .where('status', '=', 'active')
      .where(shownIntegrations(mcpFamily, caller, workspace, query));
    const matches = search ? shown.where((eb) => holdsInAnyCase(eb.ref('name'), search)) : shown;
    const { rows, total } = await newestFirst(matches, page);
    const counts = await grantCounts(
      mcpFamily,
      db,
      rows.map(({ id }) => id),
    );
    return {
      data: rows.map((row) => ({
        ...asMcpIntegration(row, services.vault),
        workspaces_count: row.workspace_id === null ? (counts.get(row.id) ?? 0) : 1,
      })),
      total,
      has_more: page.offset + rows.length < total,
    };
  },
});

const readMcpIntegration = endpoint({
  method: 'GET',
  path: '/mcp-integrations/:mcpIntegration',
  tag,
  summary: 'Read an MCP integration; its credentials are masked',
  access: integrationAccess('read'),
  params: mcpIntegrationPath,
  query: workspaceQuery,
  reply: mcpIntegrationRecord,
  async handle({ caller, params, db, services }) {
    return asMcpIntegration(await reachMcpIntegration(db, caller, params.mcpIntegration, 'read'), services.vault);
  },
});

const updateMcpIntegration = endpoint({
  method: 'PUT',
  path: '/mcp-integrations/:mcpIntegration',
  tag,
  summary: 'Change an MCP integration; what is left out stays as it is',
  access: integrationAccess('update'),
  audit: { resource: 'mcp_integration', action: 'update' },
  params: mcpIntegrationPath,
  query: workspaceQuery,
  body: mcpIntegrationUpdate,
  reply: updatedMcpIntegration,
  async handle({ caller, params, body, db, now, services, changed, note }) {
    const row = await reachMcpIntegration(db, caller, params.mcpIntegration, 'update');
    const fields = sentFields(body, changeableFields());
    const { vault, settings } = services;
    const url = body.url ?? body.server_url ?? row.url;
    const transport = body.transport ?? row.transport;
    const authType = body.auth_type ?? row.auth_type;
    const owner = { organisationId: row.organisation_id, workspaceId: row.workspace_id };
    const mapped =
      body.secret_mappings === undefined
        ? decode(row.secret_mappings)
        : await storedMappings(db, owner, body.secret_mappings ?? []);
    const sealed = savedSettings(
      vault,
      body.configurations ?? {},
      row.configurations_sealed,
      { url, transport, authType, mapped },
      settings.trustedHosts,
    );
    const { organisation_id: organisationId, workspace_id: workspaceId } = row;
    const place = { db, guardrails: services.guardrails, organisationId, workspaceId };
    await requireGuardrailsIn(place, body.configurations ?? {});
    const moved = url !== row.url || transport !== row.transport || authType !== row.auth_type;
    const columns: Partial<McpIntegrationTable> = {
      url,
      transport,
      auth_type: authType,
      configurations_sealed: sealed,
      last_updated_at: now.toISOString(),
      ...(body.name !== undefined && { name: body.name }),
      ...(body.description !== undefined && { description: body.description || null }),
      ...(body.secret_mappings !== undefined && { secret_mappings: encode(mapped) }),
      ...((moved || body.configurations) && { sync_status: 'pending' as const }),
    };
    await db.updateTable('mcp_integrations').set(columns).where('id', '=', row.id).execute();
    if (moved) await forgetSignIns(db, row.id);
    changed(mcpCatalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, fields },
    });
    return { success: true as const, ...asMcpIntegration({ ...row, ...columns }, vault) };
  },
});

/** Tokens and registrations were made out for another place. */
async function forgetSignIns(db: Db, integrationId: string): Promise<void> {
  const servers = db.selectFrom('mcp_servers').select('id').where('integration_id', '=', integrationId);
  await db.deleteFrom('mcp_connections').where('server_id', 'in', servers).execute();
  await db.deleteFrom('mcp_upstream_clients').where('server_id', 'in', servers).execute();
}

const deleteMcpIntegration = endpoint({
  method: 'DELETE',
  path: '/mcp-integrations/:mcpIntegration',
  tag,
  summary: 'Delete an MCP integration together with its servers in every workspace',
  access: integrationAccess('delete'),
  audit: { resource: 'mcp_integration', action: 'delete' },
  params: mcpIntegrationPath,
  query: workspaceQuery,
  reply: empty,
  async handle({ caller, params, db, now, changed, note }) {
    const row = await reachMcpIntegration(db, caller, params.mcpIntegration, 'delete');
    await archiveIntegrations(mcpFamily, db, now, [row.id]);
    changed(mcpCatalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, name: row.name },
    });
    return {};
  },
});

export const mcpIntegrationsResource: Resource = {
  name: 'mcp-integrations',
  savesAddresses: true,
  endpoints: [
    createMcpIntegration,
    listMcpIntegrations,
    readMcpIntegration,
    updateMcpIntegration,
    deleteMcpIntegration,
    ...workspaceEndpoints,
    ...capabilityEndpoints,
    ...probeEndpoints,
  ],
};
