/** The only place that opens an upstream connection: address check, pinned address, abort, and faults in our own words. */

import type { MaybePromise } from '../../maybe-promise.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { UntracedError } from '../../untraced-error.ts';
import { version } from '../../version.ts';
import { type Abortable, signalOf } from '../../wire/abort.ts';
import type { Pinned } from '../../wire/client/address.ts';
import { answerOf, type WireAnswer } from '../../wire/client/answer.ts';
import { type Bytes, collected } from '../../wire/client/collected.ts';
import { decodedBody, understood } from '../../wire/client/decoded.ts';
import { unfitHeader } from '../../wire/client/request.ts';
import { WireFault } from '../../wire/fault.ts';
import type { Target } from '../attempt/target.ts';
import type { CallDeps } from '../call-deps.ts';
import { GatewayError } from '../errors.ts';
import type { HoldBytes } from '../request/body-budget.ts';
import { GrowingBody } from '../request/body-budget.ts';
import { concealedAnswer } from './conceal.ts';
import { unlessGivenUp } from './given-up.ts';
import { marked } from './host-guard.ts';
import type { Upstream } from './upstream-request.ts';

/** Why an attempt was given up by us; carried by the abort signal. */
export class GivenUp extends UntracedError {
  readonly error: GatewayError;

  constructor(error: GatewayError) {
    super(error.message);
    this.error = error;
  }
}

export async function send(deps: CallDeps, target: Target, upstream: Upstream, signal: Abortable): Promise<WireAnswer> {
  try {
    const answer = await begin(deps, target, upstream, signal);
    if (answer.status < 400) return decodedAnswer(answer, upstream);
    const sensitive = [...deps.settings.maskedHeaders, ...upstream.sensitive];
    const concealed = concealedAnswer(decodedAnswer(answer, upstream), target, { ...upstream, sensitive });
    return concealed instanceof Promise ? await concealed : concealed;
  } catch (fault) {
    throw unsendable(upstream.headers) ?? explain(fault, signal, target);
  }
}

/** The answer as it comes. */
function begin(deps: CallDeps, { provider }: Target, upstream: Upstream, signal: Abortable): Promise<WireAnswer> {
  const { url, method, headers, body, customHost } = upstream;
  if (provider.local) {
    const request = new Request(url, { method, headers, signal: signalOf(signal), ...(body && { body }) });
    return Promise.resolve(provider.local(request)).then(answerOf);
  }
  const pinning = customHost ? checked(deps, url, upstream.tenant, signal) : null;
  if (pinning) return pinning.then((pinned) => call(deps, upstream, pinned, signal));
  return call(deps, upstream, null, signal);
}

function call(
  { http, hostGuard }: CallDeps,
  { url, method, headers, body, passthrough, facts, customHost, tenant }: Upstream,
  pinned: Pinned | null,
  signal: Abortable,
): Promise<WireAnswer> {
  const replayable = !passthrough && inference.has(facts.kind);
  return http.call(
    {
      url,
      pinned,
      method,
      headers: customHost ? marked(headers, hostGuard.mark) : headers,
      unlessSaid: passthrough ? nothing : unlessSaid,
      body,
      replayable,
      tenant,
    },
    signal,
  );
}

/** What leaves nothing behind at a provider: two answers cost, but make nothing that was not asked for. */
const inference: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'embed',
  'rerank',
  'moderate',
  'messages',
  'messagesCountTokens',
  'ocr',
]);

/** The answer without the encoding that we asked for. Passthrough hands on whatever the two sides agreed on. */
function decodedAnswer(answer: WireAnswer, { passthrough }: Upstream): WireAnswer {
  if (passthrough || !answer.body) return answer;
  const body = decodedBody(answer.body, answer.headers);
  return body === answer.body ? answer : { ...answer, body };
}

const nothing = {};

/** Told to every server, where nobody says otherwise. */
export const unlessSaid = { accept: '*/*', 'accept-encoding': understood, 'user-agent': `gw/${version}` };

/** Values of headers also come from bodies, configs and settings, which may hold anything. */
function unsendable(headers: Readonly<Record<string, string>>): GatewayError | null {
  const name = unfitHeader(headers);
  if (name === null) return null;
  const message = `the header ${name} would hold a character that no header can carry`;
  return new GatewayError('invalid_header', message, { field: name });
}

/** An address that somebody outside chose is checked, and the address that was checked is the one that is dialled. */
export function checked(deps: CallDeps, url: string, tenant: string, signal: Abortable): Promise<Pinned | null> | null {
  const verdict = deps.hostGuard.check(url, tenant);
  return verdict && unlessGivenUp(verdict, signal);
}

/** The whole of an answer, up to a limit; a connection that breaks on the way is told like one that could not be made. */
export function bytesOf(
  { body }: WireAnswer,
  signal: Abortable,
  target: Target,
  { limit, hold }: { limit: number; hold: HoldBytes },
): MaybePromise<Bytes> {
  const growing = new GrowingBody(hold);
  try {
    const bytes = body ? collected(body, limit, (piece) => growing.add(piece.length)) : new Uint8Array();
    if (bytes instanceof Promise) return awaited(bytes, growing, signal, target);
    // One that came in a single piece was seen by nobody.
    growing.reach(bytes.length);
    return bytes;
  } catch (fault) {
    throw explain(fault, signal, target);
  }
}

async function awaited(
  coming: Promise<Bytes>,
  growing: GrowingBody,
  signal: Abortable,
  target: Target,
): Promise<Bytes> {
  try {
    const bytes = await coming;
    growing.reach(bytes.length);
    return bytes;
  } catch (fault) {
    throw explain(fault, signal, target);
  }
}

/** The provider was reached, and what it said is at fault. */
const unreadable: ReadonlySet<string> = new Set(['InvalidAnswer', 'InvalidBody', 'HeadTooLarge', 'BodyTooLarge']);

const shareUsedUp = 'this organisation has as many connections to providers open as it may; try again in a moment';
const tooManyConnections = 'the gateway has as many connections open as it may; try again in a moment';

/** What a failed connection means to the client. Internals stay out of the message. */
export function explain(fault: unknown, signal: Abortable, target: Target): GatewayError {
  if (fault instanceof GatewayError) return fault;
  if (signal.aborted && signal.reason instanceof GivenUp) return signal.reason.error;
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  const name = target.saved ? `@${target.saved.slug}` : target.provider.id;
  if (fault instanceof WireFault && unreadable.has(code)) {
    return new GatewayError('invalid_provider_response', `the answer of ${name} cannot be read: ${fault.message}`);
  }
  if (code === 'WrongBodyLength') return new GatewayError('invalid_body', 'the body is not as long as was announced');
  if (code === 'ShareUsedUp') return new GatewayError('too_many_connections', shareUsedUp);
  if (code === 'TooManyOpenFiles') return new GatewayError('too_many_connections', tooManyConnections);
  if (code === 'ETIMEDOUT' || code === 'ConnectionTimeout') {
    return new GatewayError('upstream_connect_timeout', `the connection to ${name} timed out`);
  }
  return new GatewayError(
    'upstream_unreachable',
    `${name} could not be reached or closed the connection${code && ` (${code})`}`,
  );
}
