/** The bodies and headers of a finished call that its record keeps: all of them, or the answer alone where only failures are kept. */
import { answerPreview } from '../../logs/preview.ts';
import type { LogBodies, LogMessage } from '../../logs/record.ts';
import { type AttemptRecord, isSuccess } from '../attempt/answer.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { loggedResults } from '../guardrails/state.ts';
import { fieldsOf, type HeaderFields } from '../request/headers.ts';
import { maskedHeaders, requestHeaders } from './log-headers.ts';
import type { Outcome } from './settlement.ts';

const nothing = new Uint8Array(0);

export const logBodies = (
  deps: GatewayDeps,
  context: RequestContext,
  record: AttemptRecord,
  outcome: Outcome | null,
): Partial<LogBodies> =>
  keepsBodies(context) ? bodiesOf(deps, context, record, outcome) : bodiesOnFailure(deps, context, record, outcome);

function keepsBodies({ workspace, rules, service }: RequestContext): boolean {
  if (service?.keepsBodies === false) return false;
  const { request_logging, enforce_debug_log_setting } = workspace.settings;
  return request_logging === 'full' && (rules.debug || enforce_debug_log_setting);
}

function bodiesOf(
  deps: GatewayDeps,
  context: RequestContext,
  record: AttemptRecord,
  outcome: Outcome | null,
): Partial<LogBodies> {
  const { fields } = context.own;
  const bodies: Partial<LogBodies> = {
    request: {
      headers: requestHeaders(context, deps.settings.maskedHeaders),
      body: 'bytes' in context.body ? context.body.bytes : null,
      contentType: fields['content-type'] ?? '',
      preview: context.body.form === 'json' ? context.body.preview : null,
    },
  };
  const transformed = transformedRequest(deps, context, record);
  if (transformed) bodies.transformedRequest = transformed;
  if (record.finalRequest && bodies.request) {
    const body = Buffer.from(JSON.stringify(record.finalRequest));
    bodies.finalRequest = { headers: bodies.request.headers, body, contentType: 'application/json' };
  }
  const response = responseOf(deps, context, record, outcome);
  if (response) bodies.response = response;
  const results = record.guard && loggedResults(record.guard);
  if (results && results.before_request_hooks.length + results.after_request_hooks.length > 0) {
    bodies.hookResults = { headers: {}, body: Buffer.from(JSON.stringify(results)), contentType: 'application/json' };
  }
  const original = originalResponse(deps, context, record);
  if (original) bodies.originalResponse = original;
  return bodies;
}

/** What went upstream, where it is not what the client sent. */
function transformedRequest(
  deps: GatewayDeps,
  context: RequestContext,
  { upstream, target }: AttemptRecord,
): LogMessage | null {
  if (!upstream?.changed || !(upstream.body instanceof Uint8Array)) return null;
  // Headers that an administrator saved beside a credential may be one themselves.
  const masked = [...deps.settings.maskedHeaders];
  for (const name in target?.customHeaders) masked.push(name.toLowerCase());
  const sent = inLowerCase(upstream.headers);
  return {
    headers: maskedHeaders(sent, context, masked),
    body: upstream.body,
    contentType: sent['content-type'] ?? '',
  };
}

/** What the provider sent, where it is not what the client got. */
function originalResponse(
  deps: GatewayDeps,
  context: RequestContext,
  { original, received, responseHeaders }: AttemptRecord,
): LogMessage | null {
  if (!original || !responseHeaders || isSame(original, received)) return null;
  const headers = fieldsOf(responseHeaders);
  const isKept = context.matched.route.kind !== 'embed';
  return {
    headers: maskedHeaders(headers, context, deps.settings.maskedHeaders),
    body: isKept ? original : null,
    size: original.length,
    contentType: headers['content-type'] ?? '',
  };
}

/** Of an answer that needed no mending. */
const isSame = (one: Uint8Array, other: Uint8Array | null): boolean =>
  other !== null && one.length === other.length && Buffer.from(one.buffer, one.byteOffset, one.length).equals(other);

/** The very same fields where they are, as most are. */
function inLowerCase(headers: Readonly<HeaderFields>): Readonly<HeaderFields> {
  for (const name in headers) if (name !== name.toLowerCase()) return lowered(headers);
  return headers;
}

function lowered(headers: Readonly<HeaderFields>): HeaderFields {
  const fields: HeaderFields = {};
  for (const name in headers) fields[name.toLowerCase()] = headers[name] ?? '';
  return fields;
}

/** Where bodies are not kept, the answer of a call that failed still is: it says why. */
function bodiesOnFailure(
  deps: GatewayDeps,
  context: RequestContext,
  record: AttemptRecord,
  outcome: Outcome | null,
): Partial<LogBodies> {
  if (isSuccess(record.status) && record.failure === undefined) return {};
  const response = responseOf(deps, context, record, outcome);
  return response ? { response } : {};
}

/** What a step changed is no longer what was parsed. */
const previewOfAnswered = ({ answered }: AttemptRecord, body: Uint8Array | null): string | null =>
  answered && answered.bytes === body ? answerPreview(answered.fields) : null;

function responseOf(
  deps: GatewayDeps,
  context: RequestContext,
  record: AttemptRecord,
  outcome: Outcome | null,
): LogMessage | null {
  const headers = outcome?.headers ?? (record.responseHeaders && fieldsOf(record.responseHeaders));
  const body = outcome?.body ?? record.received;
  if (!headers && !body) return null;
  // Vectors fill logs and tell nobody anything.
  const isKept = context.matched.route.kind !== 'embed' || !isSuccess(record.status);
  return {
    headers: headers ? maskedHeaders(headers, context, deps.settings.maskedHeaders) : {},
    body: isKept ? (body ?? nothing) : null,
    size: body?.length ?? 0,
    contentType: headers?.['content-type'] ?? '',
    preview: record.preview ?? previewOfAnswered(record, body),
  };
}
