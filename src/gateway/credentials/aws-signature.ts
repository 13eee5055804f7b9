/** Signs calls to AWS (Signature Version 4) over exactly what is sent. */
import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { AuthorisedRequest } from './authorise.ts';

/** What AWS knows the caller by. */
export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
}

/** Where and when a signature holds. */
interface SignatureScope {
  service: string;
  region: string;
  at: Date;
}

/** Keys are derived from the secret once a day for each scope; clients have few of them. */
const derivedKeys = new Map<string, ArrayBuffer>();
const mostDerived = 1_000;

/** The headers that carry the signature. */
export async function signed(
  { url, method, headers, body }: AuthorisedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsKeys,
  { service, region, at }: SignatureScope,
): Promise<Record<string, string>> {
  if (derivedKeys.size > mostDerived) derivedKeys.clear();
  // S3 alone wants to be told the digest of the body that it checks.
  const digest = service === 's3' ? { 'x-amz-content-sha256': sha256(body ?? new Uint8Array()) } : null;
  const signer = new AwsV4Signer({
    url,
    method,
    headers: { ...signable(headers), ...digest },
    body: body ?? '',
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== null && { sessionToken }),
    service,
    region,
    datetime: at.toISOString().replace(/[:-]|\.\d{3}/g, ''),
    cache: derivedKeys,
  });
  const { headers: carried } = await signer.sign();
  const added = ['authorization', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'];
  return Object.fromEntries(added.flatMap((name) => (carried.has(name) ? [[name, carried.get(name) ?? '']] : [])));
}

/** A signature covers the service's own headers only: proxies may touch the others on the way. */
const signable = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^x-amz(n)?-/i.test(name) && !replaced.has(name)));

/** Written by the signature itself, whatever a client sent. */
const replaced = new Set(['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256', 'x-amzn-trace-id']);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
