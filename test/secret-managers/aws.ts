/** AWS Secrets Manager on loopback: GetSecretValue in JSON 1.1, for callers whose signature is right. */
import { faultOfSignature, type KnownKeys } from '../providers/aws-signature.ts';
import { type Behaviour, bytes, type ReceivedCall } from '../providers/simulated.ts';

const json11 = { 'content-type': 'application/x-amz-json-1.1' };

const refuse = (type: string, message: string): Behaviour =>
  bytes(400, JSON.stringify({ __type: type, Message: message }), json11);

interface Manager {
  keys: KnownKeys;
  region: string;
  /** By name; a change counts for the next call. */
  secrets: Map<string, { text: string } | { binary: Buffer }>;
}

export const awsSecrets =
  ({ keys, region, secrets }: Manager): Behaviour =>
  (call, response) =>
    answer(call, { keys, region, secrets })(call, response);

function answer(call: ReceivedCall, { keys, region, secrets }: Manager): Behaviour {
  const fault = faultOfSignature(call, keys, { service: 'secretsmanager', region });
  if (fault) return refuse('UnrecognizedClientException', fault);
  if (call.method !== 'POST' || call.headers['x-amz-target'] !== 'secretsmanager.GetSecretValue') {
    return refuse('UnknownOperationException', '');
  }
  const name: unknown = call.json?.SecretId;
  if (typeof name !== 'string')
    return refuse('ValidationException', "Value null at 'secretId' failed to satisfy constraint");
  const secret = secrets.get(name);
  if (!secret) return refuse('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  const body = {
    ARN: `arn:aws:secretsmanager:${region}:123456789012:secret:${name}-AbCdEf`,
    Name: name,
    VersionId: '01234567-89ab-cdef-0123-456789abcdef',
    VersionStages: ['AWSCURRENT'],
    CreatedDate: 1_700_000_000.123,
    ...('text' in secret ? { SecretString: secret.text } : { SecretBinary: secret.binary.toString('base64') }),
  };
  return bytes(200, JSON.stringify(body), json11);
}
