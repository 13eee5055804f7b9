/** The section `sso` of the auth settings: what may be sent, what is stored, and what is shown of it. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import type { TrustedHosts } from '../../http/custom-host.ts';
import { forbidden, invalid } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import { organisationRoleBeyond, workspaceRoleBeyond } from '../../identity/grants.ts';
import { faultOfAddress } from '../../identity/jwt/settings.ts';
import { organisationRoles, workspaceRoles } from '../../identity/roles.ts';
import {
  type GrantedWorkspace,
  type Provisioning,
  type SamlSettings,
  type SsoSecrets,
  type SsoSettings,
  ssoSecretsPurpose,
  tokenEndpointAuthMethods,
} from '../../identity/sso/settings.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { AuthSettingsTable } from '../../store/tables/company-sign-in.ts';
import type { Vault } from '../../store/vault.ts';
import { keyPlace } from '../api-keys/place.ts';
import { reference } from '../kernel/fields.ts';
import { findWorkspace } from '../kernel/workspace-lock.ts';

const text = (most: number) => z.string().trim().min(1).max(most);
/** Shown in replies; accepted so that a record that was read can be sent back, and ignored. */
const readOnlyText = () => z.string().max(4_096).nullish();
const readOnlyFlag = () => z.boolean().optional();

const privateJwk = lazy(() => {
  const member = () => z.string().max(4_000).optional();
  return z.strictObject({
    kty: text(20),
    kid: text(256).optional(),
    alg: text(20).optional(),
    use: text(20).optional(),
    crv: text(20).optional(),
    n: member(),
    e: member(),
    d: member(),
    p: member(),
    q: member(),
    dp: member(),
    dq: member(),
    qi: member(),
    x: member(),
    y: member(),
  });
});

const grantedWorkspaces = () =>
  z
    .array(z.strictObject({ workspace_id: reference, role: z.enum(workspaceRoles) }))
    .max(50)
    .describe('Id or slug of a workspace, and the role there');

export const ssoInput = lazy(() =>
  z.strictObject({
    type: z.enum(['oidc', 'saml']).optional(),
    oidc: z
      .strictObject({
        issuer_url: text(2_048).optional().describe('Its discovery document must answer'),
        client_id: text(512).optional(),
        client_secret: text(4_096).nullish().describe('Never shown again'),
        token_endpoint_auth_method: z.enum(tokenEndpointAuthMethods).optional(),
        jwks: z
          .strictObject({ keys: z.array(privateJwk()).min(1).max(10) })
          .nullish()
          .meta({ examples: [{ keys: [{ kty: 'RSA', kid: 'ours', alg: 'RS256', n: '...', e: 'AQAB', d: '...' }] }] })
          .describe('The client’s private keys; without a method given, private_key_jwt is used'),
        scopes: z.array(text(128)).min(1).max(30).optional(),
        redirect_uri: readOnlyText(),
        backchannel_logout_uri: readOnlyText(),
        client_secret_set: readOnlyFlag(),
        jwks_set: readOnlyFlag(),
      })
      .nullish(),
    saml: z
      .strictObject({
        metadata_url: text(2_048).nullish(),
        metadata_xml: z.string().trim().min(1).max(200_000).nullish(),
        certificate: z
          .string()
          .trim()
          .min(1)
          .max(16_384)
          .nullish()
          .describe('Ours, in PEM: requests are signed, and assertions may be encrypted for it'),
        private_key: z.string().trim().min(1).max(16_384).nullish().describe('Of the certificate, in PEM; never shown'),
        private_key_set: readOnlyFlag(),
        acs_url: readOnlyText(),
        logout_url: readOnlyText(),
        entity_id: readOnlyText(),
      })
      .nullish(),
    provisioning: z
      .strictObject({
        default_role: z.enum(['admin', 'member']).optional(),
        default_workspaces: grantedWorkspaces().optional(),
        role_claim: text(256).nullish().describe('The claim or attribute whose values are mapped; null: none'),
        role_mappings: z
          .array(
            z.strictObject({
              value: text(512),
              organisation_role: z.enum(organisationRoles).nullish(),
              workspaces: grantedWorkspaces().optional(),
            }),
          )
          .max(100)
          .optional(),
      })
      .optional(),
    verified_at: readOnlyText(),
  }),
);

export type SsoInput = z.output<ReturnType<typeof ssoInput>>;

const shownWorkspaces = () => z.array(z.object({ workspace_id: z.string(), role: z.enum(workspaceRoles) }));

export const ssoReply = lazy(() =>
  z.object({
    type: z.enum(['oidc', 'saml']),
    oidc: z
      .object({
        issuer_url: z.string(),
        client_id: z.string(),
        client_secret_set: z.boolean(),
        token_endpoint_auth_method: z.enum(tokenEndpointAuthMethods),
        jwks_set: z.boolean(),
        scopes: z.array(z.string()),
        redirect_uri: z.string().describe('Register it at the identity provider'),
        backchannel_logout_uri: z.string().describe('Where the provider ends sessions; register it there'),
      })
      .nullable(),
    saml: z
      .object({
        metadata_url: z.string().nullable(),
        metadata_xml: z.string().nullable(),
        certificate: z.string().nullable(),
        private_key_set: z.boolean(),
        acs_url: z.string().describe('Register it at the identity provider'),
        logout_url: z.string().describe('For single logout; register it at the identity provider'),
        entity_id: z.string(),
      })
      .nullable(),
    provisioning: z.object({
      default_role: z.enum(['admin', 'member']),
      default_workspaces: shownWorkspaces(),
      role_claim: z.string().nullable(),
      role_mappings: z.array(
        z.object({
          value: z.string(),
          organisation_role: z.enum(organisationRoles).nullable(),
          workspaces: shownWorkspaces(),
        }),
      ),
    }),
    verified_at: z.string().nullable().describe('When somebody first signed in with this set-up; null: nobody has'),
  }),
);

export const redirectUri = (origin: string): string => `${origin}/v2/auth/callback`;
export const backchannelLogoutUri = (origin: string, organisationId: string): string =>
  `${origin}/v2/auth/oidc/logout/${organisationId}`;
export const entityId = (origin: string): string => `${origin}/v2/auth/saml`;
export const acsUrl = (origin: string, organisationId: string): string =>
  `${origin}/v2/auth/saml/callback/${organisationId}`;

export const logoutUrl = (origin: string, organisationId: string): string =>
  `${origin}/v2/auth/saml/logout/${organisationId}`;

export function asSsoReply(row: AuthSettingsTable, secrets: SsoSecrets, origin: string) {
  if (row.sso === null) return null;
  const { type, oidc, saml, provisioning } = decode(row.sso);
  return {
    type,
    oidc: oidc && {
      ...oidc,
      client_secret_set: secrets.client_secret !== null,
      jwks_set: secrets.jwks !== null,
      redirect_uri: redirectUri(origin),
      backchannel_logout_uri: backchannelLogoutUri(origin, row.organisation_id),
    },
    saml: saml && {
      ...saml,
      certificate: saml.certificate ?? null,
      private_key_set: typeof secrets.saml_private_key === 'string',
      acs_url: acsUrl(origin, row.organisation_id),
      logout_url: logoutUrl(origin, row.organisation_id),
      entity_id: entityId(origin),
    },
    provisioning,
    verified_at: row.sso_verified_at,
  };
}

const noSecrets: SsoSecrets = { client_secret: null, jwks: null };

export const secretsOf = (row: AuthSettingsTable, vault: Vault): SsoSecrets =>
  row.sso_secrets_sealed === null ? noSecrets : JSON.parse(vault.open(row.sso_secrets_sealed, ssoSecretsPurpose));

export interface ChangedSso {
  settings: SsoSettings;
  secrets: SsoSecrets;
}

const defaultScopes = ['openid', 'profile', 'email', 'offline_access'];
const noProvisioning: Provisioning = {
  default_role: 'member',
  default_workspaces: [],
  role_claim: null,
  role_mappings: [],
};

/** The set-up after a change; what is not sent stays. Throws where it cannot be one. */
export async function changedSso(
  db: Db,
  caller: Caller,
  before: ChangedSso | null,
  input: SsoInput,
  trustedHosts: TrustedHosts,
): Promise<ChangedSso> {
  const type = input.type ?? before?.settings.type ?? (input.oidc ? 'oidc' : input.saml ? 'saml' : null);
  if (!type) throw invalid('sso.type', 'must be oidc or saml');
  const oidc = oidcAfter(before, input, trustedHosts);
  const saml = samlAfter(before, input, trustedHosts);
  if (type === 'oidc' && !oidc.settings) throw invalid('sso.oidc', 'is required for the type oidc');
  if (type === 'saml' && !saml) throw invalid('sso.saml', 'is required for the type saml');
  const provisioning = await provisioningAfter(db, caller, before?.settings.provisioning ?? noProvisioning, input);
  const saml_private_key = samlKeyAfter(before, input, saml);
  return {
    settings: { type, oidc: oidc.settings, saml, provisioning },
    secrets: { ...oidc.secrets, saml_private_key },
  };
}

/** The private key of our certificate; a certificate and its key come and go together. */
function samlKeyAfter(before: ChangedSso | null, { saml: input }: SsoInput, saml: SamlSettings | null): string | null {
  const kept = before?.secrets.saml_private_key ?? null;
  const key = saml === null ? null : input?.private_key === undefined ? kept : input.private_key;
  const certificate = saml?.certificate ?? null;
  if (certificate === null && key === null) return null;
  if (certificate === null) throw invalid('sso.saml.certificate', 'must be sent together with private_key');
  if (key === null) throw invalid('sso.saml.private_key', 'must be sent together with certificate');
  const fault = faultOfKeyPair(certificate, key);
  if (fault) throw invalid(`sso.saml.${fault.field}`, fault.message);
  return key;
}

function faultOfKeyPair(certificate: string, key: string): { field: string; message: string } | null {
  const read = <T>(of: () => T): T | null => {
    try {
      return of();
    } catch {
      return null;
    }
  };
  const parsed = read(() => new X509Certificate(certificate));
  if (parsed?.publicKey.asymmetricKeyType !== 'rsa') {
    return { field: 'certificate', message: 'must be a certificate of an RSA key, in PEM' };
  }
  if ((parsed.publicKey.asymmetricKeyDetails?.modulusLength ?? 0) < 2_048) {
    return { field: 'certificate', message: 'must be of a key of at least 2048 bits' };
  }
  const privateKey = read(() => createPrivateKey(key));
  if (!privateKey) return { field: 'private_key', message: 'must be a private key without a password, in PEM' };
  return parsed.checkPrivateKey(privateKey)
    ? null
    : { field: 'private_key', message: 'is not the private key of the certificate' };
}

function oidcAfter(before: ChangedSso | null, { oidc: input }: SsoInput, trustedHosts: TrustedHosts) {
  const stored = before?.settings.oidc ?? null;
  const secrets = before?.secrets ?? noSecrets;
  if (input === undefined) return { settings: stored, secrets };
  if (input === null) return { settings: null, secrets: noSecrets };
  const issuer_url = input.issuer_url ?? stored?.issuer_url;
  const client_id = input.client_id ?? stored?.client_id;
  if (!issuer_url) throw invalid('sso.oidc.issuer_url', 'is required');
  if (!client_id) throw invalid('sso.oidc.client_id', 'is required');
  const fault = faultOfAddress(issuer_url, trustedHosts);
  if (fault) throw invalid('sso.oidc.issuer_url', fault);
  const holdsSecrets = secrets.client_secret !== null || secrets.jwks !== null;
  const sendsSecrets = input.client_secret !== undefined || input.jwks !== undefined;
  // Whoever may change the address must not learn the secret that was kept for another one.
  if (stored && stored.issuer_url !== issuer_url && holdsSecrets && !sendsSecrets) {
    throw invalid('sso.oidc.client_secret', 'must be sent again with another issuer_url');
  }
  const moved = stored !== null && stored.issuer_url !== issuer_url;
  const kept = moved ? noSecrets : secrets;
  const after: SsoSecrets = {
    client_secret: input.client_secret === undefined ? kept.client_secret : input.client_secret,
    jwks: input.jwks === undefined ? kept.jwks : input.jwks,
  };
  const token_endpoint_auth_method =
    input.token_endpoint_auth_method ??
    (input.jwks ? 'private_key_jwt' : (stored?.token_endpoint_auth_method ?? 'client_secret_basic'));
  if (token_endpoint_auth_method === 'private_key_jwt' && after.jwks === null) {
    throw invalid('sso.oidc.jwks', 'is required for private_key_jwt');
  }
  const scopes = [...new Set(['openid', ...(input.scopes ?? stored?.scopes ?? defaultScopes)])];
  return { settings: { issuer_url, client_id, token_endpoint_auth_method, scopes }, secrets: after };
}

function samlAfter(before: ChangedSso | null, { saml: input }: SsoInput, trustedHosts: TrustedHosts) {
  const stored = before?.settings.saml ?? null;
  if (input === undefined) return stored;
  if (input === null) return null;
  const after = {
    metadata_url: input.metadata_url === undefined ? (stored?.metadata_url ?? null) : input.metadata_url,
    metadata_xml: input.metadata_xml === undefined ? (stored?.metadata_xml ?? null) : input.metadata_xml,
    certificate: input.certificate === undefined ? (stored?.certificate ?? null) : input.certificate,
  };
  if (input.metadata_url && input.metadata_xml === undefined) after.metadata_xml = null;
  if (input.metadata_xml && input.metadata_url === undefined) after.metadata_url = null;
  if ((after.metadata_url === null) === (after.metadata_xml === null)) {
    throw invalid('sso.saml.metadata_url', 'give metadata_url or metadata_xml, one of the two');
  }
  const fault = after.metadata_url === null ? null : faultOfAddress(after.metadata_url, trustedHosts);
  if (fault) throw invalid('sso.saml.metadata_url', fault);
  return after;
}

/** Nobody lets the identity provider give what they could not give themselves. */
async function provisioningAfter(
  db: Db,
  caller: Caller,
  stored: Provisioning,
  { provisioning: input }: SsoInput,
): Promise<Provisioning> {
  if (!input) return stored;
  const { organisationId } = caller;
  const { organisationSettings } = await keyPlace(db, organisationId, null);
  const found = async (path: string, granted: readonly GrantedWorkspace[]): Promise<GrantedWorkspace[]> => {
    const list: GrantedWorkspace[] = [];
    for (const [index, { workspace_id, role }] of granted.entries()) {
      const workspace = await findWorkspace(db, organisationId, workspace_id);
      if (workspace?.status !== 'active') {
        throw invalid(`${path}.${index}.workspace_id`, 'names no workspace of the organisation');
      }
      const { settings } = await keyPlace(db, organisationId, workspace.id);
      const beyond = workspaceRoleBeyond(caller, workspace.id, role, settings);
      if (beyond) throw forbidden(beyond);
      list.push({ workspace_id: workspace.id, role });
    }
    return list;
  };
  const requireRole = (role: 'owner' | 'admin' | 'member' | null): void => {
    if (role === 'owner' && !(caller.kind === 'session' && caller.role === 'owner')) {
      throw forbidden('Only an owner lets the identity provider make others owners');
    }
    const beyond = role === 'admin' ? organisationRoleBeyond(caller, role, organisationSettings) : null;
    if (beyond) throw forbidden(beyond);
  };
  if (input.default_role) requireRole(input.default_role);
  const mappings: Provisioning['role_mappings'] = [];
  for (const [index, mapping] of (input.role_mappings ?? []).entries()) {
    const organisation_role = mapping.organisation_role ?? null;
    requireRole(organisation_role);
    const path = `sso.provisioning.role_mappings.${index}.workspaces`;
    mappings.push({ value: mapping.value, organisation_role, workspaces: await found(path, mapping.workspaces ?? []) });
  }
  const role_claim = input.role_claim === undefined ? stored.role_claim : input.role_claim;
  return {
    default_role: input.default_role ?? stored.default_role,
    default_workspaces: input.default_workspaces
      ? await found('sso.provisioning.default_workspaces', input.default_workspaces)
      : stored.default_workspaces,
    role_claim,
    role_mappings: input.role_mappings ? mappings : stored.role_mappings,
  };
}

/** What the audit trail tells of a set-up: everything but its secrets and documents. */
export const toldSso = (sso: SsoSettings | null) =>
  sso && { ...sso, saml: sso.saml && { ...sso.saml, metadata_xml: sso.saml.metadata_xml === null ? null : 'given' } };
