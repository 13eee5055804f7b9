/** Credentials of plugins in the store, sealed. */
import { readSources } from '../../catalog/read-secrets.ts';
import { pluginSealedFor } from '../../catalog/workspace-guardrails.ts';
import { type SecretUse, usesOf } from '../../secrets/mapping.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
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

/** Of every plugin that is switched on, with what of it lives in secret managers. */
export async function pluginCredentials(
  db: Db,
  vault: Vault,
  organisationId: string,
): Promise<Map<string, { credentials: PluginCredentials; secrets: readonly SecretUse[] | undefined }>> {
  const rows = await db
    .selectFrom('plugins')
    .select(['plugin', 'credentials_sealed', 'secret_mappings'])
    .where('organisation_id', '=', organisationId)
    .where('enabled', '=', 1)
    .execute();
  const mappings = rows.flatMap((row) => decode(row.secret_mappings));
  const sources = await readSources(db, vault, { organisationId, workspaceId: null }, mappings);
  return new Map(
    rows.map((row) => [
      row.plugin,
      {
        credentials: openCredentials(vault, row.credentials_sealed),
        secrets: usesOf(decode(row.secret_mappings), sources(null)),
      },
    ]),
  );
}
