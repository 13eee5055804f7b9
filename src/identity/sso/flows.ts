/** Sign-ins that were sent to an identity provider and wait for its answer, each under a handle that nobody can guess and that counts once. */
import type { Db, Store } from '../../store/database.ts';
import type { Vault } from '../../store/vault.ts';
import { digestOf, newToken } from '../secrets.ts';

/** What must be known when the answer comes. */
export type SsoFlow = {
  organisationId: string;
  /** Where the browser goes once it is signed in: a path of ours. */
  returnTo: string;
  /** The digest of what the browser that began this holds in a cookie. */
  browserDigest: string;
} & (
  | { kind: 'oidc'; issuer: string; clientId: string; redirectUri: string; verifier: string; nonce: string }
  | { kind: 'saml'; requestId: string; acsUrl: string }
  /** An assertion was accepted; the browser that began must fetch its session. */
  | { kind: 'saml-ticket'; identity: SsoIdentity }
);

/** Who came back, as the identity provider tells it. */
export interface SsoIdentity {
  email: string | null;
  /** Null where the provider does not say. */
  emailVerified: boolean | null;
  firstName: string;
  lastName: string;
  /** The claims or attributes by which roles are given. */
  claims: Record<string, unknown>;
  /** How an OpenID provider names the person and its session, when it ends sessions here; null for SAML, which names them in `logout`. */
  oidc: OidcSubject | null;
  /** What the provider wants to hear when the person leaves; null: nothing. */
  logout: OidcLogout | SamlLogout | null;
}

export interface OidcSubject {
  issuer: string;
  subject: string;
  /** Null where it tells no `sid`. */
  sessionId: string | null;
}

export interface OidcLogout {
  endSessionUrl: string;
  idToken: string;
  clientId: string;
}

/** The person as the SAML provider calls them, and where it hears that they leave. */
export interface SamlLogout {
  nameId: string;
  nameIdFormat: string;
  /** The sessions at the provider that opened this one; empty where it does not tell them apart. */
  sessionIndexes: string[];
  /** Null: the provider offers no single logout. */
  logoutUrl: string | null;
}

export interface UsedFlow {
  kind: 'used';
  organisationId: string;
}

export interface SsoFlows {
  begin(flow: SsoFlow, handle?: string): Promise<string>;
  /** Uses it up; null where it is unknown or expired. One that was used before still tells whose it was. */
  take(handle: string): Promise<SsoFlow | UsedFlow | null>;
}

const lifeMs = 600_000;
const purpose = 'sso-flow';
/** What is left of a sign-in that was used. */
const used = '';

export function createSsoFlows(store: Store, vault: Vault, now: () => Date): SsoFlows {
  return {
    async begin(flow, handle = newToken()) {
      await forgetExpired(store.db, now());
      await store.db
        .insertInto('sso_flows')
        .values({
          state_digest: digestOf(handle),
          organisation_id: flow.organisationId,
          payload_sealed: vault.seal(JSON.stringify(flow), purpose),
          expires_at: new Date(now().getTime() + lifeMs).toISOString(),
        })
        .execute();
      return handle;
    },
    take: (handle) =>
      store.atomically(async (tx): Promise<SsoFlow | UsedFlow | null> => {
        const row = await tx
          .selectFrom('sso_flows')
          .selectAll()
          .where('state_digest', '=', digestOf(handle))
          .where('expires_at', '>', now().toISOString())
          .executeTakeFirst();
        if (!row) return null;
        // Of two that come at once, one finds it used.
        const { numUpdatedRows } = await tx
          .updateTable('sso_flows')
          .set({ payload_sealed: used })
          .where('state_digest', '=', row.state_digest)
          .where('payload_sealed', '!=', used)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return { kind: 'used', organisationId: row.organisation_id };
        return JSON.parse(vault.open(row.payload_sealed, purpose));
      }),
  };
}

async function forgetExpired(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('sso_flows').where('expires_at', '<=', now.toISOString()).execute();
  await db.deleteFrom('sso_used_assertions').where('expires_at', '<=', now.toISOString()).execute();
}

/** Somebody came back who cannot be let in; the reason may be told to them and to the audit trail. */
export class SsoRefused extends Error {}
