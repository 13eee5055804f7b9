/** A company's SAML identity provider (samlify), inside the test: it reads our request and answers with assertions of any form. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import * as samlify from 'samlify';

samlify.setSchemaValidator({ validate: () => Promise.resolve('not checked here') });

export const opensslInstalled = Bun.which('openssl') !== null;

function newCertificate(): { key: string; cert: string } {
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
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** `partyMetadata` is the document in which the gateway describes itself. */
export function makeSamlProvider(entityID: string, partyMetadata: string): SamlProvider {
  const { key, cert } = newCertificate();
  const idp = samlify.IdentityProvider({
    entityID,
    privateKey: key,
    signingCert: cert,
    requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    singleSignOnService: [
      { Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', Location: `${entityID}/sso` },
    ],
  });
  const sp = samlify.ServiceProvider({ metadata: partyMetadata });
  return {
    metadata: idp.getMetadata(),
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
        const context = samlify.SamlLib.replaceTagsByValue(
          template
            .replace('{AttributeStatement}', `<saml:AttributeStatement>${attributes}</saml:AttributeStatement>`)
            .replace('{AuthnStatement}', ''),
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
