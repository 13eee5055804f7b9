/** How an organisation's people sign in through its identity provider, as it is stored. Secrets stand apart, sealed. */
import type { OrganisationRole, WorkspaceRole } from '../roles.ts';

export const tokenEndpointAuthMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;

export interface OidcSettings {
  issuer_url: string;
  client_id: string;
  token_endpoint_auth_method: (typeof tokenEndpointAuthMethods)[number];
  scopes: string[];
}

export interface SamlSettings {
  metadata_url: string | null;
  metadata_xml: string | null;
  /** Our certificate, in PEM; its private key is among the secrets. Null: we neither sign nor decrypt. */
  certificate?: string | null;
}

export interface GrantedWorkspace {
  workspace_id: string;
  role: WorkspaceRole;
}

/** What the value of a claim makes of a person. */
export interface RoleMapping {
  value: string;
  organisation_role: OrganisationRole | null;
  workspaces: GrantedWorkspace[];
}

/** What people become when they first sign in, and what their claims make of them each time. */
export interface Provisioning {
  default_role: 'admin' | 'member';
  default_workspaces: GrantedWorkspace[];
  /** The claim or attribute whose values are mapped; null: roles are given here, not by the identity provider. */
  role_claim: string | null;
  role_mappings: RoleMapping[];
}

export interface SsoSettings {
  type: 'oidc' | 'saml';
  oidc: OidcSettings | null;
  saml: SamlSettings | null;
  provisioning: Provisioning;
}

export interface SsoSecrets {
  client_secret: string | null;
  /** The client's own private keys, for `private_key_jwt`. */
  jwks: { keys: Record<string, unknown>[] } | null;
  /** The private key of our SAML certificate, in PEM. */
  saml_private_key?: string | null;
}

/** What we sign SAML messages with, and what assertions are encrypted for. */
export interface SamlKeys {
  privateKey: string;
  certificate: string;
}

export const samlKeysOf = (saml: SamlSettings | null, { saml_private_key }: SsoSecrets): SamlKeys | null =>
  saml?.certificate && saml_private_key ? { privateKey: saml_private_key, certificate: saml.certificate } : null;

export const ssoSecretsPurpose = 'sso-secrets';
