/**
 * OpenID Connect: where a sign-in is sent, and who came back. The library checks state, nonce, PKCE, issuer, audience and
 * signature; it is loaded when somebody first signs in this way.
 */
import type { ClientAuth, CustomFetch } from 'openid-client';
import { type SsoIdentity, SsoRefused } from './flows.ts';
import { type LogoutToken, readLogoutToken } from './logout-token.ts';
import { createProviderKeys } from './provider-keys.ts';
import type { OidcSettings, SsoSecrets } from './settings.ts';

const library = () => import('openid-client');
type Library = Awaited<ReturnType<typeof library>>;

export type WebFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Documents are fetched anew for each sign-in: few people sign in, and keys may have been rotated. */
export interface Oidc {
  /** Fails with a reason where the issuer does not answer, or is not the one that it is called. */
  check(settings: OidcSettings, secrets: SsoSecrets, tenant: string): Promise<void>;
  authorization(
    settings: OidcSettings,
    secrets: SsoSecrets,
    request: { state: string; redirectUri: string; email: string | null; tenant: string },
  ): Promise<{ url: string; verifier: string; nonce: string }>;
  identity(
    settings: OidcSettings,
    secrets: SsoSecrets,
    answer: { url: URL; state: string; verifier: string; nonce: string; tenant: string; roleClaim: string | null },
  ): Promise<SsoIdentity>;
  /** Whose sessions the provider has ended, as its signed token says. */
  loggedOut(settings: OidcSettings, secrets: SsoSecrets, token: string, tenant: string): Promise<LogoutToken>;
}

const timeoutSeconds = 15;

export function createOidc(
  fetchFor: (tenant: string) => WebFetch,
  trustsPlainHttp: (url: string) => boolean,
  now: () => Date,
): Oidc {
  const providerKeys = createProviderKeys(fetchFor, trustsPlainHttp, () => now().getTime());
  const configuration = async (settings: OidcSettings, secrets: SsoSecrets, tenant: string) => {
    const issuer = new URL(settings.issuer_url);
    const client = await library();
    try {
      return await client.discovery(issuer, settings.client_id, {}, await authentication(client, settings, secrets), {
        [client.customFetch]: fetchFor(tenant) as CustomFetch,
        timeout: timeoutSeconds,
        execute: trustsPlainHttp(settings.issuer_url) ? [client.allowInsecureRequests] : [],
      });
    } catch (fault) {
      throw new SsoRefused(`the issuer's discovery document cannot be used: ${reasonOf(client, fault)}`);
    }
  };

  return {
    async check(settings, secrets, tenant) {
      const server = (await configuration(settings, secrets, tenant)).serverMetadata();
      for (const endpoint of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
        if (!server[endpoint]) throw new SsoRefused(`the issuer's discovery document has no ${endpoint}`);
      }
    },
    async authorization(settings, secrets, { state, redirectUri, email, tenant }) {
      const client = await library();
      const config = await configuration(settings, secrets, tenant);
      const verifier = client.randomPKCECodeVerifier();
      const nonce = client.randomNonce();
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopesFor(settings, config.serverMetadata().scopes_supported),
        response_type: 'code',
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(email !== null && { login_hint: email }),
      });
      return { url: url.href, verifier, nonce };
    },
    async identity(settings, secrets, { url, state, verifier, nonce, tenant, roleClaim }) {
      const client = await library();
      const config = await configuration(settings, secrets, tenant);
      try {
        const tokens = await client.authorizationCodeGrant(config, url, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        const told: Record<string, unknown> = { ...tokens.claims() };
        const isShort = told.email === undefined || (roleClaim !== null && told[roleClaim] === undefined);
        const claims =
          isShort && config.serverMetadata().userinfo_endpoint
            ? { ...(await client.fetchUserInfo(config, tokens.access_token, String(told.sub))), ...told }
            : told;
        const endSessionUrl = config.serverMetadata().end_session_endpoint;
        return {
          ...identityIn(claims),
          oidc: {
            issuer: config.serverMetadata().issuer,
            subject: String(told.sub),
            sessionId: typeof told.sid === 'string' ? told.sid : null,
          },
          logout:
            endSessionUrl && tokens.id_token
              ? { endSessionUrl, idToken: tokens.id_token, clientId: settings.client_id }
              : null,
        };
      } catch (fault) {
        throw new SsoRefused(reasonOf(client, fault));
      }
    },
    async loggedOut(settings, secrets, token, tenant) {
      const { issuer, keys } = await providerKeys.of(settings.issuer_url, tenant, async () =>
        (await configuration(settings, secrets, tenant)).serverMetadata(),
      );
      return readLogoutToken(token, { issuer, clientId: settings.client_id, keys, now: now() });
    },
  };
}

/** Google answers `offline_access` with an error; a provider that lists its scopes without it is not asked for it. */
const scopesFor = ({ scopes }: OidcSettings, supported: readonly string[] | undefined): string =>
  scopes.filter((scope) => scope !== 'offline_access' || (supported?.includes(scope) ?? true)).join(' ');

async function authentication(client: Library, settings: OidcSettings, secrets: SsoSecrets): Promise<ClientAuth> {
  if (settings.token_endpoint_auth_method === 'private_key_jwt') {
    const [jwk] = secrets.jwks?.keys ?? [];
    if (!jwk) throw new SsoRefused('private_key_jwt needs the private keys in jwks');
    const alg = typeof jwk.alg === 'string' ? jwk.alg : 'RS256';
    const { importJWK } = await import('jose');
    const key = await importJWK(jwk as Parameters<typeof importJWK>[0], alg);
    if (!(key instanceof CryptoKey)) throw new SsoRefused('the first key of jwks is no private key');
    return client.PrivateKeyJwt(typeof jwk.kid === 'string' ? { key, kid: jwk.kid } : key);
  }
  if (secrets.client_secret === null) return client.None();
  return settings.token_endpoint_auth_method === 'client_secret_post'
    ? client.ClientSecretPost(secrets.client_secret)
    : client.ClientSecretBasic(secrets.client_secret);
}

const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, 254) : null;

function identityIn(claims: Record<string, unknown>): Omit<SsoIdentity, 'logout' | 'oidc'> {
  const [first = '', ...rest] = (text(claims.name) ?? '').split(' ');
  return {
    email: text(claims.email)?.toLowerCase() ?? null,
    emailVerified: typeof claims.email_verified === 'boolean' ? claims.email_verified : null,
    firstName: text(claims.given_name) ?? first,
    lastName: text(claims.family_name) ?? rest.join(' '),
    claims,
  };
}

/** The library's words name what did not fit; secrets are not among them. */
function reasonOf(client: Library, fault: unknown): string {
  if (fault instanceof SsoRefused) return fault.message;
  if (fault instanceof client.AuthorizationResponseError || fault instanceof client.ResponseBodyError) {
    return `the identity provider refused: ${fault.error}${fault.error_description ? ` (${fault.error_description})` : ''}`.slice(
      0,
      300,
    );
  }
  const cause = fault instanceof Error && fault.cause instanceof Error ? `: ${fault.cause.message}` : '';
  return `${fault instanceof Error ? fault.message : String(fault)}${cause}`.slice(0, 300);
}
