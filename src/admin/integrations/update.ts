/** Changing an integration: only the fields sent change, and the whole must still fit its provider. */

import { openConfigurations } from '../../catalog/saved.ts';
import { ApiError, invalid } from '../../http/errors.ts';
import { decode, encode } from '../../store/json.ts';
import type { IntegrationTable } from '../../store/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import type { Services } from '../kernel/services.ts';
import { catalogChange, integrationAccess, reachIntegration } from './access.ts';
import { canonicalProviderId, checkCredentials } from './credentials.ts';
import { sealConfigurations, sealKey } from './insert.ts';
import { withoutMasked } from './masking.ts';
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
  async handle({ caller, params, body, db, now, services, changed, note }) {
    const row = await reachIntegration(db, caller, params.integration, 'update');
    requireSomething(body, changeableFields);
    requireUnchanged(row, body);
    await db
      .updateTable('integrations')
      .set({ ...updatedColumns(row, body, services), last_updated_at: now.toISOString() })
      .where('id', '=', row.id)
      .execute();
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, fields: changeableFields.filter((field) => body[field] !== undefined) },
    });
    return {};
  },
});

export function requireSomething<B extends object>(body: B, fields: readonly (keyof B & string)[]): void {
  if (fields.some((field) => body[field] !== undefined)) return;
  throw new ApiError('AB01', `Send at least one field to change: ${fields.join(', ')}`);
}

function requireUnchanged(row: IntegrationTable, body: IntegrationUpdate): void {
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
export function updatedColumns(row: IntegrationTable, update: Changes, services: Services): Partial<IntegrationTable> {
  const columns: Partial<IntegrationTable> = {};
  if (update.name !== undefined) columns.name = update.name;
  if (update.description !== undefined) columns.description = update.description || null;
  if (update.tags !== undefined) columns.tags = update.tags && encode(update.tags);
  if (update.pricing_adjustments !== undefined) {
    columns.pricing_adjustments = update.pricing_adjustments && encode(update.pricing_adjustments);
  }
  return { ...columns, ...credentialColumns(row, update, services) };
}

function credentialColumns(
  row: IntegrationTable,
  { key, configurations, secret_mappings }: Changes,
  { vault, settings }: Services,
): Partial<IntegrationTable> {
  if (key === undefined && configurations === undefined && secret_mappings === undefined) return {};
  const mappings = secret_mappings === undefined ? decode(row.secret_mappings) : storedMappings(secret_mappings ?? []);
  const stored = openConfigurations(vault, row.configurations_sealed);
  const checked = checkCredentials(
    {
      aiProviderId: row.ai_provider_id,
      configurations: { ...stored, ...withoutMasked(configurations ?? {}) },
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
