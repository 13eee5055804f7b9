/** Microsoft Entra: a token for an application with a secret, for a managed identity, or for a workload that its platform vouches for. */
import type { EntraCredentials } from '../../providers/authentication.ts';
import { GatewayError } from '../errors.ts';
import type { Authorise, CredentialDeps } from './authorise.ts';
import { requireService } from './own-identity.ts';
import type { Token } from './token-cache.ts';
import { askToken } from './token-service.ts';

export const entra: Authorise<'entra'> = async (authentication, { url }, surroundings) => {
  const { credentials, scope } = authentication;
  if (credentials.from !== 'client') {
    requireService(url, 'Azure', (host) => azureServices.test(host), surroundings);
  }
  const token = await surroundings.tokens.get(authentication, () => ask(credentials, scope, surroundings));
  return { authorization: `Bearer ${token}` };
};

const azureServices =
  /\.(?:(?:openai|cognitiveservices|services\.ai|models\.ai|inference\.ml)\.azure\.com|(?:openai|cognitiveservices|inference\.ml)\.azure\.(?:us|cn)|api\.cognitive\.microsoft\.(?:com|us))$/;

function ask(credentials: EntraCredentials, scope: string, around: CredentialDeps): Promise<Token<string>> {
  switch (credentials.from) {
    case 'client':
      return askEntra(around, credentials.tenantId, {
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
        scope,
      });
    case 'workload':
      return askAsWorkload(credentials, scope, around);
    case 'managed':
      return askAsManaged(credentials.clientId, scope.replace(/\/\.default$/, ''), around);
  }
}

const publicAuthority = 'https://login.microsoftonline.com';

function askEntra(around: CredentialDeps, tenantId: string, form: Record<string, string>): Promise<Token<string>> {
  const authority = (around.env.AZURE_AUTHORITY_HOST || publicAuthority).replace(/\/$/, '');
  return askToken(around, 'Entra', `${authority}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`, {
    method: 'POST',
    form: { grant_type: 'client_credentials', ...form },
  });
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The platform renews the file, so it is read for every token. */
async function askAsWorkload(
  { tenantId, clientId }: Extract<EntraCredentials, { from: 'workload' }>,
  scope: string,
  around: CredentialDeps,
): Promise<Token<string>> {
  const { env, readFile } = around;
  const tenant = tenantId ?? fromPlatform(env, 'AZURE_TENANT_ID');
  const client = clientId ?? fromPlatform(env, 'AZURE_CLIENT_ID');
  const file = fromPlatform(env, 'AZURE_FEDERATED_TOKEN_FILE');
  const assertion = await readFile(file).catch(() => {
    throw new GatewayError('missing_credential', 'the file that AZURE_FEDERATED_TOKEN_FILE names cannot be read');
  });
  return askEntra(around, tenant, {
    client_id: client,
    client_assertion_type: assertionType,
    client_assertion: assertion.trim(),
    scope,
  });
}

function fromPlatform(env: CredentialDeps['env'], name: string): string {
  const value = env[name];
  if (value) return value;
  throw new GatewayError('missing_credential', `the gateway has no workload identity: ${name} is not set`);
}

const machineService = 'http://169.254.169.254/metadata/identity/oauth2/token';

/** App Service and Functions name a service of their own; machines ask the one of their host. */
function askAsManaged(clientId: string | null, resource: string, around: CredentialDeps): Promise<Token<string>> {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: secret } = around.env;
  const query = (version: string) =>
    new URLSearchParams({ 'api-version': version, resource, ...(clientId !== null && { client_id: clientId }) });
  const service = 'the service of managed identities';
  return endpoint && secret
    ? askToken(around, service, `${endpoint}?${query('2019-08-01')}`, {
        method: 'GET',
        headers: { 'x-identity-header': secret },
      })
    : askToken(around, service, `${machineService}?${query('2018-02-01')}`, {
        method: 'GET',
        headers: { metadata: 'true' },
      });
}
