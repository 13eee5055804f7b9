/** Configs and their versions in the store. The config itself is kept sealed: it may hold credentials. */
import { sealJson } from '../../catalog/saved.ts';
import { conflict } from '../../http/errors.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { ConfigTable } from '../../store/tables/catalog.ts';
import type { Vault } from '../../store/vault.ts';
import { slugOf } from '../kernel/slug.ts';
import type { StoredConfig } from './body.ts';

const slugLength = 6;

export const openConfig = (vault: Vault, sealed: string): StoredConfig => JSON.parse(vault.open(sealed, 'config'));

export async function currentConfig(db: Db, vault: Vault, row: Pick<ConfigTable, 'version_id'>): Promise<StoredConfig> {
  const { config_sealed } = await db
    .selectFrom('config_versions')
    .select('config_sealed')
    .where('id', '=', row.version_id)
    .executeTakeFirstOrThrow();
  return openConfig(vault, config_sealed);
}

interface NewConfig {
  organisationId: string;
  workspaceId: string;
  name: string;
  config: StoredConfig;
  isDefault: boolean;
  /** The person who makes it; null for a service key. */
  ownerId: string | null;
}

export async function insertConfig(db: Db, vault: Vault, now: Date, made: NewConfig) {
  const at = now.toISOString();
  const id = Bun.randomUUIDv7();
  const versionId = Bun.randomUUIDv7();
  const slug = await freeSlug(db, made.organisationId, made.name);
  if (made.isDefault) await clearDefault(db, made.workspaceId);
  await db
    .insertInto('configs')
    .values({
      id,
      organisation_id: made.organisationId,
      workspace_id: made.workspaceId,
      slug,
      name: made.name,
      is_default: made.isDefault ? 1 : 0,
      status: 'active',
      owner_id: made.ownerId,
      updated_by: made.ownerId,
      version_id: versionId,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  await insertVersion(db, vault, now, { id: versionId, configId: id, config: made.config, createdBy: made.ownerId });
  return { id, slug, versionId };
}

interface NewVersion {
  id: string;
  configId: string;
  config: StoredConfig;
  createdBy: string | null;
}

export async function insertVersion(db: Db, vault: Vault, now: Date, version: NewVersion): Promise<void> {
  await db
    .insertInto('config_versions')
    .values({
      id: version.id,
      config_id: version.configId,
      config_sealed: sealJson(vault, version.config, 'config'),
      created_at: now.toISOString(),
      created_by: version.createdBy,
    })
    .execute();
}

/** Free in the whole organisation, so that a call which names no workspace finds one config and not several. */
async function freeSlug(db: Db, organisationId: string, name: string): Promise<string> {
  for (;;) {
    const slug = slugOf('pc', name, slugLength);
    const taken = await db
      .selectFrom('configs')
      .select('id')
      .where('organisation_id', '=', organisationId)
      .where('slug', '=', slug)
      .executeTakeFirst();
    if (!taken) return slug;
  }
}

/** A workspace has one default at most. */
export async function clearDefault(db: Db, workspaceId: string): Promise<void> {
  await db
    .updateTable('configs')
    .set({ is_default: 0 })
    .where('workspace_id', '=', workspaceId)
    .where('is_default', '=', 1)
    .execute();
}

/** A config that new user keys of the workspace start with cannot go: they would start with none. */
export async function requireUnused(db: Db, row: ConfigTable): Promise<void> {
  const workspace = await db
    .selectFrom('workspaces')
    .select('defaults')
    .where('id', '=', row.workspace_id)
    .executeTakeFirstOrThrow();
  const named = decode(workspace.defaults).user_api_key_config;
  if (named === row.slug || named === row.id) {
    throw conflict(
      'This config is the one that user keys of its workspace start with; change defaults.user_api_key_config of the workspace first',
    );
  }
}

export async function archiveConfigs(db: Db, now: Date, which: { id: string } | { workspaceId: string }) {
  const [column, value] = 'id' in which ? (['id', which.id] as const) : (['workspace_id', which.workspaceId] as const);
  await db
    .updateTable('configs')
    .set({ status: 'archived', is_default: 0, last_updated_at: now.toISOString() })
    .where(column, '=', value)
    .where('status', '=', 'active')
    .execute();
}

export const catalogChange = (workspaceId: string): Change => ({ topic: 'catalog', id: workspaceId });
