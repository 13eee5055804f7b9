/** Headers as the log keeps them: credentials masked always, and whatever the caller or the operator named besides. */
import { createHmac, randomBytes } from 'node:crypto';
import { kept } from '../kept.ts';
import type { HeaderFields } from './headers.ts';
import type { Journey } from './journey.ts';

const alwaysMasked =
  /^(authorization|proxy-authorization|cookie|set-cookie|sec-websocket-protocol|.*(secret|token|password|passphrase|credential|private-key|service-account-json|access-key).*|(.*-)?(x|api|modal|subscription)-key)$/;

/** New in every process: the same value can be recognised within its log, and nothing else be learnt from it. */
const maskKey = randomBytes(32);

const isCredential = kept((name) => alwaysMasked.test(name));
const masked = kept((value) => `masked:${createHmac('sha256', maskKey).update(value).digest('hex').slice(0, 16)}`);

/** A config that was sent inline may hold credentials, and so may an address; the name of a saved config tells nothing. */
const mayHoldSecret = (name: string, value: string): boolean =>
  (name.endsWith('-config') && value.includes('{')) || (name.endsWith('-custom-host') && value.includes('@'));

/** The very same fields where none of them is a secret. */
export function maskedHeaders(
  headers: Readonly<HeaderFields>,
  { own, keyHeaders }: Journey,
  operatorMasked: readonly string[],
): Readonly<HeaderFields> {
  const named = namesIn(own.get('sensitive-headers'));
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

const none: readonly string[] = [];

const namesIn = (list: string | null): readonly string[] =>
  list === null ? none : list.split(',').map((name) => name.trim().toLowerCase());
