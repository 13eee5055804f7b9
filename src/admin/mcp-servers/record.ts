/** Stored MCP servers as callers see them. */
import type { z } from 'zod';
import { openSettings } from '../../catalog/sealed-settings.ts';
import type { Caller } from '../../identity/caller.ts';
import { decode } from '../../store/json.ts';
import type { Exchange } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { maskedSettings } from '../provisioning/masking.ts';
import { serverFields } from '../provisioning/servers.ts';
import type { McpServerRow } from './access.ts';
import type { mcpServerRecord } from './schema.ts';

export const mcpOrigin = (services: Services, exchange: Exchange): string =>
  services.settings.mcp.baseUrl ?? exchange.origin;

export function asMcpServer(
  row: McpServerRow,
  caller: Caller,
  services: Services,
  origin: string,
): z.output<ReturnType<typeof mcpServerRecord>> {
  const { server, integration } = row;
  // Nobody stands behind such a key: it is how a data plane reads what it needs.
  const isService = caller.kind === 'admin-key' || caller.kind === 'workspace-key';
  return {
    ...serverFields(row),
    mcp_integration_id: integration.id,
    mcp_integration_slug: integration.slug,
    mcp_integration_url: integration.url,
    url: `${origin}/${server.slug}/mcp`,
    input_guardrails: server.input_guardrails ? decode(server.input_guardrails) : null,
    output_guardrails: server.output_guardrails ? decode(server.output_guardrails) : null,
    ...(isService && {
      mcp_integration_details: {
        id: integration.id,
        slug: integration.slug,
        status: integration.status,
        configurations: maskedSettings(
          openSettings(services.vault, mcpFamily.settings, integration.configurations_sealed),
        ),
        url: integration.url,
        transport: integration.transport,
        auth_type: integration.auth_type,
      },
    }),
  };
}
