/**
 * SAML 2.0 as a service provider: requests to the identity provider, and assertions that are believed. The library checks
 * signatures; it is loaded when somebody first signs in this way.
 */
import { randomBytes, verify, X509Certificate } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import type { Profile, SAML } from '@node-saml/node-saml';
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { type SamlLogout, type SsoIdentity, SsoRefused } from './flows.ts';
import { type IdentityProvider, readMetadata } from './saml-metadata.ts';
import type { SamlKeys, SamlSettings } from './settings.ts';

/** We, as the provider knows us. */
export interface SamlParty {
  entityId: string;
  acsUrl: string;
  /** Where the provider sends its messages about logouts. */
  logoutUrl: string;
  /** Null: we neither sign nor decrypt. */
  keys: SamlKeys | null;
}

export interface Saml {
  /** Fails with a reason where the metadata cannot be fetched or used. */
  check(settings: SamlSettings, keys: SamlKeys | null, tenant: string): Promise<void>;
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
  /** Where the browser goes so that the provider ends its own session; null where it offers no such address. */
  logoutRequest(party: SamlParty, leaving: SamlLogout): Promise<string | null>;
  /** Who leaves, as a signed request of the provider says it. */
  loggedOut(
    settings: SamlSettings,
    party: SamlParty,
    message: LogoutMessage,
    tenant: string,
  ): Promise<{ nameId: string; sessionIndexes: string[]; replyTo: string | null }>;
}

/** A request of the provider, as its browser brings it: in the query with a signature beside it, or in a form, signed itself. */
export type LogoutMessage =
  | { binding: 'redirect'; query: URLSearchParams; rawQuery: string }
  | { binding: 'post'; request: string; relayState: string | null };

export interface SamlAssertion {
  id: string;
  /** When it stops being valid. */
  expiresAt: Date;
  identity: SsoIdentity;
}

const mostIndexes = 1_000;
const mostLogoutBytes = 1_048_576;
const clockSkewMs = 60_000;
const dayMs = 86_400_000;

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
      signatureAlgorithm: 'sha256',
      digestAlgorithm: 'sha256',
      logoutUrl: provider.logoutUrl ?? '',
      ...(party.keys && { privateKey: party.keys.privateKey, decryptionPvk: party.keys.privateKey }),
      // Which request is waited for stands in the sign-in itself, and that counts once.
      cacheProvider: {
        saveAsync: async (_, value) => ({ value, createdAt: now().getTime() }),
        getAsync: async (key) => (key === requestId ? new Date().toISOString() : null),
        removeAsync: async (key) => key,
      },
    });
  };

  return {
    async check(settings, keys, tenant) {
      const { wantsSignedRequests } = await providerOf(settings, tenant);
      if (wantsSignedRequests && !keys) {
        throw new SsoRefused('the identity provider wants signed requests: give certificate and private_key');
      }
    },
    async authorization(settings, party, { relayState, tenant }) {
      const requestId = newRequestId();
      const saml = await library(await providerOf(settings, tenant), party, requestId);
      return { url: await saml.getAuthorizeUrlAsync(relayState, undefined, {}), requestId };
    },
    async assertion(settings, party, { response, requestId, tenant }) {
      const xml = Buffer.from(response, 'base64').toString('utf8');
      refuseTricks(xml);
      const isEncrypted = /<(?:[\w.-]+:)?EncryptedAssertion[\s>]/.test(xml);
      if (isEncrypted && !party.keys) throw new SsoRefused('the assertion is encrypted, and we have no private key');
      const provider = await providerOf(settings, tenant);
      const saml = await library(provider, party, requestId);
      try {
        const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: response });
        if (!profile) throw new SsoRefused('the identity provider sent no assertion');
        // What was encrypted could not be looked at before.
        if (isEncrypted) refuseTricks(profile.getAssertionXml?.() ?? '');
        requireParties(profile, provider, party);
        return assertionIn(profile, provider, now());
      } catch (fault) {
        // Whoever changes an encrypted assertion must not learn how far it got.
        if (isEncrypted && !(fault instanceof SsoRefused))
          throw new SsoRefused('the encrypted assertion is not accepted');
        throw fault instanceof SsoRefused ? fault : new SsoRefused(`the assertion is not accepted: ${reasonOf(fault)}`);
      }
    },
    async logoutRequest(party, leaving) {
      const { logoutUrl } = leaving;
      if (logoutUrl === null) return null;
      // Only the address counts here; the library wants the rest filled in.
      const provider = { entityId: '', ssoUrl: logoutUrl, certificates: ['none'], logoutUrl, logoutResponseUrl: null };
      const saml = await library({ ...provider, wantsSignedRequests: false }, party, newRequestId());
      const { nameId: nameID, nameIdFormat: nameIDFormat, sessionIndexes } = leaving;
      // The library writes one index. The provider finds its session by any of them.
      const [sessionIndex] = sessionIndexes;
      const person: Profile = { issuer: '', nameID, nameIDFormat, ...(sessionIndex !== undefined && { sessionIndex }) };
      return saml.getLogoutUrlAsync(person, '', {});
    },
    async loggedOut(settings, party, message, tenant) {
      const provider = await providerOf(settings, tenant);
      const answersAt = provider.logoutResponseUrl ?? provider.logoutUrl;
      const saml = await library({ ...provider, logoutUrl: answersAt }, party, newRequestId());
      try {
        const { profile } = await verifiedLogout(saml, provider, message);
        if (!profile) throw new SsoRefused('the message asks for no logout');
        if (profile.issuer !== provider.entityId) throw new SsoRefused('the request has another issuer');
        const relayState = message.binding === 'post' ? message.relayState : message.query.get('RelayState');
        const replyTo =
          answersAt === null ? null : await saml.getLogoutResponseUrlAsync(profile, relayState ?? '', {}, true);
        return { nameId: profile.nameID, sessionIndexes: await namedIndexes(message), replyTo };
      } catch (fault) {
        throw fault instanceof SsoRefused ? fault : new SsoRefused(`the logout is not accepted: ${reasonOf(fault)}`);
      }
    },
  };
}

const newRequestId = (): string => `_${randomBytes(20).toString('hex')}`;

const signedFields = ['SAMLRequest', 'RelayState', 'SigAlg'] as const;
const hashes: Readonly<Record<string, string>> = {
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384': 'sha384',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': 'sha512',
};

async function verifiedLogout(saml: SAML, provider: IdentityProvider, message: LogoutMessage) {
  if (message.binding === 'post') {
    refuseTricks(Buffer.from(message.request, 'base64').toString('utf8'));
    return saml.validatePostRequestAsync({ SAMLRequest: message.request });
  }
  requireSignedQuery(provider, message);
  const { query } = message;
  return saml.validateRedirectAsync({ SAMLRequest: query.get('SAMLRequest') ?? '' }, '');
}

/** Every session that a request names, out of the document whose signature was checked; the library reads the first alone. */
async function namedIndexes(message: LogoutMessage): Promise<string[]> {
  const sent = Buffer.from(
    message.binding === 'post' ? message.request : (message.query.get('SAMLRequest') ?? ''),
    'base64',
  );
  const { parseDomFromString, xpath } = await import('@node-saml/node-saml/lib/xml.js');
  const xml = message.binding === 'post' ? sent : inflateRawSync(sent, { maxOutputLength: mostLogoutBytes });
  const document = await parseDomFromString(xml.toString('utf8'));
  const elements = xpath.selectElements(document, "/*[local-name()='LogoutRequest']/*[local-name()='SessionIndex']");
  const indexes = elements.map((element) => (element.textContent ?? '').trim()).filter(Boolean);
  if (indexes.length > mostIndexes) throw new SsoRefused(`the request names more than ${mostIndexes} sessions`);
  return indexes;
}

/** The library lets a query without a signature pass, and does not find the hashes of this runtime, so that it is checked here. */
function requireSignedQuery(
  { certificates }: IdentityProvider,
  { query, rawQuery }: Extract<LogoutMessage, { binding: 'redirect' }>,
): void {
  const written = new Map<string, string>();
  for (const part of rawQuery.split('&')) {
    const name = part.slice(0, part.indexOf('='));
    if (written.has(name)) throw new SsoRefused(`the request holds ${name} twice`);
    written.set(name, part);
  }
  const signature = query.get('Signature');
  const hash = hashes[query.get('SigAlg') ?? ''];
  if (!signature) throw new SsoRefused('the request is not signed');
  if (!hash) throw new SsoRefused('the request is not signed with RSA and SHA-256 or better');
  // As they were written, in this order: that is what the signature covers.
  const covered = Buffer.from(signedFields.flatMap((name) => written.get(name) ?? []).join('&'));
  const isSigned = certificates.some((certificate) => {
    const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64'));
    return verify(hash, covered, publicKey, Buffer.from(signature, 'base64'));
  });
  if (!isSigned) throw new SsoRefused('the signature of the request is wrong');
}

/** The document that the identity provider is given about us. */
export async function partyMetadata({ entityId, acsUrl, logoutUrl, keys }: SamlParty): Promise<string> {
  const { generateServiceProviderMetadata } = await import('@node-saml/node-saml');
  return generateServiceProviderMetadata({
    issuer: entityId,
    callbackUrl: acsUrl,
    logoutCallbackUrl: logoutUrl,
    wantAssertionsSigned: true,
    ...(keys && {
      privateKey: keys.privateKey,
      publicCerts: keys.certificate,
      decryptionPvk: keys.privateKey,
      decryptionCert: keys.certificate,
    }),
  });
}

/** Forms that an honest provider does not send and that have fooled readers of XML; refused before anything is read from them. */
function refuseTricks(xml: string): void {
  if (/<!DOCTYPE|<!ENTITY/i.test(xml)) throw new SsoRefused('the answer holds a document type');
  if (xml.includes('<!--')) throw new SsoRefused('the answer holds comments');
  if (/xmldsig#rsa-sha1|xmldsig#dsa-sha1/.test(xml)) throw new SsoRefused('the answer is signed with SHA-1');
  if (/xmlenc#(?:rsa-1_5|tripledes-cbc)/.test(xml))
    throw new SsoRefused('the answer is encrypted with an old algorithm');
  const assertions = xml.match(/<(?:[\w.-]+:)?(?:Encrypted)?Assertion[\s>]/g) ?? [];
  if (assertions.length > 1) throw new SsoRefused('the answer holds several assertions');
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

function assertionIn(profile: Profile, { logoutUrl }: IdentityProvider, now: Date): SamlAssertion {
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
      oidc: null,
      logout: {
        nameId: profile.nameID,
        nameIdFormat: profile.nameIDFormat,
        sessionIndexes: openedIndexes(profile),
        logoutUrl,
      },
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

const authnStatements = lazy(() =>
  z.object({
    Assertion: z.object({
      AuthnStatement: z.array(z.object({ $: z.object({ SessionIndex: z.string().optional() }).optional() })).optional(),
    }),
  }),
);

/** The sessions at the provider that the signed assertion speaks of: one for each of its statements. */
function openedIndexes(profile: Profile): string[] {
  const { Assertion } = authnStatements().parse(profile.getAssertion?.());
  const indexes = (Assertion.AuthnStatement ?? []).flatMap(({ $ }) => $?.SessionIndex ?? []);
  return [...new Set(indexes)].slice(0, mostIndexes);
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
