/** Whether a changed set-up of single sign-on still leads to the identity provider that was shown to work. */
import { type IdentityProvider, readMetadata } from '../../identity/sso/saml-metadata.ts';
import type { SamlSettings } from '../../identity/sso/settings.ts';
import type { ChangedSso } from './section.ts';

/** True where people sign in at another place, or with other credentials of ours, than before. */
export async function isOtherSetUp(before: ChangedSso | null, after: ChangedSso): Promise<boolean> {
  if (before === null || (await isOtherProvider(before, after))) return true;
  const own = ({ settings: { oidc }, secrets }: ChangedSso) =>
    JSON.stringify([oidc?.token_endpoint_auth_method, oidc?.scopes, secrets]);
  return own(before) !== own(after);
}

/** True where what works might not work any more. A new secret of the same client does not count: it must be possible to change one. */
export async function isOtherProvider(before: ChangedSso | null, after: ChangedSso): Promise<boolean> {
  if (before === null) return false;
  if (before.settings.type !== after.settings.type) return true;
  if (after.settings.type === 'saml') return isOtherSamlProvider(before.settings.saml, after.settings.saml);
  const place = ({ settings: { oidc } }: ChangedSso) =>
    // Nobody is let in without an address.
    JSON.stringify([oidc?.issuer_url, oidc?.client_id, oidc?.scopes.includes('email')]);
  return place(before) !== place(after);
}

async function isOtherSamlProvider(before: SamlSettings | null, after: SamlSettings | null): Promise<boolean> {
  if (before === null || after === null) return before !== after;
  if (before.metadata_url !== after.metadata_url) return true;
  // The provider encrypts for our certificate and checks our requests with it.
  if ((before.certificate ?? null) !== (after.certificate ?? null)) return true;
  if (before.metadata_xml === after.metadata_xml) return false;
  const [was, is] = await Promise.all([described(before), described(after)]);
  if (was === null || is === null) return true;
  return (
    was.entityId !== is.entityId ||
    was.ssoUrl !== is.ssoUrl ||
    !was.certificates.every((certificate) => is.certificates.includes(certificate))
  );
}

/** Null for a document that cannot be read: nothing can be said of it. */
const described = ({ metadata_xml }: SamlSettings): Promise<IdentityProvider | null> =>
  readMetadata(metadata_xml ?? '').catch(() => null);
