/** Serves the SCIM protocol: the token, the organisation in the path, the transaction, the audit row and the error body. */
import { type BodyRoom, readJsonBody } from '../../../http/body.ts';
import { clientAddress, parseRanges } from '../../../http/client-address.ts';
import { ApiError } from '../../../http/errors.ts';
import type { WebHandler } from '../../../http/web.ts';
import type { Change } from '../../../store/changes.ts';
import type { Db } from '../../../store/database.ts';
import { type AuditRow, type AuditTrail, insertAuditRow } from '../../kernel/audit/audit.ts';
import { bounded, maskBody, maskHeaders, maskQuery } from '../../kernel/audit/mask.ts';
import type { Exchange } from '../../kernel/endpoint.ts';
import { exchangeOf } from '../../kernel/exchange.ts';
import { createCallLimiter } from '../../kernel/rate-limit.ts';
import { refusalOf } from '../../kernel/refusals.ts';
import type { Services } from '../../kernel/services.ts';
import { requireStorable } from '../../kernel/validate.ts';
import { organisationOfToken, type ScimSettings } from '../settings.ts';
import { resourceKinds } from './attributes.ts';
import { ScimError, scimErrorOf, scimErrorResponse, unknownResource } from './errors.ts';
import type { ScimAnswer, ScimCall, ScimRoute } from './route.ts';
import { scimRoutes } from './routes.ts';

interface ScimParts {
  services: Services;
  trail: AuditTrail;
  onFault(fault: unknown, requestId: string): void;
}

const bodyLimit = 8 * 1024 * 1024;
const mediaType = 'application/scim+json';

interface Place {
  /** Null where the token alone names it. */
  organisationId: string | null;
  /** Below the base: `/Users/…`. */
  path: string;
  base: string;
}

interface Known {
  route: ScimRoute | null;
  url: URL;
  exchange: Exchange;
  actor: { tokenId: string; organisationId: string } | null;
  resourceId: string | null;
  body: unknown;
}

interface Trace {
  changes: Change[];
  resourceId: string | null;
  details: Record<string, unknown>;
}

export function createScim({ services, trail, onFault }: ScimParts): WebHandler {
  const routes = scimRoutes();
  const kinds = resourceKinds(services.settings.scim.userMode);
  const proxies = parseRanges(services.settings.trustedProxies);
  const calls = createCallLimiter(services.clock, services.settings.adminRateLimit);

  const limitCalls = (subject: string): void => {
    const wait = calls.count(subject);
    if (wait > 0) throw new ScimError(429, null, 'Too many calls', { 'retry-after': String(wait) });
  };

  const identify = async (known: Known, request: Request, place: Place) => {
    const token = /^bearer\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    const found = token === undefined ? null : await organisationOfToken(services.store.db, token);
    if (!found?.settings.token) {
      limitCalls(known.exchange.clientIp);
      throw new ScimError(401, null, "Send the organisation's SCIM token as Authorization: Bearer", {
        'www-authenticate': 'Bearer',
      });
    }
    const { organisationId, settings } = found;
    known.actor = { tokenId: settings.token?.id ?? '', organisationId };
    limitCalls(organisationId);
    if (place.organisationId !== null && place.organisationId !== organisationId) {
      throw new ScimError(403, null, 'This token belongs to another organisation than the one in the path');
    }
    if (!settings.enabled) throw new ScimError(403, null, 'SCIM is switched off for this organisation (scim.enabled)');
    return { organisationId, settings };
  };

  const perform = async (
    known: Known & { route: ScimRoute },
    who: { organisationId: string; settings: ScimSettings },
    input: Pick<ScimCall, 'params' | 'query' | 'body' | 'base'>,
  ): Promise<ScimAnswer> => {
    const { route } = known;
    const run = (db: Db, trace: Trace): Promise<ScimAnswer> =>
      route.handle({
        ...input,
        ...who,
        db,
        services,
        kinds,
        now: services.clock.now(),
        actor: { id: who.settings.token?.id ?? 'scim', type: 'scim' },
        changed: (...changes) => void trace.changes.push(...changes),
        note: ({ resourceId, details }) => {
          trace.resourceId = resourceId ?? trace.resourceId;
          trace.details = { ...trace.details, ...details };
        },
      });
    if (!route.audit) return run(services.store.db, emptyTrace());
    const { answer, changes } = await services.store.atomically(async (tx) => {
      const trace = emptyTrace();
      const answer = await run(tx, trace);
      await services.feed.publish(tx, trace.changes);
      const row = auditRow(known, trace, answer.status);
      if (row) await insertAuditRow(tx, row);
      return { answer, changes: trace.changes };
    });
    services.feed.announce(changes);
    return answer;
  };

  const auditRow = (known: Known, trace: Trace, status: number): AuditRow | null => {
    const { route, exchange, actor } = known;
    const audit = route?.audit ?? (route && status === 400 ? refusedRead(route) : null);
    if (!route || !audit || !actor || !services.settings.auditLogs) return null;
    return {
      id: Bun.randomUUIDv7(),
      timestamp: services.clock.now().toISOString(),
      method: route.method,
      uri: known.url.pathname,
      request_id: exchange.requestId,
      request_body: bounded(known.body === undefined ? '' : JSON.stringify(maskBody(known.body))),
      query_params: bounded(JSON.stringify(maskQuery(known.url.searchParams))),
      request_headers: bounded(JSON.stringify(maskHeaders(exchange.headers))),
      user_id: actor.tokenId,
      user_type: 'scim',
      organisation_id: actor.organisationId,
      workspace_id: null,
      response_status_code: status,
      resource_type: audit.resource,
      resource_id: trace.resourceId ?? known.resourceId,
      action: audit.action,
      client_ip: exchange.clientIp,
      country: exchange.country,
      details: Object.keys(trace.details).length > 0 ? JSON.stringify(trace.details) : null,
    };
  };

  const refuse = (error: unknown, known: Known): ScimError => {
    if (error instanceof ScimError) return error;
    const refusal = refusalOf(error);
    if (refusal !== error) onFault(error, known.exchange.requestId);
    return scimErrorOf(refusal);
  };

  return async (request, peer) => {
    const url = new URL(request.url);
    if (!isScim(url.pathname)) return null;
    const client = clientAddress(peer(), request.headers, proxies);
    const requestId = Bun.randomUUIDv7();
    const exchange = exchangeOf(request, url, client, requestId, services.settings.publicUrl);
    const known: Known = { route: null, url, exchange, actor: null, resourceId: null, body: undefined };
    const headers = new Headers({
      'content-type': `${mediaType};charset=utf-8`,
      'cache-control': 'no-store',
      'x-gw-request-id': requestId,
    });
    try {
      if (!services.settings.scim.enabled) throw unknownResource('SCIM is switched off (SCIM_ENABLED=OFF)');
      const place = placeOf(url.pathname, exchange.origin);
      const match = routes.match(request.method === 'HEAD' ? 'GET' : request.method, place.path);
      const params = match.found === 'route' ? match.params : {};
      if (match.found === 'route') known.route = match.value;
      known.resourceId = params.id ?? null;
      const who = await identify(known, request, place);
      if (match.found === 'nothing') throw unknownResource(`No such resource: ${place.path.slice(0, 200)}`);
      if (match.found === 'other-methods') {
        const allow = match.methods.join(', ');
        throw new ScimError(405, null, `${request.method} is not offered here; use ${allow}`, { allow });
      }
      requireStorable('path', params);
      requireStorable('query', Object.fromEntries(url.searchParams));
      known.body = await bodyOf(request, services.bodyRoom(who.organisationId));
      const input = { params, query: url.searchParams, body: known.body, base: place.base };
      const answer = await perform({ ...known, route: match.value }, who, input);
      if (answer.location !== undefined) headers.set('location', answer.location);
      if (answer.status === 204) headers.delete('content-type');
      return new Response(answer.status === 204 ? null : JSON.stringify(answer.body), {
        status: answer.status,
        headers,
      });
    } catch (error) {
      const refusal = refuse(error, known);
      const row = auditRow(known, { ...emptyTrace(), details: { reason: refusal.message } }, refusal.status);
      if (row) trail.queue(row);
      return scimErrorResponse(refusal, headers);
    }
  };
}

/** A read that cannot be understood, such as a filter that does not parse, is told too: its sender is set up wrongly. */
const refusedRead = ({ path }: ScimRoute): NonNullable<ScimRoute['audit']> => ({
  resource: path.startsWith('/Groups') ? 'scim_group' : 'user',
  action: 'invoke',
});

const emptyTrace = (): Trace => ({ changes: [], resourceId: null, details: {} });

/** The administration's own routes differ from the protocol's only in their letters: `/v1/scim/groups`, `/v1/scim/Groups`. */
const isScim = (pathname: string): boolean => /^\/v[12]\/scim\/(?!(?:workspaces|groups)(?:\/|$))/.test(pathname);

/** An organisation stands in the path only in front of something. */
function placeOf(pathname: string, origin: string): Place {
  const [, version = '', organisationId, path = ''] =
    /^\/(v[12])\/scim(?:\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=\/.))?(\/.*)$/i.exec(pathname) ?? [];
  const base = `${origin}/${version}/scim${organisationId === undefined ? '' : `/${organisationId}`}`;
  return { organisationId: organisationId?.toLowerCase() ?? null, path, base };
}

async function bodyOf(request: Request, room: BodyRoom): Promise<unknown> {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  try {
    const body = await readJsonBody(request, bodyLimit, { room });
    requireStorable('body', body);
    return body;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) throw new ScimError(400, 'invalidSyntax', error.message);
    throw error;
  }
}
