/** Stored MCP servers as callers see them. */
import type { z } from 'zod';
import { openMcpSettings } from '../../catalog/mcp/read.ts';
import type { Caller } from '../../identity/caller.ts';
import { decode } from '../../store/json.ts';
import type { Exchange } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { maskedSettings } from '../mcp-integrations/masking.ts';
import type { ServerRow } from './access.ts';
import type { mcpServerRecord } from './schema.ts';

export const mcpOrigin = (services: Services, exchange: Exchange): string =>
  services.settings.mcp.baseUrl ?? exchange.origin;

export function asMcpServer(
  { server, integration, workspace, granted }: ServerRow,
  caller: Caller,
  services: Services,
  origin: string,
): z.output<ReturnType<typeof mcpServerRecord>> {
  // Nobody stands behind such a key: it is how a data plane reads what it needs.
  const isService = caller.kind === 'admin-key' || caller.kind === 'workspace-key';
  return {
    id: server.id,
    slug: server.slug,
    name: server.name,
    description: server.description,
    status: server.status,
    owner_id: server.created_by,
    organisation_id: server.organisation_id,
    workspace_id: server.workspace_id,
    workspace_name: workspace.name,
    workspace_slug: workspace.slug,
    mcp_integration_id: integration.id,
    mcp_integration_slug: integration.slug,
    mcp_integration_url: integration.url,
    auth_type: integration.auth_type,
    url: `${origin}/${server.slug}/mcp`,
    default_user_access: server.default_user_access,
    input_guardrails: server.input_guardrails ? decode(server.input_guardrails) : null,
    output_guardrails: server.output_guardrails ? decode(server.output_guardrails) : null,
    enabled: granted,
    created_at: server.created_at,
    last_updated_at: server.last_updated_at,
    ...(isService && {
      mcp_integration_details: {
        id: integration.id,
        slug: integration.slug,
        status: integration.status,
        configurations: maskedSettings(openMcpSettings(services.vault, integration.configurations_sealed)),
        url: integration.url,
        transport: integration.transport,
        auth_type: integration.auth_type,
      },
    }),
  };
}
