/** Oracle Cloud: each request is signed with the user's key, over its target, host, moment and body. */
import { createHash, createPrivateKey, createSign, type KeyObject } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { Authorise, AuthorisedRequest } from './authorise.ts';

export const oci: Authorise<'oci'> = async (authentication, request, { now }) => {
  const { tenancy, user, fingerprint, privateKey, passphrase } = authentication;
  const signed = signedHeaders(request, now());
  const names = signed.map(([name]) => name).join(' ');
  const signature = createSign('RSA-SHA256')
    .update(signed.map(([name, value]) => `${name}: ${value}`).join('\n'))
    .sign(keyOf(privateKey, passphrase), 'base64');
  const keyId = `${tenancy}/${user}/${fingerprint}`;
  return {
    ...Object.fromEntries(signed.filter(([name]) => !spokenElsewhere.has(name))),
    authorization: `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="${names}",signature="${signature}"`,
  };
};

/** Told by the request itself, not by a header of ours. */
const spokenElsewhere = new Set(['(request-target)', 'host', 'content-length']);

type Line = [name: string, value: string];

function signedHeaders({ url, method, headers, body }: AuthorisedRequest, now: Date): Line[] {
  const { host, pathname, search } = new URL(url);
  const always: Line[] = [
    ['date', now.toUTCString()],
    ['(request-target)', `${method.toLowerCase()} ${pathname}${search}`],
    ['host', host],
  ];
  if (method === 'GET' || method === 'HEAD' || method === 'DELETE') return always;
  const bytes = body ?? new Uint8Array();
  return [
    ...always,
    ['content-length', String(bytes.length)],
    ['content-type', headers['content-type'] ?? 'application/json'],
    ['x-content-sha256', createHash('sha256').update(bytes).digest('base64')],
  ];
}

/** Keys travel through forms and environments that write their line ends as text. */
function keyOf(pem: string, passphrase: string | null): KeyObject {
  try {
    return createPrivateKey({ key: pem.replaceAll('\\n', '\n'), ...(passphrase !== null && { passphrase }) });
  } catch {
    throw new GatewayError('missing_credential', 'oracle_private_key cannot be read: it must be an RSA key as PEM', {
      field: 'oracle_private_key',
    });
  }
}
