/** What a SAML identity provider says of itself in its metadata. */

export interface IdentityProvider {
  entityId: string;
  ssoUrl: string;
  certificates: string[];
  /** Where it takes requests to log out; null: it offers no single logout by redirect. */
  logoutUrl: string | null;
  /** Where it takes answers to its own; null: at the same address. */
  logoutResponseUrl: string | null;
  wantsSignedRequests: boolean;
}

const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

export async function readMetadata(xml: string): Promise<IdentityProvider> {
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
  const ssoUrl = addressIn(service, 'Location');
  if (ssoUrl === null) {
    throw new Error('it has no single sign-on service with the binding HTTP-Redirect');
  }
  const keys = xpath.selectElements(
    descriptor,
    `./${role}/*[local-name()='KeyDescriptor'][not(@use) or @use='signing']//*[local-name()='X509Certificate']`,
  );
  const certificates = keys.map((element) => (element.textContent ?? '').replaceAll(/\s+/g, '')).filter(Boolean);
  if (certificates.length === 0) throw new Error('it has no certificate for signatures');
  const logouts = xpath.selectElements(descriptor, `./${role}/*[local-name()='SingleLogoutService']`);
  const logout = logouts.find((element) => element.getAttribute('Binding') === redirectBinding);
  const [own] = xpath.selectElements(descriptor, `./${role}`);
  return {
    entityId,
    ssoUrl,
    certificates: certificates.slice(0, 10),
    logoutUrl: addressIn(logout, 'Location'),
    logoutResponseUrl: addressIn(logout, 'ResponseLocation'),
    wantsSignedRequests: own?.getAttribute('WantAuthnRequestsSigned') === 'true',
  };
}

/** Browsers are sent there; we call none of them. */
function addressIn(element: Element | undefined, attribute: string): string | null {
  const address = element?.getAttribute(attribute) ?? '';
  return /^https?:$/.test(URL.parse(address)?.protocol ?? '') ? address : null;
}
