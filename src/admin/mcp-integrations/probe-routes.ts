/** Trying an MCP integration out, and reading anew what it offers. */
import type { z } from 'zod';
import { type Discovery, noteSyncFailure, saveDiscovery } from '../../catalog/mcp/discovery.ts';
import type { ProbeResult } from '../../catalog/mcp/probe.ts';
import { readUpstream } from '../../catalog/mcp/read.ts';
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import type { Db } from '../../store/database.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { type Call, endpoint } from '../kernel/endpoint.ts';
import { catalogChange, integrationAccess } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { reachMcpIntegration } from './access.ts';
import { asMetadata } from './record.ts';
import { mcpIntegrationPath, metadataRecord, type testResult, testResult as testResultSchema } from './schema.ts';

const tag = 'MCP integrations';

export const asTestResult = (url: string, result: ProbeResult): z.output<ReturnType<typeof testResult>> => ({
  success: result.success,
  ...(result.statusCode !== null && { status_code: result.statusCode }),
  response_time_ms: result.responseTimeMs,
  url,
  server_name: result.success ? result.serverName : null,
  ...('error' in result && { error: result.error }),
});

/** Keeps what a probe heard; answers whether the catalog changed. */
export async function keepProbe(
  db: Db,
  now: Date,
  row: McpIntegrationTable,
  { settings }: McpUpstream,
  result: ProbeResult,
): Promise<boolean> {
  if (!result.success) {
    await noteSyncFailure(db, row.id, result.error);
    return false;
  }
  const { discovery }: { discovery: Discovery | null } = result;
  if (!discovery) return false;
  return saveDiscovery(
    db,
    now,
    {
      id: row.id,
      pinTools: settings.pin_tools === true,
      // What is there when an integration is first read was chosen with it; what comes later is new.
      newOnesEnabled: settings.new_capabilities !== 'disabled' || row.last_synced_at === null,
    },
    discovery,
  );
}

/** Asks the server of the integration, with the sign-in of whoever is behind the call, and keeps what it said. */
async function probe({ caller, params, db, commit, now, services, changed, note }: ProbeCall) {
  const row = await reachMcpIntegration(db, caller, params.mcpIntegration, 'update');
  const upstream = await readUpstream(db, row, services.vault);
  const result = await services.mcp.probe(upstream, caller.userId);
  await commit(async (tx) => {
    if (await keepProbe(tx, now, row, upstream, result)) changed(catalogChange(row));
    note({ resourceId: row.id, details: { slug: row.slug, success: result.success } });
  });
  return { row, result };
}

type ProbeCall = Call<{ mcpIntegration: string }, unknown, unknown>;

const testIntegration = endpoint({
  method: 'POST',
  path: '/mcp-integrations/:mcpIntegration/test',
  tag,
  summary: 'Try whether the server of an MCP integration answers',
  access: integrationAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_integration', action: 'invoke' },
  atomic: false,
  params: mcpIntegrationPath,
  query: workspaceQuery,
  reply: testResultSchema,
  async handle(call) {
    const { row, result } = await probe(call);
    return asTestResult(row.url, result);
  },
});

const syncIntegration = endpoint({
  method: 'POST',
  path: '/mcp-integrations/:mcpIntegration/sync',
  tag,
  summary: 'Read anew what the server of an MCP integration offers',
  access: integrationAccess(mcpFamily, 'update'),
  audit: { resource: 'mcp_integration', action: 'update' },
  atomic: false,
  params: mcpIntegrationPath,
  query: workspaceQuery,
  reply: metadataRecord,
  async handle(call) {
    const { row } = await probe(call);
    return asMetadata(await reachMcpIntegration(call.db, call.caller, row.id, 'update'));
  },
});

const readMetadata = endpoint({
  method: 'GET',
  path: '/mcp-integrations/:mcpIntegration/metadata',
  tag,
  summary: 'Read who the server of an MCP integration says that it is',
  access: integrationAccess(mcpFamily, 'read'),
  params: mcpIntegrationPath,
  query: workspaceQuery,
  reply: metadataRecord,
  async handle({ caller, params, db }) {
    return asMetadata(await reachMcpIntegration(db, caller, params.mcpIntegration, 'read'));
  },
});

export const probeEndpoints = [testIntegration, syncIntegration, readMetadata];
