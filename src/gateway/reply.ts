/** The answer to the client: the provider's headers without those of its connection, and ours with what happened on the way. */
import type { Answer, Trail } from './answer.ts';
import { type ErrorForm, errorBody, type GatewayError } from './errors.ts';
import type { Arrival, Journey } from './journey.ts';

/** Meant for one connection, or marks of a gateway behind us that speak of its own work. */
const dropped = [
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'set-cookie',
  'x-gw-gateway-exception',
  'x-gw-last-used-option-params',
];

/** No longer true of a body that we have decoded. */
const describesEncoding = ['content-length', 'content-encoding'];

export function replyHeaders(journey: Journey, answer: Answer): Headers {
  const headers = new Headers(answer.headers ?? undefined);
  for (const name of dropped) headers.delete(name);
  if (!answer.trail.upstream?.passthrough) for (const name of describesEncoding) headers.delete(name);
  markHeaders(headers, journey);
  markRoute(headers, journey, answer.trail);
  if (answer.content.form === 'events') {
    headers.set('content-type', 'text/event-stream; charset=utf-8');
    headers.set('cache-control', 'no-cache');
  }
  return headers;
}

function markHeaders(headers: Headers, { own, traceId, requestId }: Arrival): void {
  headers.set(`${own.prefix}trace-id`, traceId);
  headers.set(`${own.prefix}request-id`, requestId);
}

function markRoute(headers: Headers, { own: { prefix } }: Arrival, trail: Trail): void {
  headers.set(`${prefix}last-used-option-index`, trail.path);
  headers.set(`${prefix}retry-attempt-count`, String(trail.retryCount));
  headers.set(`${prefix}cache-status`, trail.cacheStatus);
  if (trail.target) headers.set(`${prefix}provider`, trail.target.provider.id);
}

/** An error of ours, in the form that clients of the route expect. */
export function errorReply(
  arrival: Arrival,
  error: GatewayError,
  trail: Trail | null,
): { response: Response; bytes: Uint8Array; headers: Headers } {
  const headers = new Headers({ 'content-type': 'application/json' });
  markHeaders(headers, arrival);
  if (error.code === 'upgrade_required') headers.set('upgrade', 'websocket');
  if (trail) markRoute(headers, arrival, trail);
  const form: ErrorForm = arrival.matched.route.errorForm;
  const bytes = Buffer.from(JSON.stringify(errorBody(error, form)));
  return { response: new Response(bytes, { status: error.status, headers }), bytes, headers };
}
