/** The bodies and headers of a finished call that its record keeps: all of them, or the answer alone where only failures are kept. */
import type { LogBodies, LogMessage } from '../logs/record.ts';
import { isSuccess, type Trail } from './answer.ts';
import type { Journey } from './journey.ts';
import { maskedHeaders } from './log-headers.ts';
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
  const { upstream } = trail;
  const mask = (headers: Iterable<readonly [string, string]>) =>
    maskedHeaders(headers, journey, parts.settings.maskedHeaders);
  // Headers that an administrator saved beside a credential may be one themselves.
  const saved = Object.keys(trail.target?.customHeaders ?? {}).map((name) => name.toLowerCase());
  const response = responseOf(parts, journey, trail, outcome);
  const sentBytes = upstream?.changed && upstream.body instanceof Uint8Array ? upstream.body : null;
  return {
    request: {
      headers: mask(journey.own.entries),
      body: 'bytes' in journey.body ? journey.body.bytes : null,
      contentType: journey.request.headers.get('content-type') ?? '',
    },
    ...(sentBytes && {
      transformedRequest: {
        headers: maskedHeaders(Object.entries(upstream?.headers ?? {}), journey, [
          ...parts.settings.maskedHeaders,
          ...saved,
        ]),
        body: sentBytes,
        contentType: upstream?.headers['content-type'] ?? '',
      },
    }),
    ...(response && { response }),
  };
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
  const headers = outcome?.headers ?? trail.responseHeaders;
  const body = outcome?.body ?? (trail.received.length === 1 ? trail.received[0] : Buffer.concat([...trail.received]));
  if (!headers && !body) return null;
  // Vectors fill logs and tell nobody anything.
  const isKept = journey.matched.route.kind !== 'embed' || !isSuccess(trail.status);
  return {
    headers: headers ? maskedHeaders(headers, journey, parts.settings.maskedHeaders) : {},
    body: isKept ? (body ?? nothing) : null,
    size: body?.length ?? 0,
    contentType: headers?.get('content-type') ?? '',
  };
}
