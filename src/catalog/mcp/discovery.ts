/** Keeps what an upstream said of itself: its identity, and the rows of what it offers. */
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import { digestOf } from '../digest.ts';
import { type CapabilityDefinition, type CapabilityType, capabilityKey, type McpMetadata } from './types.ts';

/** What was heard; a list that was not asked for is left out. */
export interface Discovery {
  metadata?: McpMetadata;
  lists: Partial<Record<CapabilityType, readonly CapabilityDefinition[]>>;
}

/** More than any client could use; what comes behind them is not kept. */
const mostKept = 5_000;
const longestKey = 2_048;

/** True when something is not as it was. A capability that is no longer listed is marked as missing and keeps its switches. */
export async function saveDiscovery(
  db: Db,
  now: Date,
  integration: { id: string; pinTools: boolean; newOnesEnabled: boolean },
  { metadata, lists }: Discovery,
): Promise<boolean> {
  const at = now.toISOString();
  let changed = false;
  if (metadata) {
    await db
      .updateTable('mcp_integrations')
      .set({ metadata: encode(metadata) })
      .where('id', '=', integration.id)
      .execute();
  }
  for (const [type, definitions] of Object.entries(lists) as [CapabilityType, readonly CapabilityDefinition[]][]) {
    const listed = keyed(type, definitions);
    const stored = await db
      .selectFrom('mcp_capabilities')
      .select(['key', 'digest', 'missing_since', 'pinned_digest'])
      .where('integration_id', '=', integration.id)
      .where('type', '=', type)
      .execute();
    const known = new Map(stored.map((row) => [row.key, row]));
    for (const [key, definition] of listed) {
      const digest = digestOf(definition);
      const row = known.get(key);
      const pins = integration.pinTools && type === 'tool' && !row?.pinned_digest;
      if (row?.digest === digest && row.missing_since === null && !pins) continue;
      changed = true;
      const columns = {
        name: nameOf(definition, key),
        definition: encode(definition),
        digest,
        missing_since: null,
        last_updated_at: at,
        // What is seen first is approved by the one who switched pinning on.
        ...(pins && { pinned: encode(definition), pinned_digest: digest }),
      };
      await db
        .insertInto('mcp_capabilities')
        .values({
          integration_id: integration.id,
          type,
          key,
          enabled: integration.newOnesEnabled ? 1 : 0,
          pinned: null,
          pinned_digest: null,
          created_at: at,
          ...columns,
        })
        .onConflict((conflict) => conflict.columns(['integration_id', 'type', 'key']).doUpdateSet(columns))
        .execute();
    }
    const gone = stored.filter(({ key, missing_since }) => missing_since === null && !listed.has(key));
    for (const { key } of gone) {
      changed = true;
      await db
        .updateTable('mcp_capabilities')
        .set({ missing_since: at })
        .where('integration_id', '=', integration.id)
        .where('type', '=', type)
        .where('key', '=', key)
        .execute();
    }
  }
  await db
    .updateTable('mcp_integrations')
    .set({ sync_status: 'synced', last_synced_at: at, sync_error: null })
    .where('id', '=', integration.id)
    .execute();
  return changed;
}

function keyed(type: CapabilityType, definitions: readonly CapabilityDefinition[]): Map<string, CapabilityDefinition> {
  const listed = new Map<string, CapabilityDefinition>();
  for (const definition of definitions.slice(0, mostKept)) {
    const key = capabilityKey(type, definition);
    if (key !== null && key.length <= longestKey && !key.includes('\0')) listed.set(key, definition);
  }
  return listed;
}

const nameOf = ({ name }: CapabilityDefinition, key: string): string =>
  (typeof name === 'string' ? name : key).slice(0, longestKey).replaceAll('\0', '');

export async function noteSyncFailure(db: Db, integrationId: string, error: string): Promise<void> {
  await db
    .updateTable('mcp_integrations')
    .set({ sync_status: 'failed', sync_error: error.slice(0, 1_024) })
    .where('id', '=', integrationId)
    .execute();
}
