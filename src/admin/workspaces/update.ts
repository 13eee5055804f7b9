/** What an update changes in a stored workspace. */
import { resetUsage } from '../../limits/entries.ts';
import { decode, encode } from '../../store/json.ts';
import type { WorkspaceTable } from '../../store/schema.ts';
import type { Call } from '../kernel/endpoint.ts';
import { appliedUsageLimits } from './budget.ts';
import { resolveDefaults } from './defaults.ts';
import { storedName } from './name.ts';
import type { OrganisationContext } from './row.ts';
import type { WorkspaceUpdate } from './schema.ts';
import { updatedSettings } from './settings.ts';

type Columns = Partial<WorkspaceTable>;
type Update = Pick<Call<unknown, unknown, WorkspaceUpdate>, 'db' | 'services' | 'now' | 'body'>;

/** The columns that change; what the body leaves out stays as it is. */
export async function updatedColumns(
  { db, services, now, body: update }: Update,
  row: WorkspaceTable,
  organisation: OrganisationContext,
): Promise<Columns> {
  const columns: Columns = {
    ...storedName(update.name, update.icon),
    ...budgetColumns(row, update, now),
    last_updated_at: now.toISOString(),
  };
  if (update.description !== undefined) columns.description = update.description || null;
  if (update.defaults) {
    const place = { organisationId: row.organisation_id, workspaceId: row.id, properties: organisation.properties };
    const changes = await resolveDefaults(db, services, place, update.defaults);
    columns.defaults = encode({ ...decode(row.defaults), ...changes });
  }
  if (update.settings || update.security_settings) {
    const { settings, security_settings } = update;
    const sent = { ...settings, ...(security_settings && { security_settings }) };
    columns.settings = encode(updatedSettings(organisation, decode(row.settings), sent, 'settings.'));
  }
  return columns;
}

function budgetColumns(row: WorkspaceTable, update: WorkspaceUpdate, now: Date): Columns {
  const columns: Columns = {};
  if (update.rate_limits !== undefined) columns.rate_limits = encode(update.rate_limits ?? []);
  const stored = decode(row.usage_limits);
  const limits =
    update.usage_limits === undefined ? stored : appliedUsageLimits(update.usage_limits ?? [], stored, now);
  if (update.usage_limits !== undefined) columns.usage_limits = encode(limits);
  if (update.reset_usage && limits.length > 0) {
    columns.usage_limits = encode(limits.map((limit) => resetUsage(limit, now)));
    columns.last_reset_at = now.toISOString();
  }
  return columns;
}
