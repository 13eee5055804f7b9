/** A company's SAML identity provider (samlify), inside the test: it reads our request and answers with assertions of any form. */

import { createSign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as samlify from 'samlify';

samlify.setSchemaValidator({ validate: () => Promise.resolve('not checked here') });

export const opensslInstalled = Bun.which('openssl') !== null;

export function newCertificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'gw-saml-'));
  const command = 'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=idp -keyout key -out cert';
  const { success, stderr } = Bun.spawnSync(['openssl', ...command.split(' ')], { cwd: folder });
  if (!success) throw new Error(stderr.toString());
  const made = { key: readFileSync(join(folder, 'key'), 'utf8'), cert: readFileSync(join(folder, 'cert'), 'utf8') };
  rmSync(folder, { recursive: true, force: true });
  return made;
}

export interface SamlPerson {
  email: string;
  attributes?: Record<string, string>;
  /** The sessions at the provider, each in a statement of its own. */
  sessionIndexes?: string[];
}

/** What an assertion says otherwise than it should. */
export interface Twist {
  audience?: string;
  issuer?: string;
  /** Minutes after which it is no longer valid. */
  minutes?: number;
  inResponseTo?: string;
  recipient?: string;
}

export interface SamlProvider {
  metadata: string;
  /** The form that the browser posts back. */
  answer(way: string, person: SamlPerson, twist?: Twist): Promise<{ SAMLResponse: string; RelayState: string }>;
  /** The same answer with its assertion encrypted for the gateway. */
  encrypted(response: string): Promise<string>;
  /** What the browser of somebody who leaves at the provider brings to the gateway: a query, or the value of a form. */
  logout(email: string, binding: 'redirect' | 'post', sessionIndexes?: string[]): string;
}

const sha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** `partyMetadata` is the document in which the gateway describes itself. */
export function makeSamlProvider(
  entityID: string,
  partyMetadata: string,
  setup: { wantsSignedRequests?: boolean } = {},
): SamlProvider {
  const { key, cert } = newCertificate();
  const setting = {
    entityID,
    privateKey: key,
    signingCert: cert,
    requestSignatureAlgorithm: sha256,
    wantAuthnRequestsSigned: setup.wantsSignedRequests ?? false,
    singleSignOnService: [
      { Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', Location: `${entityID}/sso` },
    ],
    singleLogoutService: [
      { Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', Location: `${entityID}/logout` },
    ],
  };
  const idp = samlify.IdentityProvider(setting);
  // Its types do not name the algorithms, which it reads all the same.
  const encryption = {
    isAssertionEncrypted: true,
    dataEncryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  };
  const encrypting = samlify.IdentityProvider({ ...setting, ...encryption });
  const sp = samlify.ServiceProvider({ metadata: partyMetadata });
  const logoutXml = (email: string, indexes: string[]) =>
    `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${crypto.randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}"><saml:Issuer>${entityID}</saml:Issuer><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${escaped(email)}</saml:NameID>${indexes.map((index) => `<samlp:SessionIndex>${escaped(index)}</samlp:SessionIndex>`).join('')}</samlp:LogoutRequest>`;
  return {
    metadata: idp.getMetadata(),
    encrypted: async (response) =>
      samlify.SamlLib.encryptAssertion(encrypting, sp, Buffer.from(response, 'base64').toString('utf8')),
    logout(email, binding, sessionIndexes = []) {
      const xml = logoutXml(email, sessionIndexes);
      if (binding === 'post') {
        return samlify.SamlLib.constructSAMLSignature({
          rawSamlMessage: xml,
          referenceTagXPath: "/*[local-name(.)='LogoutRequest']",
          privateKey: key,
          signatureAlgorithm: sha256,
          signingCert: cert.replaceAll(/-----[^-]+-----|\s/g, ''),
          signatureConfig: {
            prefix: 'ds',
            location: { reference: "/*[local-name(.)='LogoutRequest']/*[local-name(.)='Issuer']", action: 'after' },
          },
        });
      }
      const message = encodeURIComponent(deflateRawSync(xml).toString('base64'));
      const signed = `SAMLRequest=${message}&RelayState=there&SigAlg=${encodeURIComponent(sha256)}`;
      const signature = createSign('RSA-SHA256').update(signed).sign(key, 'base64');
      return `${signed}&Signature=${encodeURIComponent(signature)}`;
    },
    async answer(way, person, twist = {}) {
      const query = new URL(way).searchParams;
      const request = inflateRawSync(Buffer.from(query.get('SAMLRequest') ?? '', 'base64')).toString('utf8');
      const requestId = /\bID="([^"]+)"/.exec(request)?.[1] ?? '';
      const acs = String(sp.entityMeta.getAssertionConsumerService('post'));
      const at = Date.now();
      const moment = (minutes: number) => new Date(at + minutes * 60_000).toISOString();
      const fill = (template: string) => {
        const id = `_${crypto.randomUUID()}`;
        const { minutes = 5 } = twist;
        const attributes = Object.entries({ email: person.email, ...person.attributes })
          .map(
            ([name, value]) =>
              `<saml:Attribute Name="${escaped(name)}">${value
                .split('+')
                .map((item) => `<saml:AttributeValue>${escaped(item)}</saml:AttributeValue>`)
                .join('')}</saml:Attribute>`,
          )
          .join('');
        const statements = (person.sessionIndexes ?? [])
          .map(
            (index) =>
              `<saml:AuthnStatement AuthnInstant="${moment(0)}" SessionIndex="${escaped(index)}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`,
          )
          .join('');
        const context = samlify.SamlLib.replaceTagsByValue(
          template
            .replace('{AttributeStatement}', `<saml:AttributeStatement>${attributes}</saml:AttributeStatement>`)
            .replace('{AuthnStatement}', statements),
          {
            ID: id,
            AssertionID: `_${crypto.randomUUID()}`,
            Destination: acs,
            Audience: twist.audience ?? sp.entityMeta.getEntityID(),
            SubjectRecipient: twist.recipient ?? acs,
            Issuer: twist.issuer ?? entityID,
            IssueInstant: moment(Math.min(0, minutes - 5)),
            ConditionsNotBefore: moment(Math.min(-1, minutes - 5)),
            ConditionsNotOnOrAfter: moment(minutes),
            SubjectConfirmationDataNotOnOrAfter: moment(minutes),
            NameIDFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
            NameID: escaped(person.email),
            InResponseTo: twist.inResponseTo ?? requestId,
            StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success',
          },
        );
        return { id, context };
      };
      const info = { extract: { request: { id: requestId } } };
      const { context } = await idp.createLoginResponse(sp, info, 'post', { email: person.email }, fill);
      return { SAMLResponse: context, RelayState: query.get('RelayState') ?? '' };
    },
  };
}
