/** Turns stored keys into the records that callers read. */

import type { ConfigIndex } from '../../catalog/references.ts';
import { shownUsageLimit } from '../../limits/entries.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { ApiKeyTable } from '../../store/schema.ts';
import type { KeyRecord } from './schema.ts';

export interface KeyReader {
  db: Db;
  now: Date;
  services: { configs: ConfigIndex };
}

interface Secrets {
  masked: string;
  transitionEnd: string | null;
}

/** The records of these keys, in this order; ids that name no key are left out. */
export async function keyRecords({ db, now, services }: KeyReader, ids: readonly string[]): Promise<KeyRecord[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('api_keys as key')
    .leftJoin('workspaces as workspace', 'workspace.id', 'key.workspace_id')
    .selectAll('key')
    .select('workspace.slug as workspace_slug')
    .where('key.id', 'in', ids)
    .execute();
  const secrets = await secretsOf(db, now, ids);
  const slugs = await configSlugs(db, services.configs, rows);
  const byId = new Map(
    rows.map((row) => {
      const configSlug = row.config_id === null ? null : (slugs.get(row.config_id) ?? null);
      return [row.id, recordOf(row, row.workspace_slug, secrets.get(row.id), configSlug)];
    }),
  );
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export async function keyRecordOf(reader: KeyReader, id: string): Promise<KeyRecord> {
  const [record] = await keyRecords(reader, [id]);
  if (!record) throw new Error(`API key ${id} vanished inside its own transaction`);
  return record;
}

/** The current secret of each key, masked, and the end of the one before it while that still counts. */
async function secretsOf(db: Db, now: Date, ids: readonly string[]): Promise<Map<string, Secrets>> {
  const rows = await db
    .selectFrom('api_key_secrets')
    .select(['api_key_id', 'masked', 'status', 'transition_expires_at'])
    .where('api_key_id', 'in', ids)
    .execute();
  const at = now.toISOString();
  const secrets = new Map<string, Secrets>();
  for (const row of rows) {
    const known = secrets.get(row.api_key_id) ?? { masked: '', transitionEnd: null };
    if (row.transition_expires_at === null) known.masked = row.masked;
    else if (row.status === 'ACTIVE' && row.transition_expires_at > at) known.transitionEnd = row.transition_expires_at;
    secrets.set(row.api_key_id, known);
  }
  return secrets;
}

async function configSlugs(
  db: Db,
  configs: ConfigIndex,
  rows: readonly Pick<ApiKeyTable, 'config_id' | 'workspace_id'>[],
): Promise<Map<string, string>> {
  const places = new Map(rows.map((row) => [row.config_id, row.workspace_id]));
  const slugs = new Map<string, string>();
  for (const [configId, workspaceId] of places) {
    if (configId === null || workspaceId === null) continue;
    const config = await configs.find(db, workspaceId, configId);
    if (config) slugs.set(configId, config.slug);
  }
  return slugs;
}

function recordOf(
  row: ApiKeyTable,
  workspaceSlug: string | null,
  secrets: Secrets | undefined,
  configSlug: string | null,
): KeyRecord {
  return {
    object: 'api-key',
    id: row.id,
    key: secrets?.masked ?? '',
    name: row.name,
    description: row.description,
    type: row.type,
    organisation_id: row.organisation_id,
    workspace_id: row.workspace_id,
    workspace_slug: workspaceSlug,
    user_id: row.user_id,
    status: row.status,
    creation_mode: row.creation_mode,
    scopes: decode(row.scopes),
    rate_limits: decode(row.rate_limits),
    usage_limits: row.usage_limits === null ? null : shownUsageLimit(decode(row.usage_limits)),
    reset_usage: 0,
    last_reset_at: row.last_reset_at,
    defaults: {
      metadata: decode(row.metadata),
      config_id: row.config_id,
      config_slug: configSlug,
      allow_config_override: row.allow_config_override !== 0,
    },
    allow_config_override: row.allow_config_override,
    alert_emails: decode(row.alert_emails),
    expires_at: row.expires_at,
    rotation_policy: row.rotation_policy === null ? null : { ...decode(row.rotation_policy), status: 'ACTIVE' },
    last_rotated_at: row.last_rotated_at,
    key_transition_expires_at: secrets?.transitionEnd ?? null,
    created_by: row.created_by,
    last_updated_by: row.last_updated_by,
    created_at: row.created_at,
    last_updated_at: row.last_updated_at,
  };
}
