/** Where the keys that sign calls to AWS come from: the target, a role, or the platform that the gateway runs on. */
import type { AwsCredentials } from '../../providers/authentication.ts';
import { GatewayError } from '../errors.ts';
import type { CredentialDeps } from './authorise.ts';
import { containerKeys, instanceKeys } from './aws-platform.ts';
import type { AwsKeys } from './aws-signature.ts';
import { assumedRole, webIdentity } from './aws-sts.ts';

export function awsKeys(
  credentials: AwsCredentials,
  region: string,
  surroundings: CredentialDeps,
): AwsKeys | Promise<AwsKeys> {
  if (credentials.from === 'keys') return credentials;
  if (credentials.from === 'gateway') return gatewayKeys(region, surroundings);
  const { roleArn, externalId, tags, with: own } = credentials;
  const asked = { roleArn, externalId, tags, region };
  // The same role may be open to one set of keys and closed to another.
  return surroundings.tokens.get({ aws: 'role', ...asked, with: own }, async () => {
    const keys = own ?? (await lendingKeys(region, surroundings));
    return assumedRole(asked, keys, surroundings);
  });
}

/** What the gateway assumes customers' roles with: itself, or a role between, which their policies name instead of its own. */
async function lendingKeys(region: string, surroundings: CredentialDeps): Promise<AwsKeys> {
  const { env, tokens } = surroundings;
  const roleArn = env.AWS_ASSUME_ROLE_SOURCE_ARN;
  if (!roleArn) return gatewayKeys(region, surroundings);
  const asked = { roleArn, externalId: env.AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID || null, tags: {}, region };
  return tokens.get({ aws: 'source-role', ...asked }, async () =>
    assumedRole(asked, await gatewayKeys(region, surroundings), surroundings),
  );
}

/** The gateway's own identity, looked for in the order in which AWS's own tools look for theirs. */
async function gatewayKeys(region: string, surroundings: CredentialDeps): Promise<AwsKeys> {
  const { env, tokens } = surroundings;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN || null };
  }
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: roleArn } = env;
  if (tokenFile && roleArn) {
    return tokens.get({ aws: 'web-identity', tokenFile, roleArn, region }, () =>
      webIdentity({ tokenFile, roleArn, region }, surroundings),
    );
  }
  if (env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI || env.AWS_CONTAINER_CREDENTIALS_FULL_URI) {
    return tokens.get({ aws: 'container' }, () => containerKeys(surroundings));
  }
  if (env.AWS_EC2_METADATA_DISABLED?.toLowerCase() !== 'true') {
    return tokens.get({ aws: 'instance' }, () => instanceKeys(surroundings));
  }
  throw new GatewayError(
    'missing_credential',
    'the gateway has no AWS identity of its own: save an access key or an API key on the integration',
  );
}
