/** Single sign-on as a service: checks set-ups, sends people to their identity provider, and reads what it answers. */

import type { Clock } from '../../clock.ts';
import { isTrustedHost, type TrustedHosts } from '../../http/custom-host.ts';
import { digestOf, newToken } from '../../identity/secrets.ts';
import {
  createSsoFlows,
  type SamlLogout,
  type SsoFlow,
  type SsoFlows,
  type SsoIdentity,
  SsoRefused,
} from '../../identity/sso/flows.ts';
import type { LogoutToken } from '../../identity/sso/logout-token.ts';
import { createOidc, type WebFetch } from '../../identity/sso/oidc.ts';
import {
  createSaml,
  type LogoutMessage,
  type Saml,
  type SamlAssertion,
  type SamlParty,
} from '../../identity/sso/saml.ts';
import { type SamlKeys, samlKeysOf } from '../../identity/sso/settings.ts';
import type { Store } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { AuthSettingsTable } from '../../store/tables/company-sign-in.ts';
import type { Vault } from '../../store/vault.ts';
import { acsUrl, type ChangedSso, entityId, logoutUrl, redirectUri, secretsOf } from './section.ts';

export interface SsoService {
  flows: SsoFlows;
  /** Fails with `SsoRefused` where the set-up cannot work. */
  check(sso: ChangedSso, organisationId: string): Promise<void>;
  /** Where the browser goes, and the cookie that it must bring back. */
  begin(row: AuthSettingsTable, request: BeginRequest): Promise<{ url: string; browser: string }>;
  /** The assertion that came back for a SAML sign-in. */
  asserted(row: AuthSettingsTable, flow: SsoFlow, origin: string, response: string): Promise<SamlAssertion>;
  /** Who came back with an OIDC answer. */
  answered(row: AuthSettingsTable, flow: SsoFlow, query: URLSearchParams): Promise<SsoIdentity>;
  /** Where the browser of somebody who leaves goes, so that a SAML provider ends its session too; null: nowhere. */
  samlLogout(row: AuthSettingsTable, origin: string, leaving: SamlLogout): Promise<string | null>;
  /** Whose sessions an OpenID provider has ended. */
  oidcLoggedOut(row: AuthSettingsTable, token: string): Promise<LogoutToken>;
  /** Whom a SAML provider has logged out. */
  loggedOut(row: AuthSettingsTable, origin: string, message: LogoutMessage): ReturnType<Saml['loggedOut']>;
  /** We, as the SAML provider of an organisation knows us. */
  party(row: AuthSettingsTable, origin: string): SamlParty;
}

interface BeginRequest {
  origin: string;
  email: string | null;
  returnTo: string;
}

interface Parts {
  store: Store;
  vault: Vault;
  clock: Clock;
  trustedHosts: TrustedHosts;
  /** Fetches on behalf of an organisation, after the check of the address. */
  fetchFor(tenant: string): WebFetch;
  fetchDocument(url: string, tenant: string): Promise<string>;
}

export function createSsoService({ store, vault, clock, trustedHosts, fetchFor, fetchDocument }: Parts): SsoService {
  const flows = createSsoFlows(store, vault, () => clock.now());
  const trustsPlainHttp = (url: string): boolean => {
    const { protocol, hostname } = new URL(url);
    return protocol === 'http:' && isTrustedHost(hostname, trustedHosts.named);
  };
  const oidc = createOidc(fetchFor, trustsPlainHttp, () => clock.now());
  const saml = createSaml(fetchDocument, () => clock.now());

  const partyIn = (row: AuthSettingsTable, origin: string): SamlParty => {
    const settings = row.sso === null ? null : decode(row.sso);
    return partyOf(origin, row.organisation_id, samlKeysOf(settings?.saml ?? null, secretsOf(row, vault)));
  };

  return {
    flows,
    party: partyIn,
    samlLogout: (row, origin, leaving) => saml.logoutRequest(partyIn(row, origin), leaving),
    async oidcLoggedOut(row, token) {
      const settings = row.sso === null ? null : decode(row.sso);
      if (settings?.type !== 'oidc' || !settings.oidc) {
        throw new SsoRefused('the organisation does not sign in by OpenID Connect');
      }
      return oidc.loggedOut(settings.oidc, secretsOf(row, vault), token, row.organisation_id);
    },
    async loggedOut(row, origin, message) {
      const settings = row.sso === null ? null : decode(row.sso);
      if (settings?.type !== 'saml' || !settings.saml)
        throw new SsoRefused('the organisation does not sign in by SAML');
      return saml.loggedOut(settings.saml, partyIn(row, origin), message, row.organisation_id);
    },
    async check({ settings, secrets }, organisationId) {
      if (settings.type === 'oidc' && settings.oidc) await oidc.check(settings.oidc, secrets, organisationId);
      if (settings.type === 'saml' && settings.saml) {
        await saml.check(settings.saml, samlKeysOf(settings.saml, secrets), organisationId);
      }
    },
    async begin(row, { origin, email, returnTo }) {
      const { organisation_id: organisationId } = row;
      const settings = row.sso === null ? null : decode(row.sso);
      const browser = newToken();
      const common = { organisationId, returnTo, browserDigest: digestOf(browser) };
      const state = newToken();
      if (settings?.type === 'saml' && settings.saml) {
        const party = partyIn(row, origin);
        const request = { relayState: state, tenant: organisationId };
        const { url, requestId } = await saml.authorization(settings.saml, party, request);
        await flows.begin({ kind: 'saml', ...common, requestId, acsUrl: party.acsUrl }, state);
        return { url, browser };
      }
      if (!settings?.oidc) throw new SsoRefused('the organisation has no single sign-on');
      const target = redirectUri(origin);
      const { url, verifier, nonce } = await oidc.authorization(settings.oidc, secretsOf(row, vault), {
        state,
        redirectUri: target,
        email,
        tenant: organisationId,
      });
      const { issuer_url: issuer, client_id: clientId } = settings.oidc;
      await flows.begin({ kind: 'oidc', ...common, issuer, clientId, redirectUri: target, verifier, nonce }, state);
      return { url, browser };
    },
    async asserted(row, flow, origin, response) {
      const settings = row.sso === null ? null : decode(row.sso);
      if (flow.kind !== 'saml' || settings?.type !== 'saml' || !settings.saml) {
        throw new SsoRefused('the organisation no longer signs in this way; begin anew');
      }
      const party = { ...partyIn(row, origin), acsUrl: flow.acsUrl };
      return saml.assertion(settings.saml, party, {
        response,
        requestId: flow.requestId,
        tenant: flow.organisationId,
      });
    },
    async answered(row, flow, query) {
      const settings = row.sso === null ? null : decode(row.sso);
      if (flow.kind !== 'oidc' || settings?.type !== 'oidc' || !settings.oidc) {
        throw new SsoRefused('the organisation no longer signs in this way; begin anew');
      }
      if (settings.oidc.issuer_url !== flow.issuer || settings.oidc.client_id !== flow.clientId) {
        throw new SsoRefused('the identity provider of the organisation was changed meanwhile; begin anew');
      }
      return oidc.identity(settings.oidc, secretsOf(row, vault), {
        url: new URL(`${flow.redirectUri}?${query}`),
        state: query.get('state') ?? '',
        verifier: flow.verifier,
        nonce: flow.nonce,
        tenant: flow.organisationId,
        roleClaim: settings.provisioning.role_claim,
      });
    },
  };
}

/** We, as the identity provider of an organisation knows us. */
const partyOf = (origin: string, organisationId: string, keys: SamlKeys | null): SamlParty => ({
  entityId: entityId(origin),
  acsUrl: acsUrl(origin, organisationId),
  logoutUrl: logoutUrl(origin, organisationId),
  keys,
});
