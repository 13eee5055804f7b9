/** Which way a person signs in: what the domain of the address, the organisation or the client that is named leads to. */
import { findAuthSettings } from '../../identity/auth-settings.ts';
import type { Db } from '../../store/database.ts';
import type { AuthSettingsTable } from '../../store/tables/company-sign-in.ts';
import { organisationOfAddress } from '../email-domains/match.ts';

/**
 * Passwords are refused only once somebody has signed in with the present set-up, so that a wrong one locks nobody out.
 * Owners may always use theirs.
 */
export const enforcesSso = (row: Pick<AuthSettingsTable, 'login_method' | 'sso' | 'sso_verified_at'>): boolean =>
  row.login_method === 'sso_only' && row.sso !== null && row.sso_verified_at !== null;

interface Named {
  email: string | null;
  organisation: string | null;
  clientId: string | null;
}

/** The set-up that the sign-in leads to; null where there is none. It does not tell whether the address is known. */
export async function findWay(db: Db, named: Named): Promise<AuthSettingsTable | null> {
  const organisationId = await organisationNamed(db, named);
  if (organisationId === null) return null;
  const row = await findAuthSettings(db, organisationId);
  return row.sso === null ? null : row;
}

async function organisationNamed(db: Db, { email, organisation, clientId }: Named): Promise<string | null> {
  if (organisation !== null) {
    const row = await db
      .selectFrom('organisations')
      .select('id')
      .where('status', '=', 'active')
      .where((eb) => eb.or([eb('id', '=', organisation), eb('slug', '=', organisation)]))
      .executeTakeFirst();
    return row?.id ?? null;
  }
  const owner = email === null ? null : await organisationOfAddress(db, email);
  if (clientId === null) return owner;
  const rows = await db
    .selectFrom('auth_settings')
    .select('organisation_id')
    .where('sso_client_id', '=', clientId)
    .limit(2)
    .execute();
  // Two identity providers may have given the same id; then the address decides.
  return rows.length === 1 ? (rows[0]?.organisation_id ?? null) : owner;
}
