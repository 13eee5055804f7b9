/** The services of AWS that give credentials: the token service, a container's agent and an instance's metadata, as they answer. */
import { faultOfSignature, type KnownKeys } from './aws-signature.ts';
import { type Behaviour, bytes, json, type ReceivedCall } from './simulated.ts';

export interface Issued {
  keys: Required<KnownKeys>;
  expiration: string;
}

const issuedXml = (action: string, { keys, expiration }: Issued): string =>
  `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><AssumedRoleUser><AssumedRoleId>ARO:gw</AssumedRoleId><Arn>arn:aws:sts::123456789012:assumed-role/r/gw</Arn></AssumedRoleUser><Credentials><AccessKeyId>${keys.accessKeyId}</AccessKeyId><SecretAccessKey>${keys.secretAccessKey}</SecretAccessKey><SessionToken>${keys.sessionToken}</SessionToken><Expiration>${expiration}</Expiration></Credentials></${action}Result><ResponseMetadata><RequestId>c6104cbe</RequestId></ResponseMetadata></${action}Response>`;

const refusedXml = (code: string, message: string): string =>
  `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>c6104cbe</RequestId></ErrorResponse>`;

const xml = { 'content-type': 'text/xml' };

export const parametersOf = ({ body }: ReceivedCall): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(body.toString()));

interface TokenService {
  /** Who may assume the role, and with which external id. */
  caller?: KnownKeys;
  externalId?: string;
  webToken?: string;
  region: string;
  issued(): Issued;
}

/** The token service: AssumeRole for a caller that signs, AssumeRoleWithWebIdentity for a token. */
export const tokenService =
  ({ caller, externalId, webToken, region, issued }: TokenService): Behaviour =>
  (call, response) => {
    const refuse = (message: string) => bytes(403, refusedXml('AccessDenied', message), xml)(call, response);
    const { Action: action = '', Version, RoleArn, RoleSessionName, ...more } = parametersOf(call);
    if (Version !== '2011-06-15' || !RoleArn || !RoleSessionName) return refuse('A parameter is missing');
    if (action === 'AssumeRoleWithWebIdentity') {
      if (more.WebIdentityToken !== webToken) return refuse('The web identity token is not valid');
      return bytes(200, issuedXml(action, issued()), xml)(call, response);
    }
    const fault = caller ? faultOfSignature(call, caller, { service: 'sts', region }) : 'Nobody may assume it';
    if (fault) return refuse(fault);
    if (more.ExternalId !== externalId)
      return refuse(`User: gw is not authorized to perform: sts:AssumeRole on ${RoleArn}`);
    return bytes(200, issuedXml(action, issued()), xml)(call, response);
  };

const issuedJson = ({ keys, expiration }: Issued) => ({
  Code: 'Success',
  AccessKeyId: keys.accessKeyId,
  SecretAccessKey: keys.secretAccessKey,
  Token: keys.sessionToken,
  Expiration: expiration,
});

export const containerAgent =
  (authorization: string, issued: () => Issued): Behaviour =>
  (call, response) =>
    call.headers.authorization === authorization
      ? json(200, issuedJson(issued()))(call, response)
      : bytes(401, 'Unauthorized', { 'content-type': 'text/plain' })(call, response);

/** An instance's metadata in its second version: nothing without a session. */
export const instanceMetadata =
  (issued: () => Issued): Behaviour =>
  (call, response) => {
    const plain = (status: number, text: string) =>
      bytes(status, text, { 'content-type': 'text/plain' })(call, response);
    if (call.path === '/latest/api/token') {
      const asked = call.method === 'PUT' && call.headers['x-aws-ec2-metadata-token-ttl-seconds'];
      return asked ? plain(200, 'session-1') : plain(400, 'Bad Request');
    }
    if (call.headers['x-aws-ec2-metadata-token'] !== 'session-1') return plain(401, 'Unauthorized');
    if (call.path === '/latest/meta-data/iam/security-credentials/') return plain(200, 'gateway-role');
    if (call.path === '/latest/meta-data/iam/security-credentials/gateway-role') {
      return json(200, issuedJson(issued()))(call, response);
    }
    return plain(404, 'Not Found');
  };
