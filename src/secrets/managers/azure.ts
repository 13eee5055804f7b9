/** Azure Key Vault: an application with a secret, a managed identity, or the identity that the platform has set up. */
import { z } from 'zod';
import { jsonOrNothing } from '../../bounded-json.ts';
import { lazy } from '../../lazy.ts';
import type { EntraCredentials } from '../../providers/authentication.ts';
import { type AuthConfig, faultOfStatus, type ManagerMeans, nonsense, type SecretManager } from '../manager.ts';
import { callWithToken } from './authorised.ts';
import { address, below, bounded } from './fields.ts';

const shared = () => ({ azure_vault_url: address() });

const authConfig = lazy(() =>
  z.discriminatedUnion('azure_auth_mode', [
    z.object({
      azure_auth_mode: z.literal('entra'),
      azure_entra_tenant_id: bounded(256),
      azure_entra_client_id: bounded(256),
      azure_entra_client_secret: bounded(),
      ...shared(),
    }),
    z.object({ azure_auth_mode: z.literal('managed'), azure_managed_client_id: bounded(256).optional(), ...shared() }),
    z.object({ azure_auth_mode: z.literal('default'), ...shared() }),
  ]),
);

/** `default` is what the platform has: a federated token where it keeps one, else the machine's managed identity. */
function credentialsOf(auth: AuthConfig, { env }: ManagerMeans): EntraCredentials {
  if (auth.azure_auth_mode === 'entra') {
    return {
      from: 'client',
      tenantId: auth.azure_entra_tenant_id ?? '',
      clientId: auth.azure_entra_client_id ?? '',
      clientSecret: auth.azure_entra_client_secret ?? '',
    };
  }
  if (auth.azure_auth_mode === 'default' && env.AZURE_FEDERATED_TOKEN_FILE) {
    return { from: 'workload', tenantId: null, clientId: null };
  }
  return { from: 'managed', clientId: auth.azure_managed_client_id ?? null };
}

/** A token is made out for the vaults of one cloud. */
const audiences = ['vault.azure.net', 'vault.azure.cn', 'vault.usgovcloudapi.net', 'vault.microsoftazure.de'];

const scopeFor = (vaultUrl: string): string => {
  const host = URL.parse(vaultUrl)?.hostname ?? '';
  return `https://${audiences.find((audience) => host.endsWith(`.${audience}`)) ?? audiences[0]}/.default`;
};

const answered = lazy(() => z.object({ value: z.string() }));
const refused = lazy(() => z.object({ error: z.object({ code: z.string() }) }));

export const azureKeyVault: SecretManager = {
  authConfig: authConfig as () => z.ZodType<AuthConfig>,
  maskedFields: new Set(['azure_entra_client_secret']),
  addressFields: ['azure_vault_url'],
  faultOfPath: (path) =>
    /^[0-9A-Za-z-]{1,127}(\/[0-9a-f]{32})?$/.test(path)
      ? null
      : 'must be the name of a secret, with its version behind a slash where one is meant',
  async fetch({ auth, path }, means) {
    const vault = auth.azure_vault_url ?? '';
    const call = {
      url: `${below(vault, `secrets/${path}`)}?api-version=7.4`,
      method: 'GET' as const,
      headers: { accept: 'application/json' },
    };
    const authentication = { kind: 'entra' as const, credentials: credentialsOf(auth, means), scope: scopeFor(vault) };
    const { status, text } = await callWithToken(means, authentication, call);
    const json = jsonOrNothing(text);
    if (status !== 200) throw faultOfStatus(status, refused().safeParse(json).data?.error.code);
    const parsed = answered().safeParse(json);
    if (!parsed.success) throw nonsense();
    return parsed.data.value;
  },
};
