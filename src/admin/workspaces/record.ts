/** A stored workspace as callers see it. */

import type { Caller } from '../../identity/caller.ts';
import { type OrganisationLayer, settingsInForce } from '../../identity/settings.ts';
import { shownUsageLimit } from '../../limits/entries.ts';
import { decode } from '../../store/json.ts';
import type { WorkspaceTable } from '../../store/schema.ts';
import { type NameFormat, shownName } from './name.ts';
import { maySeeSettings } from './rules.ts';
import type { WorkspaceRecord } from './schema.ts';

export const asRecord = (row: WorkspaceTable, format: NameFormat): WorkspaceRecord => ({
  id: row.id,
  object: 'workspace',
  slug: row.slug,
  name: shownName(row, format),
  icon: row.icon,
  description: row.description,
  organisation_id: row.organisation_id,
  is_default: row.is_default,
  status: row.status,
  defaults: decode(row.defaults),
  usage_limits: decode(row.usage_limits).map(shownUsageLimit),
  rate_limits: decode(row.rate_limits),
  last_reset_at: row.last_reset_at,
  created_by: row.created_by,
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
});

/** The record with the settings in force, for callers who may see them. */
export function asSingleRecord(
  caller: Caller,
  row: WorkspaceTable,
  organisation: OrganisationLayer,
  format: NameFormat = 'display',
) {
  const record = asRecord(row, format);
  if (!maySeeSettings(caller, row.id)) return record;
  const { security_settings, ...settings } = settingsInForce(organisation, decode(row.settings));
  return { ...record, settings, security_settings };
}
