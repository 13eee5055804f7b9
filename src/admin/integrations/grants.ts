/** Handing an integration of the organisation to its workspaces: who may use it, within which limits. */
import type { UsageLimitTemplate } from '../../catalog/saved.ts';
import {
  applyUsageLimit,
  type RateLimit,
  resetUsage,
  type StoredUsageLimit,
  type UsageLimitInput,
} from '../../limits/entries.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { IntegrationTable, IntegrationWorkspaceTable } from '../../store/tables/catalog.ts';
import { checkUsageLimit, usageLimitColumns } from '../kernel/usage-limits.ts';
import { insertProvider } from '../providers/insert.ts';
import { defaultProviderSlug } from './create.ts';

type Grant = IntegrationWorkspaceTable;

/** What is sent about one workspace; limits that are left out stay as they are, null takes them away. */
export interface GrantChange {
  workspaceId: string;
  enabled: boolean;
  usageLimits?: UsageLimitInput | null;
  rateLimits?: readonly RateLimit[];
  resetUsage?: boolean;
  /** Where it stands in the body, for refusals. */
  path: string;
}

export const grantsOf = async (db: Db, integrationId: string): Promise<Map<string, Grant>> => {
  const rows = await db
    .selectFrom('integration_workspaces')
    .selectAll()
    .where('integration_id', '=', integrationId)
    .execute();
  return new Map(rows.map((row) => [row.workspace_id, row]));
};

/** The grant with the change laid over it. */
export function changedGrant(integrationId: string, before: Grant | null, change: GrantChange, now: Date): Grant {
  const at = now.toISOString();
  const stored = before?.usage_limits ? decode(before.usage_limits) : null;
  const { usageLimits: sent, path } = change;
  const limit = sent === undefined ? stored : sent && checkUsageLimit(sent, stored, now, `${path}.usage_limits.0`);
  const reset = change.resetUsage === true && limit !== null;
  return {
    integration_id: integrationId,
    workspace_id: change.workspaceId,
    enabled: change.enabled ? 1 : 0,
    ...limitColumns(reset ? resetUsage(limit, now) : limit),
    rate_limits: change.rateLimits ? encode([...change.rateLimits]) : (before?.rate_limits ?? encode([])),
    last_reset_at: reset ? at : (before?.last_reset_at ?? null),
    created_at: before?.created_at ?? at,
    last_updated_at: at,
  };
}

/** The columns that the limit of a grant fills. */
const limitColumns = (limit: StoredUsageLimit | null) => ({
  ...usageLimitColumns(limit),
  status: limit?.status ?? ('active' as const),
});

export async function saveGrant(db: Db, before: Grant | null, grant: Grant): Promise<void> {
  if (!before) {
    await db.insertInto('integration_workspaces').values(grant).execute();
    return;
  }
  const { integration_id, workspace_id, ...columns } = grant;
  await db
    .updateTable('integration_workspaces')
    .set(columns)
    .where('integration_id', '=', integration_id)
    .where('workspace_id', '=', workspace_id)
    .execute();
}

/** A template for one workspace, now: a date that has passed since is replaced by the next one of the cadence. */
export const fromTemplate = (template: UsageLimitTemplate, now: Date): UsageLimitInput => {
  const { next_usage_reset_at: date, ...limit } = template;
  return { ...limit, next_usage_reset_at: date !== null && date > now.toISOString() ? date : null };
};

/** A usage limit as it is kept for workspaces to come. */
export function asTemplate(sent: UsageLimitInput, now: Date, path: string): UsageLimitTemplate {
  const { type, credit_limit, alert_threshold, periodic_reset, periodic_reset_days, next_usage_reset_at } =
    checkUsageLimit(sent, null, now, path);
  return {
    type,
    credit_limit,
    alert_threshold,
    periodic_reset,
    periodic_reset_days,
    next_usage_reset_at: sent.next_usage_reset_at ? next_usage_reset_at : null,
  };
}

/** The grant of a workspace that gets what the organisation has set for all new ones. */
export function templateGrant(
  integrationId: string,
  workspaceId: string,
  template: { usage_limits: readonly UsageLimitTemplate[]; rate_limits: readonly RateLimit[] },
  now: Date,
): Grant {
  const [limit] = template.usage_limits;
  const at = now.toISOString();
  return {
    integration_id: integrationId,
    workspace_id: workspaceId,
    enabled: 1,
    ...limitColumns(limit ? applyUsageLimit(fromTemplate(limit, now), null, now) : null),
    rate_limits: encode([...template.rate_limits]),
    last_reset_at: null,
    created_at: at,
    last_updated_at: at,
  };
}

interface DefaultProvider {
  /** Null: the integration's own slug, or one like it. */
  slug: string | null;
  createdBy: string | null;
  path?: string;
}

/** Gives the workspace a provider of the integration, unless it has one. */
export async function ensureDefaultProvider(
  db: Db,
  now: Date,
  integration: IntegrationTable,
  workspaceId: string,
  wanted: DefaultProvider,
): Promise<void> {
  const existing = await db
    .selectFrom('providers')
    .select('id')
    .where('integration_id', '=', integration.id)
    .where('workspace_id', '=', workspaceId)
    .where('status', '!=', 'archived')
    .executeTakeFirst();
  if (existing) return;
  await insertProvider(db, now, {
    organisationId: integration.organisation_id,
    workspaceId,
    integrationId: integration.id,
    slug: await defaultProviderSlug(db, workspaceId, wanted.slug, integration.slug, wanted.path),
    name: integration.name,
    createdBy: wanted.createdBy,
  });
}
