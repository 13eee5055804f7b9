/** The bodies and headers of a finished call that its record keeps: all of them, or the answer alone where only failures are kept. */
import type { LogBodies, LogMessage } from '../logs/record.ts';
import { isSuccess, type Trail } from './answer.ts';
import { fieldsOf, type HeaderFields } from './headers.ts';
import type { Journey } from './journey.ts';
import { maskedHeaders, requestHeaders } from './log-headers.ts';
import type { GatewayParts } from './parts.ts';
import type { Outcome } from './settle.ts';

const nothing = new Uint8Array(0);

export const keptBodies = (
  parts: GatewayParts,
  journey: Journey,
  trail: Trail,
  outcome: Outcome | null,
): Partial<LogBodies> =>
  keepsBodies(journey) ? bodiesOf(parts, journey, trail, outcome) : bodiesOnFailure(parts, journey, trail, outcome);

function keepsBodies({ workspace, rules }: Journey): boolean {
  const { request_logging, enforce_debug_log_setting } = workspace.settings;
  return request_logging === 'full' && (rules.debug || enforce_debug_log_setting);
}

function bodiesOf(parts: GatewayParts, journey: Journey, trail: Trail, outcome: Outcome | null): Partial<LogBodies> {
  const { fields } = journey.own;
  const bodies: Partial<LogBodies> = {
    request: {
      headers: requestHeaders(journey, parts.settings.maskedHeaders),
      body: 'bytes' in journey.body ? journey.body.bytes : null,
      contentType: fields['content-type'] ?? '',
    },
  };
  const transformed = transformedRequest(parts, journey, trail);
  if (transformed) bodies.transformedRequest = transformed;
  const response = responseOf(parts, journey, trail, outcome);
  if (response) bodies.response = response;
  return bodies;
}

/** What went upstream, where it is not what the client sent. */
function transformedRequest(parts: GatewayParts, journey: Journey, { upstream, target }: Trail): LogMessage | null {
  if (!upstream?.changed || !(upstream.body instanceof Uint8Array)) return null;
  // Headers that an administrator saved beside a credential may be one themselves.
  const masked = [...parts.settings.maskedHeaders];
  for (const name in target?.customHeaders) masked.push(name.toLowerCase());
  const sent = inLowerCase(upstream.headers);
  return {
    headers: maskedHeaders(sent, journey, masked),
    body: upstream.body,
    contentType: sent['content-type'] ?? '',
  };
}

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
  parts: GatewayParts,
  journey: Journey,
  trail: Trail,
  outcome: Outcome | null,
): Partial<LogBodies> {
  if (isSuccess(trail.status)) return {};
  const response = responseOf(parts, journey, trail, outcome);
  return response ? { response } : {};
}

function responseOf(parts: GatewayParts, journey: Journey, trail: Trail, outcome: Outcome | null): LogMessage | null {
  const headers = outcome?.headers ?? (trail.responseHeaders && fieldsOf(trail.responseHeaders));
  const body = outcome?.body ?? trail.received;
  if (!headers && !body) return null;
  // Vectors fill logs and tell nobody anything.
  const isKept = journey.matched.route.kind !== 'embed' || !isSuccess(trail.status);
  return {
    headers: headers ? maskedHeaders(headers, journey, parts.settings.maskedHeaders) : {},
    body: isKept ? (body ?? nothing) : null,
    size: body?.length ?? 0,
    contentType: headers?.['content-type'] ?? '',
  };
}
