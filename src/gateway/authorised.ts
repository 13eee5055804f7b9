/** A call with what its cloud asks for: a signature over exactly what is sent, or a token. */
import type { GatewayParts } from './parts.ts';
import type { Target } from './target.ts';
import type { Upstream } from './upstream.ts';

type Sendable = Pick<Upstream, 'url' | 'method' | 'headers' | 'body' | 'facts'>;

/** The very same call where its headers already carry the credential. */
export function authorised<Call extends Sendable>(
  { credentials }: GatewayParts,
  { provider }: Target,
  call: Call,
  signal: AbortSignal,
): Call | Promise<Call> {
  const authentication = provider.authentication?.(call.facts);
  if (!authentication) return call;
  const body = call.body instanceof Uint8Array ? call.body : null;
  return credentials
    .authorise(authentication, { url: call.url, method: call.method, headers: call.headers, body }, signal)
    .then((headers) => ({ ...call, headers: { ...call.headers, ...headers } }));
}
