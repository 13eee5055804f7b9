/** Google Cloud: a token for a service account, for the machine that the gateway runs on, or for a workload that another platform vouches for. */
import { objectOf, textOf } from '../../providers/json.ts';
import { GatewayError } from '../errors.ts';
import type { Authorise, CredentialDeps } from './authorise.ts';
import { askForServiceAccount } from './google-service-account.ts';
import { requireService } from './own-identity.ts';
import type { Token } from './token-cache.ts';
import { askToken } from './token-service.ts';

export const google: Authorise<'google'> = async (authentication, { url }, around) => {
  const { credentials, scope } = authentication;
  if (credentials.from === 'gateway') requireService(url, 'Google', (host) => googleServices.test(host), around);
  const token = await around.tokens.get(authentication, async () =>
    credentials.from === 'gateway'
      ? askAsGateway(scope, around)
      : askForServiceAccount(credentials.json, scope, around),
  );
  return { authorization: `Bearer ${token}` };
};

const googleServices =
  /^(?:(?:[a-z0-9-]+-)?aiplatform|aiplatform\.[a-z]+\.rep|discoveryengine|texttospeech|speech|storage)\.googleapis\.com$/;

function askAsGateway(scope: string, around: CredentialDeps): Promise<Token<string>> {
  const { GCP_AUTH_MODE: mode, GCP_WIF_AUDIENCE: audience } = around.env;
  if (audience) return askFederated(audience, scope, around);
  if (mode === 'workload') return askMachine(around);
  throw new GatewayError(
    'missing_credential',
    'the gateway has no identity of its own at Google: its operator sets GCP_AUTH_MODE=workload or GCP_WIF_AUDIENCE',
  );
}

/** Google's own libraries read the same variable. */
function askMachine(around: CredentialDeps): Promise<Token<string>> {
  const host = around.env.GCE_METADATA_HOST || 'metadata.google.internal';
  const path = '/computeMetadata/v1/instance/service-accounts/default/token';
  return askToken(around, 'the metadata server', `http://${host}${path}`, {
    method: 'GET',
    headers: { 'metadata-flavor': 'Google' },
  });
}

const type = (kind: string): string => `urn:ietf:params:oauth:token-type:${kind}`;

/** A token of the platform that the gateway runs on is exchanged, and where a service account is named, its token is borrowed with that. */
async function askFederated(audience: string, scope: string, around: CredentialDeps): Promise<Token<string>> {
  const exchanged = await askToken(around, 'Google', 'https://sts.googleapis.com/v1/token', {
    method: 'POST',
    form: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience,
      scope,
      requested_token_type: type('access_token'),
      subject_token_type: type('jwt'),
      subject_token: await platformToken(around),
    },
  });
  const account = around.env.GCP_WIF_SERVICE_ACCOUNT_EMAIL;
  return account ? borrow(account, scope, exchanged.value, around) : exchanged;
}

/** The platform renews the file, so it is read for every token. */
async function platformToken({ env, readFile }: CredentialDeps): Promise<string> {
  const file = env.GCP_WIF_TOKEN_FILE || env.AWS_WEB_IDENTITY_TOKEN_FILE || env.AZURE_FEDERATED_TOKEN_FILE;
  if (!file) {
    throw new GatewayError('missing_credential', 'GCP_WIF_AUDIENCE needs GCP_WIF_TOKEN_FILE, the platform’s own token');
  }
  const token = await readFile(file).catch(() => {
    throw new GatewayError('missing_credential', 'the file of the platform’s own token cannot be read');
  });
  return token.trim();
}

const timeoutMs = 15_000;

async function borrow(
  account: string,
  scope: string,
  token: string,
  { fetch }: CredentialDeps,
): Promise<Token<string>> {
  const address = `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`;
  const response = await fetch(address, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scope: [scope] }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => {
    throw new GatewayError('upstream_unreachable', 'Google cannot be reached for a token');
  });
  const answer = objectOf(await response.json().catch(() => null));
  const value = textOf(answer.accessToken);
  const expiresAt = Date.parse(textOf(answer.expireTime) ?? '');
  if (!response.ok || !value || Number.isNaN(expiresAt)) {
    const words = textOf(objectOf(answer.error).message) ?? `status ${response.status}`;
    throw new GatewayError('upstream_refused', `Google gave no token for ${account}: ${words}`);
  }
  return { value, expiresAt };
}
