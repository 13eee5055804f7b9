/** Headers as the log keeps them: credentials masked always, and whatever the caller or the operator named besides. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Journey } from './journey.ts';

const alwaysMasked =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|x-goog-api-key|sec-websocket-protocol|.*(secret|token|password|passphrase|credential|private-key|service-account-json|access-key).*|.*-api-key)$/;

/** New in every process: the same value can be recognised within its log, and nothing else be learnt from it. */
const maskKey = randomBytes(32);

const answersKept = 2_000;

/** Header names and credentials come again with every request of a client; each is worked out once. */
function kept<T>(work: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    let answer = known.get(text);
    if (answer === undefined) {
      answer = work(text);
      if (known.size >= answersKept) known.clear();
      known.set(text, answer);
    }
    return answer;
  };
}

const isCredential = kept((name) => alwaysMasked.test(name));
const masked = kept((value) => `masked:${createHmac('sha256', maskKey).update(value).digest('hex').slice(0, 16)}`);

/** A config that was sent inline may hold credentials, and so may an address; the name of a saved config tells nothing. */
const mayHoldSecret = (name: string, value: string): boolean =>
  (name.endsWith('-config') && value.includes('{')) || (name.endsWith('-custom-host') && value.includes('@'));

export function maskedHeaders(
  headers: Iterable<readonly [string, string]>,
  journey: Journey,
  operatorMasked: readonly string[],
): Record<string, string> {
  const list = journey.own.get('sensitive-headers');
  const callerMasked = list === null ? [] : list.split(',').map((name) => name.trim().toLowerCase());
  const shown: Record<string, string> = {};
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    // Our key may stand under a name of the client's own making.
    const named = callerMasked.includes(lower) || operatorMasked.includes(lower) || journey.keyHeaders.has(lower);
    const secret = named || isCredential(lower) || mayHoldSecret(lower, value);
    shown[lower] = secret ? masked(value) : value;
  }
  return shown;
}
