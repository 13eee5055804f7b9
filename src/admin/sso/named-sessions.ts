/** Single logout: what a session knows of its identity provider, and the sessions that a provider ends here. */
import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { digestOf } from '../../identity/secrets.ts';
import { endSession } from '../../identity/sessions.ts';
import type { SsoIdentity } from '../../identity/sso/flows.ts';
import type { LogoutToken } from '../../identity/sso/logout-token.ts';
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
          sessionIndexes: z.array(z.string()).default([]),
          logoutUrl: z.string().nullable(),
        }),
      ])
      .nullable(),
  }),
);

/** The columns of a session that an identity provider has opened. */
export const logoutColumns = (vault: Vault, organisationId: string, { logout, oidc }: SsoIdentity) => ({
  ssoSealed: vault.seal(JSON.stringify({ logout }), purpose),
  ssoSubject: oidc
    ? oidcName(organisationId, oidc.issuer, 'sub', oidc.subject)
    : logout && 'nameId' in logout
      ? subjectOf(organisationId, logout.nameId)
      : null,
  ssoSession: oidc && oidc.sessionId !== null ? oidcName(organisationId, oidc.issuer, 'sid', oidc.sessionId) : null,
});

export const openLogout = (vault: Vault, sealed: string): SsoIdentity['logout'] =>
  sealedLogout().parse(readJson(vault.open(sealed, purpose))).logout;

const oidcName = (organisationId: string, issuer: string, claim: 'sub' | 'sid', value: string): string =>
  digestOf(JSON.stringify([organisationId, issuer, claim, value]));
const subjectOf = (organisationId: string, nameId: string): string => digestOf(`${organisationId} ${nameId}`);

/** Ends the sessions of a person that the provider names: those of its indexes, or all where it names none. Answers whose they were. */
export async function endNamedSessions(
  db: Db,
  vault: Vault,
  organisationId: string,
  { nameId, sessionIndexes }: { nameId: string; sessionIndexes: readonly string[] },
): Promise<string[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'user_id', 'sso_sealed'])
    .where('sso_subject', '=', subjectOf(organisationId, nameId))
    .execute();
  const named = new Set(sessionIndexes);
  const ended: string[] = [];
  for (const { id, user_id, sso_sealed } of rows) {
    const logout = sso_sealed === null ? null : openLogout(vault, sso_sealed);
    const own = logout && 'nameId' in logout ? logout.sessionIndexes : [];
    // Where one of the two names no index, sessions cannot be told apart.
    if (named.size > 0 && own.length > 0 && !own.some((index) => named.has(index))) continue;
    if (await endSession(db, id)) ended.push(user_id);
  }
  return ended;
}

/** Ends the sessions that a logout token names: that of its `sid`, else all of its `sub`. Answers whose they were. */
export async function endTokenSessions(
  db: Db,
  organisationId: string,
  { issuer, subject, sessionId }: Pick<LogoutToken, 'issuer' | 'subject' | 'sessionId'>,
): Promise<string[]> {
  const sub = subject === null ? null : oidcName(organisationId, issuer, 'sub', subject);
  const sid = sessionId === null ? null : oidcName(organisationId, issuer, 'sid', sessionId);
  let query = db.selectFrom('sessions').select(['id', 'user_id']).where('organisation_id', '=', organisationId);
  if (sub !== null) query = query.where('sso_subject', '=', sub);
  // A session whose `sid` was never told cannot be told apart from the others of its person.
  if (sid !== null) {
    query = query.where((eb) =>
      sub === null ? eb('sso_session', '=', sid) : eb.or([eb('sso_session', '=', sid), eb('sso_session', 'is', null)]),
    );
  }
  const ended: string[] = [];
  for (const { id, user_id } of await query.execute()) {
    if (await endSession(db, id)) ended.push(user_id);
  }
  return ended;
}
