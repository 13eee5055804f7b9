/** Makes a workspace; used by the route, by new organisations and by whatever provisions workspaces. */
import { isSecuritySection, overrideSections, ownValuesOf, type WorkspaceSettings } from '../../identity/settings.ts';
import type { RateLimit, StoredUsageLimit } from '../../limits/entries.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { WorkspaceDefaults } from '../../store/schema.ts';
import { insertDefaultCollection } from '../collections/default.ts';
import { slugOf } from '../kernel/slug.ts';

interface NewWorkspace {
  /** Chosen beforehand by callers who look things up in the workspace-to-be. */
  id?: string;
  organisationId: string;
  name: string;
  icon?: string | null;
  description?: string | null;
  slug?: string;
  isDefault?: boolean;
  defaults?: Partial<WorkspaceDefaults>;
  usageLimits?: readonly StoredUsageLimit[];
  rateLimits?: readonly RateLimit[];
  createdBy: string | null;
}

const emptyDefaults: WorkspaceDefaults = {
  metadata: {},
  input_guardrails: [],
  output_guardrails: [],
  user_api_key_config: null,
};

export async function insertWorkspace(db: Db, now: Date, workspace: NewWorkspace): Promise<string> {
  const id = workspace.id ?? Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto('workspaces')
    .values({
      id,
      organisation_id: workspace.organisationId,
      slug: workspace.slug ?? slugOf('ws', workspace.name),
      name: workspace.name,
      icon: workspace.icon ?? null,
      description: workspace.description ?? null,
      is_default: workspace.isDefault ? 1 : 0,
      status: 'active',
      defaults: encode({ ...emptyDefaults, ...workspace.defaults }),
      usage_limits: encode([...(workspace.usageLimits ?? [])]),
      rate_limits: encode([...(workspace.rateLimits ?? [])]),
      settings: encode(await inheritedSettings(db, workspace.organisationId)),
      last_reset_at: null,
      created_by: workspace.createdBy,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  await insertDefaultCollection(db, now, { organisationId: workspace.organisationId, workspaceId: id });
  return id;
}

/** A new workspace starts with the organisation's values in the sections that workspaces hold for themselves. */
async function inheritedSettings(db: Db, organisationId: string): Promise<WorkspaceSettings> {
  const organisation = await db
    .selectFrom('organisations')
    .select(['settings', 'workspace_overrides'])
    .where('id', '=', organisationId)
    .executeTakeFirstOrThrow();
  const overrides = decode(organisation.workspace_overrides);
  const settings = decode(organisation.settings);
  return Object.assign(
    {},
    ...overrideSections
      .filter((section) => overrides[section] && !isSecuritySection(section))
      .map((section) => ownValuesOf(section, settings)),
  );
}
