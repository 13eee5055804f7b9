/** Headers as the log keeps them: credentials masked always, and whatever the caller or the operator named besides. */
import { createHmac, randomBytes } from 'node:crypto';
import { memoize } from '../../memoize.ts';
import type { RequestContext } from '../context.ts';
import type { HeaderFields, OwnHeaders } from '../request/headers.ts';
import { keyInHeaders } from '../request/identify.ts';

const alwaysMasked =
  /^(authorization|proxy-authorization|cookie|set-cookie|sec-websocket-protocol|x-user-(claims|jwt)|.*(secret|token|password|passphrase|credential|private-key|service-account-json|access-key).*|(.*-)?(x|api|modal|subscription)-key)$/;

/** New in every process: the same value can be recognised within its log, and nothing else be learnt from it. */
const maskKey = randomBytes(32);

const isCredential = memoize((name) => alwaysMasked.test(name));
const masked = memoize((value) => `masked:${createHmac('sha256', maskKey).update(value).digest('hex').slice(0, 16)}`);

/** A config that was sent inline may hold credentials, and so may an address; the name of a saved config tells nothing. */
const mayHoldSecret = (name: string, value: string): boolean =>
  (name.endsWith('-config') && value.includes('{')) || (name.endsWith('-custom-host') && value.includes('@'));

/** A request's headers, and which of them hold our key. */
type Carrying = Pick<RequestContext, 'own' | 'keyHeaders'>;

/** What the client sent. */
export function requestHeaders(
  { own, keyHeaders }: Carrying,
  operatorMasked: readonly string[],
): Readonly<HeaderFields> {
  // A key that came another way may stand in any of them.
  if (keyHeaders === own.once(keyInHeaders)?.headers) return own.once(maskedOwn, operatorMasked);
  return maskedHeaders(own.fields, { own, keyHeaders }, operatorMasked);
}

const maskedOwn = (own: OwnHeaders, operatorMasked: readonly string[]): Readonly<HeaderFields> => {
  const keyHeaders = own.once(keyInHeaders)?.headers ?? new Set();
  return maskedHeaders(own.fields, { own, keyHeaders }, operatorMasked);
};

/** The very same fields where none of them is a secret. */
export function maskedHeaders(
  headers: Readonly<HeaderFields>,
  { own, keyHeaders }: Carrying,
  operatorMasked: readonly string[],
): Readonly<HeaderFields> {
  const named = own.once(sensitiveNames);
  let shown: HeaderFields | null = null;
  for (const name in headers) {
    const value = headers[name] ?? '';
    const secret =
      isCredential(name) ||
      // Our key may stand under a name of the client's own making.
      keyHeaders.has(name) ||
      operatorMasked.includes(name) ||
      named.includes(name) ||
      mayHoldSecret(name, value);
    if (!secret) continue;
    shown ??= { ...headers };
    shown[name] = masked(value);
  }
  return shown ?? headers;
}

export const sensitiveNames = (own: OwnHeaders): readonly string[] => {
  const list = own.get('sensitive-headers');
  return list === null ? [] : list.split(',').map((name) => name.trim().toLowerCase());
};
