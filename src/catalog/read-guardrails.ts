/** Reads the guardrails that requests of a workspace may pass, and what their checks authenticate with. */
import type { Db } from '../store/database.ts';
import type { GuardrailDirection } from '../store/schema.ts';
import type { PluginTable } from '../store/tables/guardrails.ts';

export interface GuardrailRow {
  id: string;
  slug: string;
  workspace_id: string | null;
  version_id: string;
  content_sealed: string;
}

export interface GuardrailRows {
  guardrails: readonly GuardrailRow[];
  plugins: readonly Pick<PluginTable, 'plugin' | 'credentials_sealed' | 'secret_mappings'>[];
  /** The directions in which the organisation's defaults leave this workspace alone. */
  excluded: readonly GuardrailDirection[];
}

export async function readGuardrails(db: Db, organisationId: string, workspaceId: string): Promise<GuardrailRows> {
  const [guardrails, plugins, exclusions] = await Promise.all([
    db
      .selectFrom('guardrails as guardrail')
      .innerJoin('guardrail_versions as version', 'version.id', 'guardrail.version_id')
      .select([
        'guardrail.id',
        'guardrail.slug',
        'guardrail.workspace_id',
        'guardrail.version_id',
        'version.content_sealed',
      ])
      .where('guardrail.organisation_id', '=', organisationId)
      .where('guardrail.status', '=', 'active')
      .where((eb) => eb.or([eb('guardrail.workspace_id', '=', workspaceId), eb('guardrail.workspace_id', 'is', null)]))
      .execute(),
    db
      .selectFrom('plugins')
      .select(['plugin', 'credentials_sealed', 'secret_mappings'])
      .where('organisation_id', '=', organisationId)
      .where('enabled', '=', 1)
      .execute(),
    db.selectFrom('guardrail_exclusions').select('direction').where('workspace_id', '=', workspaceId).execute(),
  ]);
  return { guardrails, plugins, excluded: exclusions.map(({ direction }) => direction) };
}
