/**
 * SAML 2.0 as a service provider: requests to the identity provider, and assertions that are believed. The library checks
 * signatures; it is loaded when somebody first signs in this way.
 */
import { randomBytes } from 'node:crypto';
import type { Profile, SAML } from '@node-saml/node-saml';
import { type SsoIdentity, SsoRefused } from './flows.ts';
import type { SamlSettings } from './settings.ts';

/** We, as the provider knows us. */
export interface SamlParty {
  entityId: string;
  acsUrl: string;
}

export interface Saml {
  /** Fails with a reason where the metadata cannot be fetched or used. */
  check(settings: SamlSettings, tenant: string): Promise<void>;
  authorization(
    settings: SamlSettings,
    party: SamlParty,
    request: { relayState: string; tenant: string },
  ): Promise<{ url: string; requestId: string }>;
  assertion(
    settings: SamlSettings,
    party: SamlParty,
    answer: { response: string; requestId: string; tenant: string },
  ): Promise<SamlAssertion>;
}

export interface SamlAssertion {
  id: string;
  /** When it stops being valid. */
  expiresAt: Date;
  identity: SsoIdentity;
}

interface IdentityProvider {
  entityId: string;
  ssoUrl: string;
  certificates: string[];
}

const clockSkewMs = 60_000;
const dayMs = 86_400_000;
const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

export function createSaml(fetchDocument: (url: string, tenant: string) => Promise<string>, now: () => Date): Saml {
  /** Metadata is fetched anew for each sign-in: few people sign in, and certificates may have been rotated. */
  const providerOf = async (settings: SamlSettings, tenant: string): Promise<IdentityProvider> => {
    try {
      const xml =
        settings.metadata_url === null
          ? (settings.metadata_xml ?? '')
          : await fetchDocument(settings.metadata_url, tenant);
      return await readMetadata(xml);
    } catch (fault) {
      throw new SsoRefused(`the metadata of the identity provider cannot be used: ${reasonOf(fault)}`);
    }
  };

  const library = async (provider: IdentityProvider, party: SamlParty, requestId: string): Promise<SAML> => {
    const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml');
    return new SAML({
      entryPoint: provider.ssoUrl,
      idpIssuer: provider.entityId,
      idpCert: provider.certificates,
      issuer: party.entityId,
      audience: party.entityId,
      callbackUrl: party.acsUrl,
      identifierFormat: null,
      disableRequestedAuthnContext: true,
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: false,
      acceptedClockSkewMs: clockSkewMs,
      validateInResponseTo: ValidateInResponseTo.always,
      generateUniqueId: () => requestId,
      // Which request is waited for stands in the sign-in itself, and that counts once.
      cacheProvider: {
        saveAsync: async (_, value) => ({ value, createdAt: now().getTime() }),
        getAsync: async (key) => (key === requestId ? new Date().toISOString() : null),
        removeAsync: async (key) => key,
      },
    });
  };

  return {
    check: async (settings, tenant) => void (await providerOf(settings, tenant)),
    async authorization(settings, party, { relayState, tenant }) {
      const requestId = `_${randomBytes(20).toString('hex')}`;
      const saml = await library(await providerOf(settings, tenant), party, requestId);
      return { url: await saml.getAuthorizeUrlAsync(relayState, undefined, {}), requestId };
    },
    async assertion(settings, party, { response, requestId, tenant }) {
      refuseTricks(Buffer.from(response, 'base64').toString('utf8'));
      const provider = await providerOf(settings, tenant);
      const saml = await library(provider, party, requestId);
      try {
        const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: response });
        if (!profile) throw new SsoRefused('the identity provider sent no assertion');
        requireParties(profile, provider, party);
        return assertionIn(profile, now());
      } catch (fault) {
        throw fault instanceof SsoRefused ? fault : new SsoRefused(`the assertion is not accepted: ${reasonOf(fault)}`);
      }
    },
  };
}

/** The document that the identity provider is given about us. */
export async function partyMetadata({ entityId, acsUrl }: SamlParty): Promise<string> {
  const { generateServiceProviderMetadata } = await import('@node-saml/node-saml');
  return generateServiceProviderMetadata({ issuer: entityId, callbackUrl: acsUrl, wantAssertionsSigned: true });
}

/** Forms that an honest provider does not send and that have fooled readers of XML; refused before anything is read from them. */
function refuseTricks(xml: string): void {
  if (/<!DOCTYPE|<!ENTITY/i.test(xml)) throw new SsoRefused('the answer holds a document type');
  if (xml.includes('<!--')) throw new SsoRefused('the answer holds comments');
  if (/xmldsig#rsa-sha1|xmldsig#dsa-sha1/.test(xml)) throw new SsoRefused('the answer is signed with SHA-1');
  const assertions = xml.match(/<(?:[\w.-]+:)?(?:Encrypted)?Assertion[\s>]/g) ?? [];
  if (assertions.length > 1) throw new SsoRefused('the answer holds several assertions');
}

async function readMetadata(xml: string): Promise<IdentityProvider> {
  if (/<!DOCTYPE|<!ENTITY/i.test(xml)) throw new Error('it holds a document type');
  const { parseDomFromString, xpath } = await import('@node-saml/node-saml/lib/xml.js');
  const document = await parseDomFromString(xml);
  const role = "*[local-name()='IDPSSODescriptor']";
  const descriptors = xpath.selectElements(document, `//*[local-name()='EntityDescriptor'][${role}]`);
  const [descriptor] = descriptors;
  if (!descriptor || descriptors.length > 1) throw new Error('it must describe exactly one identity provider');
  const entityId = descriptor.getAttribute('entityID');
  if (!entityId) throw new Error('it has no entityID');
  const services = xpath.selectElements(descriptor, `./${role}/*[local-name()='SingleSignOnService']`);
  const service = services.find((element) => element.getAttribute('Binding') === redirectBinding);
  const ssoUrl = service?.getAttribute('Location') ?? '';
  if (!/^https?:$/.test(URL.parse(ssoUrl)?.protocol ?? '')) {
    throw new Error('it has no single sign-on service with the binding HTTP-Redirect');
  }
  const keys = xpath.selectElements(
    descriptor,
    `./${role}/*[local-name()='KeyDescriptor'][not(@use) or @use='signing']//*[local-name()='X509Certificate']`,
  );
  const certificates = keys.map((element) => (element.textContent ?? '').replaceAll(/\s+/g, '')).filter(Boolean);
  if (certificates.length === 0) throw new Error('it has no certificate for signatures');
  return { entityId, ssoUrl, certificates: certificates.slice(0, 10) };
}

const emailNames = [
  'email',
  'mail',
  'emailAddress',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
];
const firstNames = [
  'firstName',
  'givenName',
  'given_name',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname',
  'urn:oid:2.5.4.42',
];
const lastNames = [
  'lastName',
  'sn',
  'surname',
  'family_name',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname',
  'urn:oid:2.5.4.4',
];

function assertionIn(profile: Profile, now: Date): SamlAssertion {
  const { attributes } = profile;
  const told = typeof attributes === 'object' && attributes !== null ? (attributes as Record<string, unknown>) : {};
  const first = (names: readonly string[]): string | null => {
    for (const name of names) {
      const value = [told[name]].flat()[0];
      if (typeof value === 'string' && value !== '') return value.slice(0, 254);
    }
    return null;
  };
  const email = first(emailNames) ?? (profile.nameID.includes('@') ? profile.nameID.slice(0, 254) : null);
  const { id, notOnOrAfter } = termsOf(profile);
  return {
    id,
    expiresAt: new Date(Math.max(notOnOrAfter, now.getTime()) + dayMs),
    identity: {
      email: email?.trim().toLowerCase() ?? null,
      emailVerified: null,
      firstName: first(firstNames) ?? '',
      lastName: first(lastNames) ?? '',
      claims: told,
      logout: null,
    },
  };
}

/** The library leaves these to us: who made the assertion, and for which address. */
function requireParties(profile: Profile, { entityId }: IdentityProvider, { acsUrl }: SamlParty): void {
  if (profile.issuer !== entityId) throw new SsoRefused('the assertion has another issuer');
  const xml = profile.getAssertionXml?.() ?? '';
  const recipients = [...xml.matchAll(/<(?:[\w.-]+:)?SubjectConfirmationData\b[^>]*?\bRecipient="([^"]*)"/g)];
  if (recipients.length === 0 || recipients.some(([, recipient]) => recipient !== acsUrl)) {
    throw new SsoRefused('the assertion was made out for another address');
  }
}

/** The id of the assertion and the end of its validity, from the part that was signed. */
function termsOf(profile: Profile): { id: string; notOnOrAfter: number } {
  const xml = profile.getAssertionXml?.() ?? '';
  const id = /<(?:[\w.-]+:)?Assertion\b[^>]*?\bID="([^"]{1,256})"/.exec(xml)?.[1];
  if (!id) throw new SsoRefused('the assertion has no ID');
  const end = /<(?:[\w.-]+:)?Conditions\b[^>]*?\bNotOnOrAfter="([^"]{1,40})"/.exec(xml)?.[1];
  if (!end) throw new SsoRefused('the assertion does not say until when it is valid');
  return { id, notOnOrAfter: Date.parse(end) || 0 };
}

const reasonOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault)).slice(0, 300);
