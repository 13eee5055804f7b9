/** How calls to AWS are authorised and where they go: the settings that every service of it shares. */
import type { Authentication, AwsCredentials } from '../authentication.ts';
import { RequestFault } from '../faults.ts';
import { isObject, wordOf } from '../json.ts';
import type { CallFacts, ProviderField, TargetFields } from '../provider.ts';
import { needSetting, setting } from '../settings.ts';

const defaultRegion = 'us-east-1';

/** An ARN names the region of what it points to. */
const regionOfArn = (name: string): string | null => /^arn:[^:]+:[^:]+:([a-z0-9-]+):/.exec(name)?.[1] ?? null;

/** Where the call goes: to the region of the model's ARN, else to the one of the settings. */
export function awsRegion({ model, fields }: Pick<CallFacts, 'model' | 'fields'>): string {
  const region = regionOfArn(model) ?? setting(fields, 'aws_region') ?? defaultRegion;
  if (/^[a-z0-9-]{1,63}$/.test(region)) return region;
  throw new RequestFault('aws_region', 'the setting aws_region may hold only small letters, digits and hyphens');
}

/** Each partition of AWS has a domain, and ARNs, of its own. */
export const awsPartition = (region: string): string =>
  region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';

/** Credentials and contents must not leave for a domain that is not AWS's own. */
const ownDomain = /^(?:[a-z0-9-]+\.)*(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

function awsDomain(region: string, fields: TargetFields): string {
  const domain = setting(fields, 'endpoint_domain');
  if (domain === null) return region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  if (ownDomain.test(domain)) return domain;
  throw new RequestFault('endpoint_domain', 'the setting endpoint_domain must be a domain of AWS');
}

/** The address of a service, such as `bedrock-runtime`, in the call's region. A custom host stands for all of the provider's services. */
export function awsAddress(service: string, facts: Pick<CallFacts, 'model' | 'fields' | 'customHost'>): string {
  const region = awsRegion(facts);
  return facts.customHost?.replace(/\/$/, '') ?? `https://${service}.${region}.${awsDomain(region, facts.fields)}`;
}

/** Null where an API key of AWS is the credential. */
export function awsAuthentication(facts: CallFacts, service: string): Authentication | null {
  const credentials = awsCredentials(facts);
  return credentials && { kind: 'aws', service, region: awsRegion(facts), credentials };
}

/** The header of an API key; none where calls are signed. Refuses a target without any credentials before it is called. */
export function awsHeaders(facts: CallFacts): Record<string, string> {
  return awsCredentials(facts) || facts.credential === null ? {} : { authorization: `Bearer ${facts.credential}` };
}

function awsCredentials({ fields, credential }: CallFacts): AwsCredentials | null {
  const way = setting(fields, 'aws_auth_type');
  switch (way ?? impliedWay(fields, credential)) {
    case 'accessKey':
      return keysOf(fields);
    case 'assumedRole':
      return {
        from: 'role',
        roleArn: needSetting(fields, 'aws_role_arn'),
        externalId: setting(fields, 'aws_external_id'),
        tags: tagsOf(fields),
        with: hasKeys(fields) ? keysOf(fields) : null,
      };
    case 'serviceRole':
      return { from: 'gateway' };
    case 'apiKey':
      if (credential !== null) return null;
      throw new RequestFault('aws_auth_type', 'no API key for AWS: save one on the integration, or send it along');
    default:
      throw new RequestFault(
        'aws_auth_type',
        'aws_auth_type must be accessKey, assumedRole, serviceRole or apiKey, with the settings that belong to it',
      );
  }
}

/** The gateway's own identity is never used unless it is asked for. */
function impliedWay(fields: TargetFields, credential: string | null): string | null {
  if (setting(fields, 'aws_role_arn')) return 'assumedRole';
  if (hasKeys(fields)) return 'accessKey';
  return credential === null ? null : 'apiKey';
}

const hasKeys = (fields: TargetFields): boolean => setting(fields, 'aws_access_key_id') !== null;

const keysOf = (fields: TargetFields): Extract<AwsCredentials, { from: 'keys' }> => ({
  from: 'keys',
  accessKeyId: needSetting(fields, 'aws_access_key_id'),
  secretAccessKey: needSetting(fields, 'aws_secret_access_key'),
  sessionToken: setting(fields, 'aws_session_token'),
});

const tagsOf = ({ aws_session_tags: tags }: TargetFields): Record<string, string> =>
  isObject(tags) ? Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, wordOf(value)])) : {};

export const awsFields: readonly ProviderField[] = [
  {
    name: 'aws_region',
    required: true,
    about: `The region, such as eu-central-1; ${defaultRegion} where none is given.`,
  },
  {
    name: 'aws_auth_type',
    about:
      'How to authenticate: with a pair of keys, a role of yours, the identity of the gateway itself, or a bearer key of AWS.',
  },
  {
    name: 'aws_access_key_id',
    about: 'The access key, for accessKey; for assumedRole, what the role is assumed with.',
  },
  { name: 'aws_secret_access_key', about: 'The secret of the access key.' },
  { name: 'aws_session_token', about: 'The session token of temporary keys.' },
  { name: 'aws_role_arn', about: 'The role to assume. Without an access key the gateway assumes it as itself.' },
  { name: 'aws_external_id', about: 'The external id that the role asks for.' },
  { name: 'aws_session_tags', about: 'Tags of the session of an assumed role, by name.' },
  { name: 'endpoint_domain', about: 'Another domain of AWS than amazonaws.com, such as api.aws.' },
];
