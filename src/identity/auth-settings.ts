/** An organisation's rules for signing in, as they are stored. */
import type { Db } from '../store/database.ts';
import type { AuthSettingsTable } from '../store/tables/company-sign-in.ts';

const unset = (organisationId: string): AuthSettingsTable => ({
  organisation_id: organisationId,
  login_method: 'any',
  disable_auto_provision_user: 0,
  jwt: null,
  sso: null,
  sso_client_id: null,
  sso_secrets_sealed: null,
  sso_verified_at: null,
  sso_proven_at: null,
  last_updated_at: '',
});

export async function findAuthSettings(db: Db, organisationId: string): Promise<AuthSettingsTable> {
  const row = await db
    .selectFrom('auth_settings')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .executeTakeFirst();
  return row ?? unset(organisationId);
}

export async function saveAuthSettings(db: Db, now: Date, settings: AuthSettingsTable): Promise<void> {
  const { organisation_id, ...rest } = { ...settings, last_updated_at: now.toISOString() };
  await db
    .insertInto('auth_settings')
    .values({ organisation_id, ...rest })
    .onConflict((conflict) => conflict.column('organisation_id').doUpdateSet(rest))
    .execute();
}
