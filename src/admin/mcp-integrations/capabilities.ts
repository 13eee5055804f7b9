/** Capabilities of MCP integrations and servers: rows for readers, and switches for those who manage them. */
import type { z } from 'zod';
import { type CapabilityDefinition, type CapabilityType, capabilityTypes } from '../../catalog/mcp/types.ts';
import { notFound } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { McpCapabilityTable } from '../../store/tables/mcp.ts';
import type { Page } from '../kernel/endpoint.ts';
import type { CapabilitiesUpdate, capabilitiesList, capabilityRecord } from './schema.ts';

type Row = McpCapabilityTable;
type CapabilitiesList = z.output<ReturnType<typeof capabilitiesList>>;

/** `switches`: a server's own switches, by `type key`; null for the integration itself. */
export async function listCapabilities(
  db: Db,
  integration: { id: string; pinned: boolean },
  { type, search }: { type?: CapabilityType | undefined; search?: string | undefined },
  page: Page,
  switches: ReadonlyMap<string, boolean> | null,
): Promise<CapabilitiesList> {
  const rows = await db
    .selectFrom('mcp_capabilities')
    .selectAll()
    .where('integration_id', '=', integration.id)
    .orderBy('type')
    .orderBy('key')
    .execute();
  const isOn = (row: Row) => row.enabled === 1 && (switches?.get(switchName(row)) ?? true);
  const counts = (wanted: CapabilityType) => {
    const ofType = rows.filter((row) => row.type === wanted && row.missing_since === null);
    return { total: ofType.length, enabled: ofType.filter(isOn).length };
  };
  const part = search?.toLowerCase() ?? '';
  const matching = rows.filter((row) => (!type || row.type === type) && row.name.toLowerCase().includes(part));
  const shown = matching.slice(page.offset, page.offset + page.size);
  return {
    data: shown.map((row) => ({
      ...asCapability(row, integration.pinned),
      ...(switches && { enabled: switches.get(switchName(row)) ?? true, integration_enabled: row.enabled === 1 }),
    })),
    counts: {
      tools: counts('tool'),
      prompts: counts('prompt'),
      resources: counts('resource'),
      resource_templates: counts('resource_template'),
    },
    total: matching.length,
    has_more: page.offset + page.size < matching.length,
  };
}

export const switchName = ({ type, key }: { type: CapabilityType; key: string }): string => `${type} ${key}`;

function asCapability(row: Row, pinned: boolean): z.output<ReturnType<typeof capabilityRecord>> {
  const definition = decode(row.definition);
  const text = (name: string): string | null => (typeof definition[name] === 'string' ? definition[name] : null);
  const given = (name: string, from: string) => (definition[from] === undefined ? {} : { [name]: definition[from] });
  return {
    name: row.name,
    type: row.type,
    title: text('title'),
    description: text('description'),
    icons: Array.isArray(definition.icons) ? definition.icons : null,
    enabled: row.enabled === 1,
    created_at: row.created_at,
    last_updated_at: row.last_updated_at,
    missing_since: row.missing_since,
    changed: pinned && row.pinned ? differences(decode(row.pinned), definition) : null,
    ...given('input_schema', 'inputSchema'),
    ...given('output_schema', 'outputSchema'),
    ...given('execution', 'execution'),
    ...given('annotations', 'annotations'),
    ...given('arguments', 'arguments'),
    ...given('uri', 'uri'),
    ...given('uri_template', 'uriTemplate'),
    ...given('mime_type', 'mimeType'),
    ...given('size', 'size'),
  };
}

/** The fields in which a definition is not the approved one; null where it is. */
function differences(approved: CapabilityDefinition, current: CapabilityDefinition) {
  const names = new Set([...Object.keys(approved), ...Object.keys(current)]);
  const changed = [...names].filter((name) => JSON.stringify(approved[name]) !== JSON.stringify(current[name]));
  if (changed.length === 0) return null;
  return Object.fromEntries(
    changed.map((name) => [name, { approved: approved[name] ?? null, current: current[name] ?? null }]),
  );
}

/** The rows that an update names, each by its name or, for resources and templates, its URI. */
export async function namedCapabilities(
  db: Db,
  integrationId: string,
  { capabilities }: CapabilitiesUpdate,
): Promise<{ row: Row; enabled: boolean }[]> {
  const types = capabilityTypes.filter((type) => capabilities.some((one) => one.type === type));
  const rows = await db
    .selectFrom('mcp_capabilities')
    .selectAll()
    .where('integration_id', '=', integrationId)
    .where('type', 'in', types)
    .execute();
  return capabilities.map(({ name, type, enabled }) => {
    const ofType = rows.filter((row) => row.type === type);
    const row = ofType.find(({ key }) => key === name) ?? ofType.find((one) => one.name === name);
    if (!row) throw notFound(`${type}: ${name}`);
    return { row, enabled };
  });
}
