/** What an MCP integration offers, and which of it is switched off for the whole organisation. */
import { upstreamOf } from '../../catalog/mcp/read.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { catalogChange, integrationAccess } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { succeeded } from '../provisioning/schema.ts';
import { reachMcpIntegration } from './access.ts';
import { listCapabilities, namedCapabilities } from './capabilities.ts';
import { capabilitiesList, capabilitiesUpdate, capabilityFilters, mcpIntegrationPath } from './schema.ts';

const tag = 'MCP integrations';
const path = '/mcp-integrations/:mcpIntegration/capabilities';

const listAll = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'List the tools, prompts and resources of an MCP integration',
  access: integrationAccess(mcpFamily, 'read'),
  params: mcpIntegrationPath,
  query: capabilityFilters,
  paging: { size: 100, max: 500, first: 1 },
  reply: capabilitiesList,
  async handle({ caller, params, query, page, db, services }) {
    const row = await reachMcpIntegration(db, caller, params.mcpIntegration, 'read');
    const pinned = upstreamOf(row, services.vault).settings.pin_tools === true;
    return listCapabilities(db, { id: row.id, pinned }, query, page, null);
  },
});

const switchSome = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Switch tools, prompts and resources of an MCP integration on or off',
  description:
    'What is switched off is never listed and cannot be used, in no workspace. Switching a pinned tool on approves its present definition.',
  access: integrationAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_integration', action: 'update' },
  params: mcpIntegrationPath,
  body: capabilitiesUpdate,
  reply: succeeded,
  async handle({ caller, params, body, db, now, services, changed, note }) {
    const integration = await reachMcpIntegration(db, caller, params.mcpIntegration, 'update');
    const pins = upstreamOf(integration, services.vault).settings.pin_tools === true;
    for (const { row, enabled } of await namedCapabilities(db, integration.id, body)) {
      const approves = pins && enabled && row.type === 'tool';
      await db
        .updateTable('mcp_capabilities')
        .set({
          enabled: enabled ? 1 : 0,
          last_updated_at: now.toISOString(),
          ...(approves && { pinned: row.definition, pinned_digest: row.digest }),
        })
        .where('integration_id', '=', integration.id)
        .where('type', '=', row.type)
        .where('key', '=', row.key)
        .execute();
    }
    changed(catalogChange(integration));
    note({ resourceId: integration.id, details: { slug: integration.slug, capabilities: body.capabilities } });
    return { success: true as const };
  },
});

export const capabilityEndpoints = [listAll, switchSome];
