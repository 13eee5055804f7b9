/** Checks AWS signatures (Version 4) as a service does: from the request that arrived, and from nothing that its sender computed. */
import { createHash, createHmac } from 'node:crypto';
import type { ReceivedCall } from './simulated.ts';

/** A caller that the service knows. */
export interface KnownKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);

/** Null for a good signature; else what the service says is wrong with it. */
export function faultOfSignature(
  call: ReceivedCall,
  keys: KnownKeys,
  scope: { service: string; region: string },
): string | null {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      call.headers.authorization ?? '',
    );
  if (!match) return 'Missing Authentication Token';
  const [, id = '', day = '', region = '', service = '', names = '', signature = ''] = match;
  if (id !== keys.accessKeyId) return 'The security token included in the request is invalid.';
  if (region !== scope.region) return `Credential should be scoped to a valid region, not '${region}'.`;
  if (service !== scope.service) return `Credential should be scoped to correct service: '${scope.service}'.`;
  if (keys.sessionToken !== call.headers['x-amz-security-token']) {
    return 'The security token included in the request is invalid.';
  }
  const signedHeaders = names.split(';');
  if (!signedHeaders.includes('host') || !signedHeaders.includes('x-amz-date'))
    return 'Host and x-amz-date must be signed.';
  const date = call.headers['x-amz-date'] ?? '';
  if (!date.startsWith(day)) return 'Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date.';
  const text = [
    'AWS4-HMAC-SHA256',
    date,
    `${day}/${region}/${service}/aws4_request`,
    sha256(canonical(call, service, signedHeaders)),
  ];
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${keys.secretAccessKey}`);
  const right = hmac(key, text.join('\n')).toString('hex');
  return right === signature ? null : 'The request signature we calculated does not match the signature you provided.';
}

function canonical(call: ReceivedCall, service: string, signedHeaders: readonly string[]): string {
  const [path = '', query = ''] = call.path.split('?');
  // S3 alone does not encode the path once more.
  const uri = service === 's3' ? path : path.split('/').map(encoded).join('/');
  const parameters = [...new URLSearchParams(query)].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return [
    call.method,
    uri,
    parameters.sort().join('&'),
    ...signedHeaders.map((name) => `${name}:${(call.headers[name] ?? '').trim().replace(/\s+/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    call.headers['x-amz-content-sha256'] ?? sha256(call.body),
  ].join('\n');
}
