/** Single logout: what a session must know of its identity provider, and a SAML provider that ends sessions here. */
import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { digestOf } from '../../identity/secrets.ts';
import { endSession } from '../../identity/sessions.ts';
import type { SsoIdentity } from '../../identity/sso/flows.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import type { Vault } from '../../store/vault.ts';

const purpose = 'sso-logout';

const sealedLogout = lazy(() =>
  z.object({
    logout: z
      .union([
        z.object({ endSessionUrl: z.string(), idToken: z.string(), clientId: z.string() }),
        z.object({
          nameId: z.string(),
          nameIdFormat: z.string(),
          sessionIndex: z.string().nullable(),
          logoutUrl: z.string().nullable(),
        }),
      ])
      .nullable(),
  }),
);

/** The columns of a session that an identity provider has opened. */
export const logoutColumns = (vault: Vault, organisationId: string, { logout }: SsoIdentity) => ({
  ssoSealed: vault.seal(JSON.stringify({ logout }), purpose),
  ssoSubject: logout && 'nameId' in logout ? subjectOf(organisationId, logout.nameId) : null,
});

export const openLogout = (vault: Vault, sealed: string): SsoIdentity['logout'] =>
  sealedLogout().parse(readJson(vault.open(sealed, purpose))).logout;

const subjectOf = (organisationId: string, nameId: string): string => digestOf(`${organisationId} ${nameId}`);

/** Ends the sessions of a person that the provider names: the one of an index, or all where it names none. Answers whose they were. */
export async function endNamedSessions(
  db: Db,
  vault: Vault,
  organisationId: string,
  { nameId, sessionIndex }: { nameId: string; sessionIndex: string | null },
): Promise<string[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'user_id', 'sso_sealed'])
    .where('sso_subject', '=', subjectOf(organisationId, nameId))
    .execute();
  const ended: string[] = [];
  for (const { id, user_id, sso_sealed } of rows) {
    const logout = sso_sealed === null ? null : openLogout(vault, sso_sealed);
    const own = logout && 'nameId' in logout ? logout.sessionIndex : null;
    // An index that one of the two does not know cannot tell sessions apart.
    if (sessionIndex !== null && own !== null && own !== sessionIndex) continue;
    if (await endSession(db, id)) ended.push(user_id);
  }
  return ended;
}
