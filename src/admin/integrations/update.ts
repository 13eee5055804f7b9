/** Changing an integration: only the fields sent change, and the whole must still fit its provider. */

import { openConfigurations } from '../../catalog/saved.ts';
import { invalid } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { IntegrationTable } from '../../store/tables/catalog.ts';
import { endpoint, type NamedWorkspace } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import type { Services } from '../kernel/services.ts';
import { sentFields } from '../kernel/validate.ts';
import { catalogChange, integrationAccess, reachIntegration } from './access.ts';
import { canonicalProviderId, checkCredentials } from './credentials.ts';
import { sealConfigurations, sealKey } from './insert.ts';
import { unmasked } from './masking.ts';
import {
  changeableFields,
  type IntegrationUpdate,
  integrationPath,
  integrationUpdate,
  workspaceQuery,
} from './schema.ts';
import { storedMappings } from './secret-mappings.ts';

export const updateIntegration = endpoint({
  method: 'PUT',
  path: '/integrations/:integration',
  tag: 'Integrations',
  summary: 'Change an integration; what is left out stays as it is',
  access: integrationAccess('update'),
  audit: { resource: 'integration', action: 'update' },
  params: integrationPath,
  query: workspaceQuery,
  body: integrationUpdate,
  reply: empty,
  async handle({ caller, params, body, workspace, db, now, services, changed, note }) {
    const row = await reachIntegration(db, caller, params.integration, 'update');
    const fields = sentFields(body, changeableFields());
    requireUnchanged(row, body, workspace);
    const columns = await updatedColumns(db, row, body, services);
    await db
      .updateTable('integrations')
      .set({ ...columns, last_updated_at: now.toISOString() })
      .where('id', '=', row.id)
      .execute();
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, fields },
    });
    return {};
  },
});

function requireUnchanged(row: IntegrationTable, body: IntegrationUpdate, named: NamedWorkspace | null): void {
  if (body.workspace_id && named?.id !== row.workspace_id) {
    throw invalid('workspace_id', 'never changes; make another integration');
  }
  if (body.slug && body.slug !== row.slug) throw invalid('slug', 'never changes; make another integration');
  if (body.ai_provider_id && canonicalProviderId(body.ai_provider_id) !== row.ai_provider_id) {
    throw invalid('ai_provider_id', 'never changes; make another integration');
  }
}

type Changes = Pick<
  IntegrationUpdate,
  'name' | 'key' | 'description' | 'configurations' | 'secret_mappings' | 'pricing_adjustments' | 'tags'
>;

/** The columns that change; also what a change of a virtual key makes of its integration. */
export async function updatedColumns(
  db: Db,
  row: IntegrationTable,
  update: Changes,
  services: Services,
): Promise<Partial<IntegrationTable>> {
  const columns: Partial<IntegrationTable> = {};
  if (update.name !== undefined) columns.name = update.name;
  if (update.description !== undefined) columns.description = update.description || null;
  if (update.tags !== undefined) columns.tags = update.tags && encode(update.tags);
  if (update.pricing_adjustments !== undefined) {
    columns.pricing_adjustments = update.pricing_adjustments && encode(update.pricing_adjustments);
  }
  return { ...columns, ...(await credentialColumns(db, row, update, services)) };
}

async function credentialColumns(
  db: Db,
  row: IntegrationTable,
  { key, configurations, secret_mappings }: Changes,
  { vault, settings }: Services,
): Promise<Partial<IntegrationTable>> {
  if (key === undefined && configurations === undefined && secret_mappings === undefined) return {};
  const owner = { organisationId: row.organisation_id, workspaceId: row.workspace_id };
  const mappings =
    secret_mappings === undefined
      ? decode(row.secret_mappings)
      : await storedMappings(db, owner, secret_mappings ?? []);
  const stored = openConfigurations(vault, row.configurations_sealed);
  const checked = checkCredentials(
    {
      aiProviderId: row.ai_provider_id,
      configurations: { ...stored, ...unmasked(configurations ?? {}, stored) },
      hasKey: key === undefined ? row.key_sealed !== null : key !== null,
      mappings,
    },
    settings.trustedHosts,
  );
  return {
    ...(key !== undefined && { key_sealed: sealKey(vault, key) }),
    ...(configurations !== undefined && { configurations_sealed: sealConfigurations(vault, checked) }),
    ...(secret_mappings !== undefined && { secret_mappings: encode(mappings) }),
  };
}
