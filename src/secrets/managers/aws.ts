/** AWS Secrets Manager: GetSecretValue, signed with access keys, an assumed role or the gateway's own role. */
import { z } from 'zod';
import { jsonOrNothing } from '../../bounded-json.ts';
import { lazy } from '../../lazy.ts';
import type { AwsCredentials } from '../../providers/authentication.ts';
import { type AuthConfig, faultOfStatus, nonsense, type SecretManager } from '../manager.ts';
import { bounded } from './fields.ts';

/** It becomes part of a host name. */
const region = () => z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be the name of a region, such as eu-central-1');

const authConfig = lazy(() =>
  z.discriminatedUnion('aws_auth_type', [
    z.object({
      aws_auth_type: z.literal('accessKey'),
      aws_access_key_id: bounded(),
      aws_secret_access_key: bounded(),
      aws_region: region(),
    }),
    z.object({
      aws_auth_type: z.literal('assumedRole'),
      aws_role_arn: bounded().regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/.+$/, 'must be the ARN of a role'),
      aws_external_id: bounded().optional(),
      aws_region: region(),
    }),
    z.object({ aws_auth_type: z.literal('serviceRole'), aws_region: region().optional() }),
  ]),
);

function credentialsOf(auth: AuthConfig): AwsCredentials {
  const { aws_access_key_id: accessKeyId = '', aws_secret_access_key: secretAccessKey = '' } = auth;
  if (auth.aws_auth_type === 'accessKey') return { from: 'keys', accessKeyId, secretAccessKey, sessionToken: null };
  if (auth.aws_auth_type === 'serviceRole') return { from: 'gateway' };
  return {
    from: 'role',
    roleArn: auth.aws_role_arn ?? '',
    externalId: auth.aws_external_id ?? null,
    tags: {},
    with: null,
  };
}

const answered = lazy(() => z.object({ SecretString: z.string().optional(), SecretBinary: z.string().optional() }));
const refused = lazy(() => z.object({ __type: z.string() }));

export const awsSecretsManager: SecretManager = {
  authConfig: authConfig as () => z.ZodType<AuthConfig>,
  maskedFields: new Set(['aws_secret_access_key', 'aws_access_key_id', 'aws_role_arn', 'aws_external_id']),
  addressFields: [],
  async fetch({ auth, path }, means) {
    const { env } = means;
    const region = auth.aws_region || env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1';
    const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    const own = env.AWS_ENDPOINT_URL_SECRETS_MANAGER;
    const call = {
      url: own || `https://secretsmanager.${region}.${domain}/`,
      method: 'POST' as const,
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' },
      body: JSON.stringify({ SecretId: path }),
      fromOperator: Boolean(own),
    };
    const credentials = credentialsOf(auth);
    const signature = await means.authorise({ kind: 'aws', service: 'secretsmanager', region, credentials }, call);
    const { status, text } = await means.call({ ...call, headers: { ...call.headers, ...signature } });
    const json = jsonOrNothing(text);
    if (status !== 200) {
      const code = refused().safeParse(json).data?.__type.replace(/^.*#/, '');
      throw faultOfStatus(temporary.has(code ?? '') ? 503 : status, code);
    }
    const { SecretString, SecretBinary } = answered().safeParse(json).data ?? {};
    if (SecretString !== undefined) return SecretString;
    if (SecretBinary !== undefined) return Buffer.from(SecretBinary, 'base64').toString('utf8');
    throw nonsense();
  },
};

/** Refusals with a 4xx that only ask for patience. */
const temporary = new Set(['ThrottlingException', 'RequestLimitExceeded', 'TooManyRequestsException']);
