/** Serves the endpoints: authentication, permission, the workspace lock, validation, paging, the transaction, the audit row and the error body. */
import { readJsonBody } from '../../http/body.ts';
import { clientAddress, parseRanges } from '../../http/client-address.ts';
import {
  errorResponse,
  forbidden,
  invalidFields,
  methodNotAllowed,
  noSuchRoute,
  tooMany,
  unauthenticated,
} from '../../http/errors.ts';
import { isReserved, isRetired, unknownRoute } from '../../http/reserved-paths.ts';
import { RouteTable } from '../../http/routes.ts';
import type { Peer } from '../../http/web.ts';
import type { Authenticator } from '../../identity/authenticate.ts';
import { actorId, actorType, type Caller } from '../../identity/caller.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { type AuditRow, type AuditTrail, insertAuditRow } from './audit/audit.ts';
import { bounded, maskBody, maskHeaders, maskPath, maskQuery } from './audit/mask.ts';
import type { AuditNote, Endpoint, Exchange, NamedWorkspace, Resource } from './endpoint.ts';
import { exchangeOf } from './exchange.ts';
import { empty } from './fields.ts';
import { readPage } from './lists/paging.ts';
import { requireKind, requireScope } from './permission.ts';
import { createCallLimiter } from './rate-limit.ts';
import { AttributedError, refusalOf, refusedCredential } from './refusals.ts';
import { refuseLedAstray } from './saved-addresses.ts';
import type { Services } from './services.ts';
import { requireStorable, validate } from './validate.ts';
import { lockWorkspace } from './workspace-lock.ts';

interface Kernel {
  /** The answer, or null when no endpoint has this path. */
  handle(request: Request, peer: Peer): Promise<Response | null>;
}

interface KernelParts {
  resources: readonly Resource[];
  services: Services;
  authenticator: Authenticator;
  trail: AuditTrail;
  /** Told of every fault of ours, with the request it happened in. */
  onFault(fault: unknown, requestId: string): void;
  /** Checks every reply against its schema; on in tests, where a reply that breaks its promise must fail. */
  checkReplies: boolean;
}

const versions = ['/v1', '/v2'];
const bodyLimit = 1024 * 1024;
/** Of those who need not say who they are: addresses, passwords and tokens. */
const openBodyLimit = 64 * 1024;
const unsafeMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const wholeList = { index: 0, size: 0, offset: 0 };

/** What the kernel knows of a call before its handler runs; enough for an audit row whatever happens next. */
interface Known {
  endpoint: Endpoint;
  url: URL;
  /** The path as an audit row may show it. */
  path: string;
  exchange: Exchange;
  caller: Caller | null;
  body: unknown;
  workspace: NamedWorkspace | null;
  resourceId: string | null;
}

/** What a handler left behind besides its reply. */
interface Trace {
  changes: Change[];
  note: AuditNote;
  headers: Headers;
}

export function createKernel(parts: KernelParts): Kernel {
  const { services, authenticator, trail } = parts;
  const routes = new RouteTable<Endpoint>();
  const paths = new Set<string>();
  const savingAddresses = new Set(
    parts.resources.flatMap((resource) => (resource.savesAddresses ? resource.endpoints : [])),
  );
  for (const endpoint of parts.resources.flatMap((resource) => resource.endpoints)) {
    for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
      for (const version of endpoint.atRoot ? [...versions, ''] : versions) {
        routes.add(endpoint.method, version + path, endpoint);
        paths.add(version + path);
      }
    }
  }
  const proxies = parseRanges(services.settings.trustedProxies);
  const calls = createCallLimiter(services.clock, services.settings.adminRateLimit);
  const sensitiveCalls = createCallLimiter(services.clock, services.settings.sensitiveRateLimit);

  const identify = async (known: Known, request: Request): Promise<void> => {
    const { endpoint, exchange } = known;
    const { clientIp } = exchange;
    if (endpoint.access === 'open') {
      if (endpoint.throttle === 'sensitive') limitCalls(endpoint, clientIp);
      return;
    }
    const authentication = await authenticator.authenticate(request.headers);
    if (authentication.outcome === 'missing') {
      limitCalls(endpoint, clientIp);
      throw unauthenticated('Send an API key in the header x-gw-api-key, or sign in');
    }
    if (authentication.outcome === 'refused') {
      limitCalls(endpoint, clientIp);
      throw refusedCredential(authentication.reason);
    }
    const { caller, carrier } = authentication;
    limitCalls(endpoint, actorId(caller));
    known.caller = caller;
    if (carrier === 'cookie' && caller.kind === 'session' && unsafeMethods.has(request.method)) {
      // A cookie travels with forged requests too; this header cannot be set by another site's page.
      if (request.headers.get('x-gw-csrf') !== caller.csrfToken) {
        throw forbidden("Send the session's csrf_token (from GET /v1/auth/self) in the header x-gw-csrf");
      }
    }
  };

  const limitCalls = (endpoint: Endpoint, subject: string) => {
    const wait = calls.count(subject) || (endpoint.throttle === 'sensitive' ? sensitiveCalls.count(subject) : 0);
    if (wait > 0) throw tooMany(wait, `Too many calls; try again in ${wait} seconds`);
  };

  const prepare = async (known: Known, request: Request, params: Record<string, string>) => {
    const { endpoint, url, caller } = known;
    const { access } = endpoint;
    // First of all, because the audit row of a refusal names what the path names.
    requireStorable('path', params);
    known.resourceId = lastParameter(params);
    if (access !== 'open' && caller) {
      requireKind(access, caller);
      requireScope(access, caller, null);
    }
    requireStorable('query', queryFields(url.searchParams));
    if (unsafeMethods.has(request.method)) {
      const largest = endpoint.bodyLimit ?? (access === 'open' ? openBodyLimit : bodyLimit);
      const sent = await readJsonBody(request, largest, { room: services.bodyRoom(caller?.organisationId ?? '') });
      requireStorable('body', sent);
      known.body = sent;
    }
    if (access !== 'open' && caller) {
      keepToOrganisation(caller, known, access.leadsElsewhere ?? false);
      if (access.level === 'workspace') {
        const named = params.workspaceId ?? namedWorkspace(url.searchParams, known.body);
        known.workspace = await lockWorkspace(services.store.db, caller, named);
        requireScope(access, caller, known.workspace);
      }
    }
    const body = known.body === undefined && !(endpoint.bodyRequired ?? true) ? {} : known.body;
    const input = {
      params: validatePath(endpoint, params),
      query: validate('query', (endpoint.query ?? empty)(), queryFields(url.searchParams)),
      body: endpoint.body ? validate('body', endpoint.body(), requireBody(body)) : {},
      page: endpoint.paging ? readPage(url.searchParams, endpoint.paging) : wholeList,
    };
    // Before the transaction begins: whoever looks a name up waits.
    if (caller && savingAddresses.has(endpoint)) await refuseLedAstray(body, services, caller.organisationId);
    return input;
  };

  type Input = Awaited<ReturnType<typeof prepare>>;

  type Commit = <T>(work: (tx: Db) => Promise<T>) => Promise<T>;

  const run = async (
    known: Known,
    input: Input,
    db: Db,
    trace: Trace,
    commit: Commit = (work) => work(db),
  ): Promise<unknown> => {
    const { endpoint } = known;
    const reply = await endpoint.handle({
      ...input,
      caller: known.caller,
      workspace: known.workspace,
      db,
      commit,
      now: services.clock.now(),
      services,
      exchange: known.exchange,
      changed: (...changes) => void trace.changes.push(...changes),
      note: (entry) => {
        trace.note = { ...trace.note, ...entry, details: { ...trace.note.details, ...entry.details } };
      },
      header: (name, value) => trace.headers.append(name, value),
    });
    // Checked, not replaced by what the schema made of it: tests must see what clients see.
    if (parts.checkReplies) endpoint.reply().parse(reply);
    return reply;
  };

  /** Writes run whole or not at all, together with their audit row and their change notices. */
  const perform = async (known: Known, input: Input): Promise<{ reply: unknown; trace: Trace }> => {
    const { endpoint } = known;
    if (endpoint.method === 'GET') {
      const trace = emptyTrace();
      return { reply: await run(known, input, services.store.db, trace), trace };
    }
    const record = async (db: Db, trace: Trace) => {
      await services.feed.publish(db, trace.changes);
      const row = auditRow(known, trace.note, 200, services.clock.now());
      if (row) await insertAuditRow(db, row);
    };
    if (endpoint.atomic === false) {
      const trace = emptyTrace();
      let committed = false;
      const commit: Commit = async (work) => {
        const result = await services.store.atomically(async (tx) => {
          Object.assign(trace, emptyTrace());
          const done = await work(tx);
          await record(tx, trace);
          return done;
        });
        committed = true;
        return result;
      };
      const reply = await run(known, input, services.store.db, trace, commit);
      // A handler that found nothing to change still leaves its row.
      if (!committed) await record(services.store.db, trace);
      return { reply, trace };
    }
    // The store may run this again when it lost a race, so each run starts with a trace of its own.
    return services.store.atomically(async (tx) => {
      const trace = emptyTrace();
      await lockAgain(known, tx);
      const reply = await run(known, input, tx, trace);
      await record(tx, trace);
      return { reply, trace };
    });
  };

  /** The workspace may have been archived since it was named; read in the transaction, it cannot be before the end of it. */
  const lockAgain = async (known: Known, tx: Db): Promise<void> => {
    const { caller, workspace } = known;
    if (caller && workspace) known.workspace = await lockWorkspace(tx, caller, workspace.id);
  };

  const refuse = (error: unknown, known: Known): Response => {
    const refusal = refusalOf(error);
    if (refusal !== error) parts.onFault(error, known.exchange.requestId);
    if (known.endpoint.method !== 'GET') {
      const note = error instanceof AttributedError ? error.note : {};
      const row = auditRow(known, note, refusal.status, services.clock.now());
      if (row) trail.queue(row);
    }
    return errorResponse(refusal, known.exchange.requestId);
  };

  return {
    async handle(request, peer) {
      const url = new URL(request.url);
      // Whoever may read a thing may ask for its headers alone; the listener leaves the body out.
      const method = request.method === 'HEAD' ? 'GET' : request.method;
      const requestId = Bun.randomUUIDv7();
      if (isRetired(url.pathname)) return errorResponse(noSuchRoute('This route was removed'), requestId);
      const match = routes.match(method, url.pathname);
      if (match.found === 'nothing') {
        if (!isReserved(url.pathname)) return null;
        return errorResponse(noSuchRoute(unknownRoute(request.method, url.pathname, paths)), requestId);
      }
      if (match.found === 'other-methods') {
        return errorResponse(methodNotAllowed(request.method, match.methods), requestId);
      }
      const client = clientAddress(peer(), request.headers, proxies);
      const known: Known = {
        endpoint: match.value,
        url,
        path: maskPath(url.pathname, match.params),
        exchange: exchangeOf(request, url, client, requestId, services.settings.publicUrl),
        caller: null,
        body: undefined,
        workspace: null,
        resourceId: null,
      };
      try {
        await identify(known, request);
        const input = await prepare(known, request, match.params);
        const { reply, trace } = await perform(known, input);
        services.feed.announce(trace.changes);
        trace.headers.set('x-gw-request-id', requestId);
        trace.headers.set('cache-control', 'no-store');
        return Response.json(reply, { headers: trace.headers });
      } catch (error) {
        return refuse(error, known);
      }
    },
  };

  function auditRow(known: Known, note: AuditNote, status: number, now: Date): AuditRow | null {
    const { endpoint, exchange, caller } = known;
    const actor =
      note.actor ?? (caller && { id: actorId(caller), type: actorType(caller), organisationId: caller.organisationId });
    if (endpoint.method === 'GET' || endpoint.audit === 'none' || !actor || !services.settings.auditLogs) return null;
    const details = note.details && Object.keys(note.details).length > 0 ? JSON.stringify(note.details) : null;
    return {
      id: Bun.randomUUIDv7(),
      timestamp: now.toISOString(),
      method: endpoint.method,
      uri: known.path,
      request_id: exchange.requestId,
      request_body: bounded(known.body === undefined ? '' : JSON.stringify(maskBody(known.body))),
      query_params: bounded(JSON.stringify(maskQuery(known.url.searchParams))),
      request_headers: bounded(JSON.stringify(maskHeaders(exchange.headers))),
      user_id: actor.id,
      user_type: actor.type,
      organisation_id: actor.organisationId,
      workspace_id: note.workspaceId ?? known.workspace?.id ?? null,
      response_status_code: status,
      resource_type: endpoint.audit.resource,
      resource_id: note.resourceId ?? known.resourceId,
      action: endpoint.audit.action,
      client_ip: exchange.clientIp,
      country: exchange.country,
      details,
    };
  }
}

const emptyTrace = (): Trace => ({ changes: [], note: {}, headers: new Headers() });

/** The most specific thing that the path names. */
const lastParameter = (params: Record<string, string>): string | null => Object.values(params).at(0) ?? null;

/** Of a parameter that is repeated the first counts, here as in the checks that ask for one by its name. */
function queryFields(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].reverse());
}

/** Where the path does not name the workspace: the body does, where a call has one, else the query. */
const namedWorkspace = (query: URLSearchParams, body: unknown): string | null =>
  stringField(body, 'workspace_id') ?? query.get('workspace_id');

function stringField(body: unknown, name: string): string | null {
  if (typeof body !== 'object' || body === null || !(name in body)) return null;
  const value = (body as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A credential is good for one organisation; naming another one is refused, not ignored. */
function keepToOrganisation(caller: Caller, known: Known, leadsElsewhere: boolean): void {
  const named = [
    known.exchange.headers.get('x-gw-organisation-id'),
    known.url.searchParams.get('organisation_id'),
    leadsElsewhere ? null : stringField(known.body, 'organisation_id'),
  ];
  if (named.some((id) => id !== null && id !== caller.organisationId)) {
    throw forbidden('This credential belongs to another organisation than the one named');
  }
}

/** An id in the path that cannot be one names nothing. */
function validatePath(endpoint: Endpoint, params: Record<string, string>): unknown {
  const result = (endpoint.params ?? empty)().safeParse(params);
  if (result.success) return result.data;
  const names = result.error.issues.map((issue) => issue.path.join('.')).join(', ');
  throw noSuchRoute(`The path holds something that is no ${names}`);
}

function requireBody(body: unknown): unknown {
  if (body === undefined)
    throw invalidFields([{ location: 'body', path: '', message: 'Send a JSON object as the body' }]);
  return body;
}
