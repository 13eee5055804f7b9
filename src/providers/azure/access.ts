/** How calls to Azure are authorised: with a ready token, as an identity of Entra, or with the resource's key, in this order. */
import type { Authentication, EntraCredentials } from '../authentication.ts';
import { RequestFault } from '../faults.ts';
import type { CallFacts, ProviderField, TargetFields } from '../provider.ts';
import { needSetting, setting } from '../settings.ts';

const keyModes = new Set(['apiKey', 'default']);

const usualScope = 'https://cognitiveservices.azure.com/.default';

export function azureAuthentication({ fields }: CallFacts): Authentication | null {
  if (readyToken(fields) !== null) return null;
  const credentials = identityOf(fields);
  if (!credentials) return null;
  const scope = setting(fields, 'azure_entra_scope') ?? usualScope;
  if (credentials.from !== 'client' && !modelScopes.has(scope)) {
    throw new RequestFault(
      'azure_entra_scope',
      "azure_entra_scope must name a model service of Azure where the gateway's own identity asks for the token",
    );
  }
  return { kind: 'entra', credentials, scope };
}

/** What the gateway's own identity is lent for, in the public, the government's and the Chinese cloud. */
const modelScopes: ReadonlySet<string> = new Set(
  [
    'cognitiveservices.azure.com',
    'cognitiveservices.azure.us',
    'cognitiveservices.azure.cn',
    'ai.azure.com',
    'ai.azure.us',
    'ml.azure.com',
    'ml.azure.us',
    'ml.azure.cn',
  ].map((service) => `https://${service}/.default`),
);

const storageScope = 'https://storage.azure.com/.default';

/** For blobs, which only an application of the customer's may read: what the gateway itself can read there may be another's. */
export function storageAuthentication({ fields }: CallFacts): Authentication | null {
  const credentials = identityOf(fields);
  return credentials?.from === 'client' ? { kind: 'entra', credentials, scope: storageScope } : null;
}

/** The header of a ready token, or of the key under this name; none where a token will be fetched. */
export function azureHeaders(
  { fields, credential }: CallFacts,
  keyed: (key: string) => Record<string, string>,
): Record<string, string> {
  const token = readyToken(fields);
  if (token !== null) return { authorization: `Bearer ${token}` };
  return identityOf(fields) || credential === null ? {} : keyed(credential);
}

const readyToken = (fields: TargetFields): string | null =>
  setting(fields, 'azure_ad_token')?.replace(/^Bearer\s+/i, '') ?? null;

function identityOf(fields: TargetFields): EntraCredentials | null {
  const mode = setting(fields, 'azure_auth_mode') ?? 'default';
  if (keyModes.has(mode)) return null;
  switch (mode) {
    case 'entra':
      return {
        from: 'client',
        tenantId: needSetting(fields, 'azure_entra_tenant_id'),
        clientId: needSetting(fields, 'azure_entra_client_id'),
        clientSecret: needSetting(fields, 'azure_entra_client_secret'),
      };
    case 'managed':
      return { from: 'managed', clientId: setting(fields, 'azure_managed_client_id') };
    case 'workload':
      return {
        from: 'workload',
        tenantId: setting(fields, 'azure_workload_tenant_id'),
        clientId: setting(fields, 'azure_workload_client_id'),
      };
    case 'entraFederated':
    case 'federated':
      return {
        from: 'workload',
        tenantId: setting(fields, 'azure_entra_tenant_id'),
        clientId: setting(fields, 'azure_entra_client_id'),
      };
    default:
      throw new RequestFault(
        'azure_auth_mode',
        'azure_auth_mode must be default, apiKey, entra, managed, workload or entraFederated',
      );
  }
}

export const accessFields: readonly ProviderField[] = [
  {
    name: 'azure_auth_mode',
    about: 'How to authenticate; with default, the key does.',
  },
  { name: 'azure_ad_token', about: 'A token of Entra that is ready to use; it stands over every other way.' },
  { name: 'azure_entra_tenant_id', about: 'The tenant of the application, for entra and entraFederated.' },
  { name: 'azure_entra_client_id', about: 'The id of the application, for entra and entraFederated.' },
  { name: 'azure_entra_client_secret', about: 'The secret of the application, for entra.' },
  { name: 'azure_entra_scope', about: 'What the token is asked for, where it is not the service itself.' },
  { name: 'azure_managed_client_id', about: 'Which managed identity, where the machine has several.' },
  { name: 'azure_workload_client_id', about: 'The client of the workload identity; else AZURE_CLIENT_ID.' },
  { name: 'azure_workload_tenant_id', about: 'The tenant of the workload identity; else AZURE_TENANT_ID.' },
];
