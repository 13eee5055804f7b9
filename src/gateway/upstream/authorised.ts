/** A call with what its cloud asks for: a signature over exactly what is sent, or a token. */
import type { Authentication } from '../../providers/authentication.ts';
import type { Abortable } from '../../wire/abort.ts';
import type { WireAnswer } from '../../wire/client/answer.ts';
import type { Target } from '../attempt/target.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import type { Bytes } from '../request/body.ts';
import { requireLeave } from './borrowed-identity.ts';
import { GivenUp, send } from './send.ts';
import type { Upstream } from './upstream-request.ts';

type Sendable = Pick<Upstream, 'url' | 'method' | 'headers' | 'body' | 'facts'>;

/** The very same call where its headers already carry the credential. */
export function authorised<Call extends Sendable>(
  deps: GatewayDeps,
  target: Target,
  call: Call,
  signal: Abortable,
  authentication = target.provider.authentication?.(call.facts),
): Call | Promise<Call> {
  if (!authentication) return call;
  requireLeave(deps, target, call.facts, authentication);
  if (call.body instanceof ReadableStream && signsBody.has(authentication.kind)) {
    const whole = wholeBody(call.body, deps.settings.bodyLimit);
    return whole.then((body) => authorised(deps, target, { ...call, body }, signal, authentication));
  }
  const body = call.body instanceof Uint8Array ? call.body : null;
  return deps.credentials
    .authorise(authentication, { url: call.url, method: call.method, headers: call.headers, body }, signal)
    .then((headers) => ({ ...call, headers: { ...call.headers, ...headers } }))
    .catch((fault) => {
      throw fault instanceof GivenUp ? fault.error : fault;
    });
}

/** Their signatures cover the body, so that it must be known before the first byte is sent. */
const signsBody: ReadonlySet<Authentication['kind']> = new Set<Authentication['kind']>(['aws', 'oci']);

async function wholeBody(stream: ReadableStream<Uint8Array>, limit: number): Promise<Bytes> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > limit) throw new GatewayError('body_too_large', `the body is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A signature is made for every call; a token is kept, and may have been taken back meanwhile. */
const keepsToken: ReadonlySet<Authentication['kind']> = new Set<Authentication['kind']>([
  'google',
  'entra',
  'exchange',
]);

/** Sends a call with what its cloud asks for. A token that the cloud refuses is forgotten, and the call made once more with a new one. */
export function sendAuthorised(
  deps: GatewayDeps,
  target: Target,
  call: Upstream,
  signal: Abortable,
  authentication = target.provider.authentication?.(call.facts),
): Promise<WireAnswer> {
  return authentication ? sendWith(authentication, deps, target, call, signal) : send(deps, target, call, signal);
}

export async function sendWith(
  authentication: Authentication,
  deps: GatewayDeps,
  target: Target,
  call: Upstream,
  signal: Abortable,
): Promise<WireAnswer> {
  const ready = await authorised(deps, target, call, signal, authentication);
  const response = await sendReady(deps, target, ready, signal);
  if (response.status !== 401 || !keepsToken.has(authentication.kind)) return response;
  if (call.body instanceof ReadableStream) return response;
  await response.body?.cancel();
  deps.credentials.forget(authentication);
  return sendReady(deps, target, await authorised(deps, target, call, signal, authentication), signal);
}

const sendReady = async (
  deps: GatewayDeps,
  target: Target,
  ready: Upstream,
  signal: Abortable,
): Promise<WireAnswer> => ({ ...(await send(deps, target, ready, signal)), sentHeaders: ready.headers });
