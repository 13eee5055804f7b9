/** The SCIM settings of an organisation, and its token. They stand in the section `scim` of the auth settings. */
import { z } from 'zod';
import { forbidden, invalid, noSuchRoute } from '../../http/errors.ts';
import { digestOf } from '../../identity/secrets.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import type { ScimSettingsTable } from '../../store/tables/scim.ts';
import type { Services } from '../kernel/services.ts';

export interface ScimSettings {
  enabled: boolean;
  organisationManagementOnly: boolean;
  groupBasedUserProvisioning: boolean;
  patternPrefix: string;
  patternRoleSeparator: string;
  token: { id: string; masked: string; createdAt: string } | null;
}

const defaults: ScimSettings = {
  enabled: false,
  organisationManagementOnly: false,
  groupBasedUserProvisioning: false,
  patternPrefix: 'ws-',
  patternRoleSeparator: '-role-',
  token: null,
};

const patternPart = () => z.string().min(1).max(50);

export const scimUpdate = () =>
  z
    .strictObject({
      enabled: z.boolean(),
      organisation_management_only: z
        .boolean()
        .describe('Users of the organisation change only through SCIM; members of workspaces stay open'),
      group_based_user_provisioning: z
        .boolean()
        .describe('An archived user who is listed in a group becomes active again'),
      pattern: z.strictObject({ prefix: patternPart(), role_separator: patternPart() }).exactPartial(),
    })
    .exactPartial();
export type ScimUpdate = z.output<ReturnType<typeof scimUpdate>>;

export const scimReply = lazy(() =>
  z.object({
    enabled: z.boolean(),
    organisation_management_only: z.boolean(),
    group_based_user_provisioning: z.boolean(),
    pattern: z.object({ prefix: z.string(), role_separator: z.string() }),
    base_url: z.string().describe('What the identity provider is given as the address'),
    token: z.string().nullable().describe('Masked; null: none was made'),
    token_created_at: z.string().nullable(),
  }),
);

export const asScimReply = (settings: ScimSettings, origin: string, organisationId: string) => ({
  enabled: settings.enabled,
  organisation_management_only: settings.organisationManagementOnly,
  group_based_user_provisioning: settings.groupBasedUserProvisioning,
  pattern: { prefix: settings.patternPrefix, role_separator: settings.patternRoleSeparator },
  base_url: `${origin}/v2/scim/${organisationId}`,
  token: settings.token?.masked ?? null,
  token_created_at: settings.token?.createdAt ?? null,
});

export async function scimSettingsOf(db: Db, organisationId: string): Promise<ScimSettings> {
  const row = await db
    .selectFrom('scim_settings')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .executeTakeFirst();
  return row ? settingsIn(row) : defaults;
}

const settingsIn = (row: ScimSettingsTable): ScimSettings => ({
  enabled: row.enabled === 1,
  organisationManagementOnly: row.organisation_management_only === 1,
  groupBasedUserProvisioning: row.group_based_user_provisioning === 1,
  patternPrefix: row.pattern_prefix,
  patternRoleSeparator: row.pattern_role_separator,
  token:
    row.token_id !== null && row.token_masked !== null && row.token_created_at !== null
      ? { id: row.token_id, masked: row.token_masked, createdAt: row.token_created_at }
      : null,
});

/** What an audit row tells of them. */
export const scimDetails = ({ token: _, ...settings }: ScimSettings) => settings;

/** The organisation that a token belongs to, with its settings. */
export async function organisationOfToken(db: Db, token: string) {
  const row = await db
    .selectFrom('scim_settings as scim')
    .innerJoin('organisations as organisation', 'organisation.id', 'scim.organisation_id')
    .selectAll('scim')
    .where('scim.token_digest', '=', digestOf(token))
    .where('organisation.status', '=', 'active')
    .executeTakeFirst();
  return row ? { organisationId: row.organisation_id, settings: settingsIn(row) } : null;
}

export async function updateScimSettings(
  db: Db,
  now: Date,
  organisationId: string,
  update: ScimUpdate,
): Promise<{ before: ScimSettings; after: ScimSettings }> {
  const before = await scimSettingsOf(db, organisationId);
  const after: ScimSettings = {
    ...before,
    enabled: update.enabled ?? before.enabled,
    organisationManagementOnly: update.organisation_management_only ?? before.organisationManagementOnly,
    groupBasedUserProvisioning: update.group_based_user_provisioning ?? before.groupBasedUserProvisioning,
    patternPrefix: update.pattern?.prefix ?? before.patternPrefix,
    patternRoleSeparator: update.pattern?.role_separator ?? before.patternRoleSeparator,
  };
  if (after.organisationManagementOnly && !after.enabled) {
    throw invalid('scim.organisation_management_only', 'needs scim.enabled, or nobody could change users any more');
  }
  if (Object.keys(update).length > 0) await storeSettings(db, now, organisationId, after);
  return { before, after };
}

/** The columns of the token are left alone unless `token` is given. */
export async function storeSettings(
  db: Db,
  now: Date,
  organisationId: string,
  settings: ScimSettings,
  token?: Pick<ScimSettingsTable, 'token_id' | 'token_digest' | 'token_masked' | 'token_created_at'>,
): Promise<void> {
  const columns = {
    enabled: settings.enabled ? (1 as const) : (0 as const),
    organisation_management_only: settings.organisationManagementOnly ? (1 as const) : (0 as const),
    group_based_user_provisioning: settings.groupBasedUserProvisioning ? (1 as const) : (0 as const),
    pattern_prefix: settings.patternPrefix,
    pattern_role_separator: settings.patternRoleSeparator,
    last_updated_at: now.toISOString(),
    ...token,
  };
  const noToken = { token_id: null, token_digest: null, token_masked: null, token_created_at: null };
  await db
    .insertInto('scim_settings')
    .values({ organisation_id: organisationId, ...noToken, ...columns })
    .onConflict((conflict) => conflict.column('organisation_id').doUpdateSet(columns))
    .execute();
}

/** For calls that add, change or remove users by another way than SCIM. */
export async function requireOpenUserManagement(db: Db, organisationId: string): Promise<void> {
  const settings = await scimSettingsOf(db, organisationId);
  if (settings.enabled && settings.organisationManagementOnly) {
    throw forbidden(
      'Users of this organisation are managed by its identity provider (scim.organisation_management_only)',
    );
  }
}

/** SCIM as a whole can be switched off by the operator. */
export function requireScim({ settings }: Services): void {
  if (!settings.scim.enabled) throw noSuchRoute('SCIM is switched off (SCIM_ENABLED=OFF)');
}
