/** Short-lived keys of the machine or the container that the gateway runs on. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { GatewayError } from '../errors.ts';
import type { CredentialDeps } from './authorise.ts';
import type { AwsKeys } from './aws-signature.ts';
import type { Token } from './token-cache.ts';

const issued = lazy(() =>
  z
    .object({
      AccessKeyId: z.string().min(1),
      SecretAccessKey: z.string().min(1),
      Token: z.string().min(1),
      Expiration: z.string().min(1),
    })
    .transform(
      (keys): Token<AwsKeys> => ({
        value: { accessKeyId: keys.AccessKeyId, secretAccessKey: keys.SecretAccessKey, sessionToken: keys.Token },
        expiresAt: Date.parse(keys.Expiration),
      }),
    ),
);

const containerHost = 'http://169.254.170.2';

/** ECS tells a path on its own host, EKS a full address and the file of a token. */
export async function containerKeys(surroundings: CredentialDeps): Promise<Token<AwsKeys>> {
  const { env } = surroundings;
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const url = relative ? containerHost + relative : (env.AWS_CONTAINER_CREDENTIALS_FULL_URI ?? '');
  const token = await containerToken(surroundings);
  return read(surroundings, url, { headers: token === null ? {} : { authorization: token } });
}

async function containerToken({ env, readFile }: CredentialDeps): Promise<string | null> {
  const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  if (!file) return env.AWS_CONTAINER_AUTHORIZATION_TOKEN ?? null;
  const token = await readFile(file).catch(() => {
    throw new GatewayError('missing_credential', 'the file of the container’s authorization token cannot be read');
  });
  return token.trim();
}

const instanceHost = 'http://169.254.169.254';
const sessionSeconds = '21600';

/** An instance answers only to a session that was opened first, so that a request forged through us gets nothing. */
export async function instanceKeys(surroundings: CredentialDeps): Promise<Token<AwsKeys>> {
  const host = surroundings.env.AWS_EC2_METADATA_SERVICE_ENDPOINT?.replace(/\/$/, '') || instanceHost;
  const session = await ask(surroundings, `${host}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': sessionSeconds },
  });
  const headers = { 'x-aws-ec2-metadata-token': await session.text() };
  const roles = `${host}/latest/meta-data/iam/security-credentials/`;
  const listed = await ask(surroundings, roles, { headers });
  const role = (await listed.text()).split('\n', 1)[0]?.trim() ?? '';
  return read(surroundings, roles + role, { headers });
}

async function read(surroundings: CredentialDeps, url: string, init: RequestInit): Promise<Token<AwsKeys>> {
  const response = await ask(surroundings, url, init);
  const keys = issued().safeParse(await response.json().catch(() => null));
  if (keys.success) return keys.data;
  throw new GatewayError('invalid_provider_response', 'the platform of the gateway answered without AWS credentials');
}

/** A machine that is not on AWS has nobody to ask: the wait for an answer must not be long. */
const timeoutMs = 2_000;

async function ask({ fetch }: CredentialDeps, url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) }).catch(() => null);
  if (response?.ok) return response;
  throw new GatewayError(
    'missing_credential',
    `the platform of the gateway has no AWS credentials for it${response ? ` (status ${response.status})` : ''}`,
  );
}
