/** Credentials of plugins in the store, sealed. */
import { pluginSealedFor } from '../../catalog/workspace-guardrails.ts';
import type { Db } from '../../store/database.ts';
import type { PluginTable } from '../../store/tables/guardrails.ts';
import type { Vault } from '../../store/vault.ts';

export type PluginCredentials = Record<string, unknown>;

export const openCredentials = (vault: Vault, sealed: string): PluginCredentials =>
  JSON.parse(vault.open(sealed, pluginSealedFor));
export const sealCredentials = (vault: Vault, credentials: PluginCredentials): string =>
  vault.seal(JSON.stringify(credentials), pluginSealedFor);

export const findPlugin = (db: Db, organisationId: string, plugin: string): Promise<PluginTable | undefined> =>
  db
    .selectFrom('plugins')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('plugin', '=', plugin)
    .executeTakeFirst();

/** Of every plugin that is switched on. */
export async function pluginCredentials(
  db: Db,
  vault: Vault,
  organisationId: string,
): Promise<Map<string, PluginCredentials>> {
  const rows = await db
    .selectFrom('plugins')
    .select(['plugin', 'credentials_sealed'])
    .where('organisation_id', '=', organisationId)
    .where('enabled', '=', 1)
    .execute();
  return new Map(rows.map((row) => [row.plugin, openCredentials(vault, row.credentials_sealed)]));
}
