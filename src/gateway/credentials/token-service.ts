/** Asks a token service for a token, in the form that OAuth gives to its answers, or close to it. */
import { countOf, objectOf, parsed, textOf } from '../../providers/json.ts';
import { GatewayError } from '../errors.ts';
import { concealedText } from '../upstream/conceal.ts';
import type { CredentialDeps } from './authorise.ts';
import type { Token } from './token-cache.ts';

/** Several callers may wait for one token, so no single one of them ends the asking. */
const timeoutMs = 15_000;

export async function askToken(
  { fetch, now }: CredentialDeps,
  service: string,
  url: string,
  init: { method: 'GET' | 'POST'; headers?: Record<string, string>; form?: Readonly<Record<string, string>> },
): Promise<Token<string>> {
  const { form, ...request } = init;
  const { response, text } = await fetch(url, {
    ...request,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
    ...(form && { body: new URLSearchParams(form) }),
  })
    .then(async (answer) => ({ response: answer, text: await answer.text() }))
    .catch(() => {
      throw new GatewayError('upstream_unreachable', `${service} cannot be reached for a token`);
    });
  const answer = objectOf(parsed(text));
  const value = textOf(answer.access_token) ?? textOf(answer.token);
  if (!response.ok || !value) throw refused(service, response.status, answer, Object.values(form ?? {}));
  return { value, expiresAt: endOf(answer, now().getTime()) };
}

function refused(
  service: string,
  status: number,
  answer: Record<string, unknown>,
  sent: readonly string[],
): GatewayError {
  const words =
    textOf(answer.error_description) ??
    textOf(answer.errorMessage) ??
    textOf(answer.error) ??
    textOf(answer.message) ??
    `status ${status}`;
  // Wrong credentials are for the caller to mend; anything else is the service's fault.
  const blame = status >= 400 && status < 500 && status !== 429 ? { status: 401, type: 'authentication_error' } : {};
  return new GatewayError(
    'upstream_refused',
    `${service} gave no token: ${withoutSent(words.split(/\r?\n/, 1)[0] ?? '', sent)}`,
    blame,
  );
}

const shortestSecret = 16;

/** A service may repeat what it was sent. Words of the protocol are shorter than secrets. */
const withoutSent = (words: string, sent: readonly string[]): string =>
  concealedText(
    words,
    sent.filter(({ length }) => length >= shortestSecret),
  );

/** Told as a duration or as a moment, in numbers or in text. */
function endOf({ expires_in, ...told }: Record<string, unknown>, now: number): number {
  const seconds = countOf(Number(expires_in ?? Number.NaN));
  if (seconds > 0) return now + seconds * 1000;
  const moment = countOf(Number(told.expires_on ?? told.expiration ?? told.expires_at ?? Number.NaN));
  if (moment === 0) return now;
  return moment > farSeconds ? moment : moment * 1000;
}

/** A moment beyond the year 5000, if it were in seconds: it is in milliseconds. */
const farSeconds = 1e11;
