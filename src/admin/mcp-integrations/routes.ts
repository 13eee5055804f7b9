/** MCP integrations: upstream MCP servers that the organisation or a workspace has registered. */
import { actorId } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import { sentFields } from '../kernel/validate.ts';
import { integrationAccess, placeFor, shownIntegrations } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { archiveIntegrations, ensureServer } from '../provisioning/grants.ts';
import {
  changedColumns,
  listedIntegrations,
  newIntegrationColumns,
  recordIntegrationChange,
  settingsToStore,
} from '../provisioning/integrations.ts';
import { created, integrationFilters } from '../provisioning/schema.ts';
import { reachMcpIntegration } from './access.ts';
import { capabilityEndpoints } from './capabilities-routes.ts';
import { checkMcpSettings } from './configurations.ts';
import { probeEndpoints } from './probe-routes.ts';
import { asMcpIntegration } from './record.ts';
import {
  changeableFields,
  listedMcpIntegrations,
  mcpIntegrationPath,
  mcpIntegrationRecord,
  mcpIntegrationUpdate,
  newMcpIntegration,
  updatedMcpIntegration,
} from './schema.ts';
import { workspaceEndpoints } from './workspaces-routes.ts';

const tag = 'MCP integrations';

const createMcpIntegration = endpoint({
  method: 'POST',
  path: '/mcp-integrations',
  tag,
  summary: 'Register an upstream MCP server',
  description:
    'Without workspace_id it belongs to the organisation and is handed to workspaces by PUT /mcp-integrations/{id}/workspaces. With it, it belongs to that workspace and comes with a server there.',
  access: integrationAccess(mcpFamily, 'create'),
  audit: { resource: 'mcp_integration', action: 'create' },
  body: newMcpIntegration,
  reply: created,
  async handle(call) {
    const { caller, workspace, body, db, now, services } = call;
    const workspaceId = placeFor(mcpFamily, caller, workspace);
    const url = body.url ?? body.server_url ?? '';
    const { transport, auth_type: authType } = body;
    const owner = { organisationId: caller.organisationId, workspaceId };
    const stored = await settingsToStore(mcpFamily, call, owner, body, null, (settings, mapped) =>
      checkMcpSettings(settings, { url, transport, authType, mapped }, services.settings.trustedHosts),
    );
    const row: McpIntegrationTable = {
      ...(await newIntegrationColumns(mcpFamily, call, workspaceId, body)),
      ...stored,
      url,
      transport,
      auth_type: authType,
      metadata: encode({}),
      sync_status: 'pending',
      last_synced_at: null,
      sync_error: null,
    };
    await db.insertInto('mcp_integrations').values(row).execute();
    if (workspaceId !== null) await ensureServer(mcpFamily, db, now, row, workspaceId, actorId(caller));
    recordIntegrationChange(call, row, { url, auth_type: authType });
    return { id: row.id, slug: row.slug };
  },
});

const listMcpIntegrations = endpoint({
  method: 'GET',
  path: '/mcp-integrations',
  tag,
  summary: 'List MCP integrations, newest first',
  description: 'A key of a workspace sees what its workspace can use: its own integrations and those handed to it.',
  access: integrationAccess(mcpFamily, 'list'),
  query: integrationFilters,
  paging: { size: 100, max: 1000 },
  reply: listedMcpIntegrations,
  async handle({ caller, workspace, query, page, db, services }) {
    const matches = db.selectFrom('mcp_integrations').where(shownIntegrations(mcpFamily, caller, workspace, query));
    const listed = await newestFirst(matches, page);
    return listedIntegrations(mcpFamily, db, listed, page, (row) => asMcpIntegration(row, services.vault));
  },
});

const readMcpIntegration = endpoint({
  method: 'GET',
  path: '/mcp-integrations/:mcpIntegration',
  tag,
  summary: 'Read an MCP integration; its credentials are masked',
  access: integrationAccess(mcpFamily, 'read'),
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
  access: integrationAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_integration', action: 'update' },
  params: mcpIntegrationPath,
  query: workspaceQuery,
  body: mcpIntegrationUpdate,
  reply: updatedMcpIntegration,
  async handle(call) {
    const { caller, params, body, db, now, services } = call;
    const row = await reachMcpIntegration(db, caller, params.mcpIntegration, 'update');
    const fields = sentFields(body, changeableFields());
    const url = body.url ?? body.server_url ?? row.url;
    const transport = body.transport ?? row.transport;
    const authType = body.auth_type ?? row.auth_type;
    const owner = { organisationId: row.organisation_id, workspaceId: row.workspace_id };
    const stored = await settingsToStore(mcpFamily, call, owner, body, row, (settings, mapped) =>
      checkMcpSettings(settings, { url, transport, authType, mapped }, services.settings.trustedHosts),
    );
    const moved = url !== row.url || transport !== row.transport || authType !== row.auth_type;
    const columns: Partial<McpIntegrationTable> = {
      ...changedColumns(body, now),
      ...stored,
      url,
      transport,
      auth_type: authType,
      ...((moved || body.configurations) && { sync_status: 'pending' as const }),
    };
    await db.updateTable('mcp_integrations').set(columns).where('id', '=', row.id).execute();
    if (moved) await forgetSignIns(db, row.id);
    recordIntegrationChange(call, row, { fields });
    return { success: true as const, ...asMcpIntegration({ ...row, ...columns }, services.vault) };
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
  access: integrationAccess(mcpFamily, 'delete'),
  audit: { resource: 'mcp_integration', action: 'delete' },
  params: mcpIntegrationPath,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const { caller, params, db, now } = call;
    const row = await reachMcpIntegration(db, caller, params.mcpIntegration, 'delete');
    await archiveIntegrations(mcpFamily, db, now, [row.id]);
    recordIntegrationChange(call, row, { name: row.name });
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
