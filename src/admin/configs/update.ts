/** Changing a config: a new config makes a new version, everything else belongs to the config itself. */
import { invalid } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import type { ConfigTable } from '../../store/tables/catalog.ts';
import { endpoint } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { configAccess, reachConfig } from './access.ts';
import { type CheckedConfig, checkConfig } from './body.ts';
import { requireGuardrails } from './guardrails.ts';
import { configPath, configUpdate, updatedConfig } from './schema.ts';
import { catalogChange, clearDefault, currentConfig, insertVersion, requireUnused } from './store.ts';

export const updateConfig = endpoint({
  method: 'PUT',
  path: '/configs/:config',
  tag: 'Configs',
  summary: 'Change a config; a changed config becomes a new version',
  access: configAccess('update'),
  audit: { resource: 'config', action: 'update' },
  params: configPath,
  body: configUpdate,
  reply: updatedConfig,
  async handle(call) {
    const { body, db, now, services, caller } = call;
    const row = await reachConfig(call, call.params.config, 'update', body.status === 'active');
    await requireStatusFits(db, row, body.status);
    const checked = body.config === undefined ? null : await changedConfig(db, services, row, body.config);
    const isDefault = body.isDefault ?? body.is_default;
    const status = body.status ?? row.status;
    if (isDefault && status === 'archived') throw invalid('isDefault', 'an archived config cannot be the default');
    if (isDefault) await clearDefault(db, row.workspace_id);

    const versionId = checked?.isNew ? Bun.randomUUIDv7() : row.version_id;
    if (checked?.isNew) {
      const version = { id: versionId, configId: row.id, config: checked.config, createdBy: caller.userId };
      await insertVersion(db, services.vault, now, version);
    }
    await db
      .updateTable('configs')
      .set({
        name: body.name ?? row.name,
        status,
        is_default: status === 'archived' ? 0 : isDefault === undefined ? row.is_default : isDefault ? 1 : 0,
        version_id: versionId,
        updated_by: caller.userId,
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', row.id)
      .execute();
    call.changed(catalogChange(row.workspace_id));
    call.note({
      resourceId: row.id,
      workspaceId: row.workspace_id,
      details: { slug: row.slug, version_id: versionId, ...(status !== row.status && { status }) },
    });
    return {
      success: true as const,
      object: 'config' as const,
      version_id: versionId,
      data: { version_id: versionId },
      ...(checked && checked.warnings.length > 0 && { warnings: [...checked.warnings] }),
    };
  },
});

async function requireStatusFits(db: Db, row: ConfigTable, status: ConfigTable['status'] | undefined): Promise<void> {
  if (status === undefined || status === row.status) return;
  if (status === 'archived') return requireUnused(db, row);
  const workspace = await db
    .selectFrom('workspaces')
    .select('status')
    .where('id', '=', row.workspace_id)
    .executeTakeFirstOrThrow();
  if (workspace.status === 'archived') throw invalid('status', 'the workspace of this config is archived');
}

/** What was sent is no new version when it says what the current one does. */
async function changedConfig(
  db: Db,
  services: Services,
  row: ConfigTable,
  sent: Parameters<typeof checkConfig>[0],
): Promise<CheckedConfig & { isNew: boolean }> {
  const saved = await currentConfig(db, services.vault, row);
  const checked = checkConfig(sent, saved, services.settings.trustedHosts);
  const place = { organisationId: row.organisation_id, workspaceId: row.workspace_id };
  await requireGuardrails(db, services, place, checked.config);
  return { ...checked, isNew: !Bun.deepEquals(checked.config, saved) };
}
