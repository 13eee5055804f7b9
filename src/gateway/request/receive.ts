/** The first look at a request: which route it asks for, and under which ids it is followed. */
import type { Incoming } from '../../wire/server/incoming.ts';
import type { Arrival } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import type { OwnHeaders } from './headers.ts';
import { isForcedPassthrough, type MatchedRoute, matchRoute, passthroughRoute } from './routes.ts';

const version = '/v1';

export interface AskedPath {
  /** With version, without query. */
  path: string;
  query: string;
}

/** What a request asks for, or null when it lies outside the data plane's part of the address. */
export function askedPath(target: string): AskedPath | null {
  if (!target.startsWith(`${version}/`)) return null;
  const question = target.indexOf('?');
  return question === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, question), query: target.slice(question) };
}

/** The route of a path that the data plane serves before anyone else is asked. */
export function dedicatedRoute(method: string, { path }: AskedPath): MatchedRoute | null {
  const below = belowVersion(path);
  return isForcedPassthrough(below) ? passthroughRoute(below) : matchRoute(method, below);
}

/** The route of any other path: it goes to the provider as it is. */
export const remainingRoute = ({ path }: AskedPath): MatchedRoute => passthroughRoute(belowVersion(path));

/** An SDK that adds the version by itself to an address that has it already must still work. */
const belowVersion = (path: string): string => path.slice(path.startsWith('/v1/v1/') ? 6 : version.length);

export function receive(
  { clock }: GatewayDeps,
  request: Incoming,
  own: OwnHeaders,
  asked: AskedPath,
  matched: MatchedRoute,
): Arrival {
  const parent = own.once(traceParent);
  const requestId = Bun.randomUUIDv7();
  return {
    request,
    own,
    matched,
    path: asked.path,
    query: asked.query,
    receivedAt: clock.now().getTime(),
    startedAt: performance.now(),
    requestId,
    traceId: named(own.get('trace-id')) ?? parent?.traceId ?? requestId,
    spanId: named(own.get('span-id')) ?? requestId,
    parentSpanId: named(own.get('parent-span-id')) ?? parent?.spanId ?? '',
    parentSampled: parent && own.get('trace-id') === null ? parent.sampled : null,
    spanName: (own.get('span-name') ?? `${request.method} ${asked.path}`).slice(0, longestName),
  };
}

/** Logs keep and index these; a header may hold far more. */
const longestName = 512;
const named = (header: string | null): string | null => header?.slice(0, longestName) ?? null;

/** W3C trace context: `version-trace-parent-flags`; version ff and ids of zeros alone are not valid. */
const traceContext = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

interface TraceParent {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

function traceParent({ fields: { traceparent: header } }: OwnHeaders): TraceParent | null {
  const match = header && traceContext.exec(header);
  if (!match) return null;
  const [, traceId = '', spanId = '', flags = ''] = match;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
