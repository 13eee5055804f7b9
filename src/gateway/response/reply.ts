/** The answer to the client: the provider's headers without those of its connection, and ours with what happened on the way. */
import { memoize } from '../../memoize.ts';
import { unfit } from '../../wire/http1/token.ts';
import type { Reply } from '../../wire/server/reply.ts';
import type { Answer, AttemptRecord } from '../attempt/answer.ts';
import type { Arrival, RequestContext } from '../context.ts';
import { type ErrorForm, errorBody, GatewayError } from '../errors.ts';
import type { Bytes } from '../request/body.ts';
import { fieldsOf, type HeaderFields } from '../request/headers.ts';
import { connectionNames } from '../upstream/upstream-headers.ts';

/** Meant for one connection, spoken for the provider's own host, or marks of a gateway behind us that speak of its own work. */
const dropped: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-expose-headers',
  'access-control-max-age',
  'clear-site-data',
  'refresh',
  // Nobody answers with these, but whoever sends a request back does.
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-amz-security-token',
]);

/** No longer true of a body that we have decoded. */
const describesEncoding: ReadonlySet<string> = new Set(['content-length', 'content-encoding']);

export function replyHeaders(context: RequestContext, answer: Answer): HeaderFields {
  const received = answer.headers ? fieldsOf(answer.headers) : {};
  const asSent = answer.record.upstream?.passthrough ?? false;
  const headers: HeaderFields = {};
  const named = connectionNames(received.connection ?? null);
  for (const name in received) {
    if (dropped.has(name) || context.own.isOwn(name) || named?.includes(name)) continue;
    if (!asSent && describesEncoding.has(name)) continue;
    if (unfit.test(received[name] ?? '')) throw unfitHeader(name);
    headers[name] = received[name] ?? '';
  }
  // A client that follows it takes our key along; outside of a redirect it has no meaning that we could vouch for.
  if (!asSent || answer.status < 300 || answer.status >= 400) delete headers.location;
  markHeaders(headers, context);
  markRoute(headers, context, answer.record);
  if (answer.content.form === 'events') {
    headers['content-type'] = 'text/event-stream; charset=utf-8';
    headers['cache-control'] = 'no-cache';
  }
  return headers;
}

/** It would end the connection to the client in the middle of the head. */
const unfitHeader = (name: string): GatewayError =>
  new GatewayError('invalid_provider_response', `the provider's header ${name} holds a control character`);

/** Under the prefix that the client uses. */
const marksUnder = memoize((prefix) => ({
  traceId: `${prefix}trace-id`,
  requestId: `${prefix}request-id`,
  optionIndex: `${prefix}last-used-option-index`,
  retryCount: `${prefix}retry-attempt-count`,
  cacheStatus: `${prefix}cache-status`,
  cacheKey: `${prefix}cache-key`,
  provider: `${prefix}provider`,
  cost: `${prefix}cost`,
}));

/** What the call costs is not known, and will not be. */
export function markUnpriced(headers: HeaderFields, { own }: Arrival): void {
  headers[marksUnder(own.prefix).cost] = 'unknown';
}

function markHeaders(headers: HeaderFields, { own, traceId, requestId }: Arrival): void {
  const marks = marksUnder(own.prefix);
  headers[marks.traceId] = traceId;
  headers[marks.requestId] = requestId;
}

/** Our marks on an answer that no target gave. */
export function arrivalHeaders(arrival: Arrival): HeaderFields {
  const headers: HeaderFields = {};
  markHeaders(headers, arrival);
  return headers;
}

function markRoute(headers: HeaderFields, { own }: Arrival, record: AttemptRecord): void {
  const marks = marksUnder(own.prefix);
  headers[marks.optionIndex] = record.path;
  headers[marks.retryCount] = String(record.retryCount);
  headers[marks.cacheStatus] = record.cacheStatus;
  if (record.cache) headers[marks.cacheKey] = record.cache.place.key;
  if (record.target) headers[marks.provider] = record.target.provider.id;
}

/** An error of ours, in the form that clients of the route expect. */
export function gatewayErrorReply(
  arrival: Arrival,
  error: GatewayError,
  record: AttemptRecord | null,
): Reply & { headers: HeaderFields; body: Bytes } {
  const headers: HeaderFields = { 'content-type': 'application/json', ...error.headers };
  markHeaders(headers, arrival);
  if (error.code === 'buffers_full') headers['retry-after'] = '1';
  if (error.code === 'upgrade_required') headers.upgrade = 'websocket';
  // What is left of it would be taken for the next request.
  if (error.code === 'body_too_slow') headers.connection = 'close';
  if (record) markRoute(headers, arrival, record);
  const form: ErrorForm = arrival.matched.route.errorForm;
  return { status: error.status, headers, body: Buffer.from(JSON.stringify(errorBody(error, form))) };
}
