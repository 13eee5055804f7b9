/** Short-lived keys from AWS's token service: for a role that is assumed with other keys, or with a token of the platform. */
import { GatewayError } from '../errors.ts';
import type { AuthorisedRequest, CredentialDeps } from './authorise.ts';
import { type AwsKeys, signed } from './aws-signature.ts';
import type { Token } from './token-cache.ts';

interface RoleToAssume {
  roleArn: string;
  externalId: string | null;
  tags: Readonly<Record<string, string>>;
  region: string;
}

export async function assumedRole(
  { roleArn, externalId, tags, region }: RoleToAssume,
  keys: AwsKeys,
  surroundings: CredentialDeps,
): Promise<Token<AwsKeys>> {
  const request = asked(region, surroundings, {
    Action: 'AssumeRole',
    RoleArn: roleArn,
    RoleSessionName: sessionName,
    ...(externalId !== null && { ExternalId: externalId }),
    ...Object.fromEntries(
      Object.entries(tags).flatMap(([name, value], index) => [
        [`Tags.member.${index + 1}.Key`, name],
        [`Tags.member.${index + 1}.Value`, value],
      ]),
    ),
  });
  const signature = await signed(request, keys, { service: 'sts', region, at: surroundings.now() });
  const carried = { ...request, headers: { ...request.headers, ...signature } };
  return answered(carried, `the role ${roleArn}`, surroundings);
}

interface WebIdentity {
  tokenFile: string;
  roleArn: string;
  region: string;
}

/** The platform renews the token in its file, so that it is read each time. */
export async function webIdentity(
  { tokenFile, roleArn, region }: WebIdentity,
  surroundings: CredentialDeps,
): Promise<Token<AwsKeys>> {
  const token = await surroundings.readFile(tokenFile).catch(() => {
    throw new GatewayError('missing_credential', 'the file that AWS_WEB_IDENTITY_TOKEN_FILE names cannot be read');
  });
  const request = asked(region, surroundings, {
    Action: 'AssumeRoleWithWebIdentity',
    RoleArn: roleArn,
    RoleSessionName: surroundings.env.AWS_ROLE_SESSION_NAME || sessionName,
    WebIdentityToken: token.trim(),
  });
  return answered(request, `the gateway's own role ${roleArn}`, surroundings);
}

const sessionName = 'gw';

function asked(region: string, { env }: CredentialDeps, parameters: Record<string, string>): AuthorisedRequest {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return {
    url: env.AWS_ENDPOINT_URL_STS || `https://sts.${region}.${domain}/`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(new URLSearchParams({ ...parameters, Version: '2011-06-15' }).toString()),
  };
}

const timeoutMs = 10_000;

async function answered(
  { url, method, headers, body }: AuthorisedRequest,
  whose: string,
  { fetch }: CredentialDeps,
): Promise<Token<AwsKeys>> {
  const { response, xml } = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(timeoutMs) })
    .then(async (answer) => ({ response: answer, xml: await answer.text() }))
    .catch(() => {
      throw new GatewayError('upstream_unreachable', `AWS cannot be reached for credentials for ${whose}`);
    });
  if (!response.ok) {
    const reason = textIn(xml, 'Message') ?? `status ${response.status}`;
    throw new GatewayError('upstream_refused', `AWS gave no credentials for ${whose}: ${reason}`, {
      status: response.status >= 500 ? 502 : response.status,
    });
  }
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map((name) => textIn(xml, name));
  if (!accessKeyId || !secretAccessKey || !sessionToken || !expiration) {
    throw new GatewayError('invalid_provider_response', `AWS answered without credentials for ${whose}`);
  }
  return { value: { accessKeyId, secretAccessKey, sessionToken }, expiresAt: Date.parse(expiration) };
}

/** The answers are flat enough that a reader of XML would be no safer. */
function textIn(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return found?.replace(/&(amp|lt|gt|quot|#39|apos);/g, (entity) => entities[entity] ?? entity) ?? null;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&apos;': "'",
};
