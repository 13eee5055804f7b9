/** What an MCP server offers, and which of it is switched off in its workspace. */
import { upstreamOf } from '../../catalog/mcp/read.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { listCapabilities, namedCapabilities, switchName } from '../mcp-integrations/capabilities.ts';
import { capabilitiesList, capabilitiesUpdate, capabilityFilters } from '../mcp-integrations/schema.ts';
import { serverAccess } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { succeeded } from '../provisioning/schema.ts';
import { recordServerChange } from '../provisioning/servers.ts';
import { reachMcpServer } from './access.ts';
import { mcpServerPath } from './schema.ts';

const tag = 'MCP servers';
const path = '/mcp-servers/:mcpServer/capabilities';

const listAll = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'List the tools, prompts and resources of an MCP server',
  description: 'Something can be used when it is enabled here and by its integration (integration_enabled).',
  access: serverAccess(mcpFamily, 'read'),
  params: mcpServerPath,
  query: capabilityFilters,
  paging: { size: 100, max: 500, first: 1 },
  reply: capabilitiesList,
  async handle({ caller, workspace, params, query, page, db, services }) {
    const { server, integration } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'read');
    const own = await db.selectFrom('mcp_server_capabilities').selectAll().where('server_id', '=', server.id).execute();
    const switches = new Map(own.map((row) => [switchName(row), row.enabled === 1]));
    const pinned = upstreamOf(integration, services.vault).settings.pin_tools === true;
    return listCapabilities(db, { id: integration.id, pinned }, query, page, switches);
  },
});

const switchSome = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Switch tools, prompts and resources of an MCP server on or off',
  description: 'What the integration switches off stays off, whatever is stored here.',
  access: serverAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_server', action: 'update' },
  params: mcpServerPath,
  body: capabilitiesUpdate,
  reply: succeeded,
  async handle(call) {
    const { caller, workspace, params, body, db, now } = call;
    const { server, integration } = await reachMcpServer(db, caller, workspace, params.mcpServer, 'update');
    const at = now.toISOString();
    for (const { row, enabled } of await namedCapabilities(db, integration.id, body)) {
      const state = { enabled: enabled ? 1 : 0, last_updated_at: at } as const;
      await db
        .insertInto('mcp_server_capabilities')
        .values({ server_id: server.id, type: row.type, key: row.key, ...state })
        .onConflict((conflict) => conflict.columns(['server_id', 'type', 'key']).doUpdateSet(state))
        .execute();
    }
    recordServerChange(call, server, { capabilities: body.capabilities });
    return { success: true as const };
  },
});

export const capabilityEndpoints = [listAll, switchSome];
