/** The agent data plane: who asks which agent for what, whether they may, and the way there and back. */

import { mayUse } from '../catalog/access-rules.ts';
import { interfacesOf } from '../catalog/agents/card.ts';
import type { AgentServer } from '../catalog/agents/server.ts';
import { digestOf } from '../catalog/digest.ts';
import { guardsOfAgent } from '../catalog/guards.ts';
import type { Arrival, Identified } from '../gateway/context.ts';
import { GatewayError } from '../gateway/errors.ts';
import { arrivalHeaders } from '../gateway/response/reply.ts';
import type { UpstreamIdentity } from '../mcp/principal.ts';
import { CallTime, exchange } from '../mcp/upstream/exchange.ts';
import type { WireAnswer } from '../wire/client/answer.ts';
import type { Bytes } from '../wire/client/collected.ts';
import type { Incoming } from '../wire/server/incoming.ts';
import type { Reply } from '../wire/server/reply.ts';
import { AgentCall, agentRoute, refusalReply, serviceOf } from './call.ts';
import { newestVersion } from './cards.ts';
import type { AgentDeps } from './deps.ts';
import { AgentError, agentErrorOf, noSuchTask } from './errors.ts';
import { httpOperation, type Operation, rpcOperation } from './operations.ts';
import { type AgentPath, agentPath, readPath } from './path.ts';
import { type Posted, posted, UnreadableRpc } from './request.ts';
import { carriedReply, denied, isJson, isStream, placeOf, streamReply, wholeReply } from './respond.ts';
import { rewrittenCard } from './rewritten-card.ts';
import { httpTarget, rpcTarget } from './target.ts';

export interface AgentGateway {
  /** Null for paths of others. */
  handle(request: Incoming): Promise<Reply> | null;
  /** Resolves when every answer is out. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const firstByteMs = 60_000;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

/** What of the client's headers always goes on: it belongs to the protocol, to the body or to the trace. */
const forwarded = [
  'content-type',
  'accept',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'traceparent',
  'tracestate',
  'last-event-id',
] as const;

export function createAgentGateway(deps: AgentDeps): AgentGateway {
  const { services, owners, cards } = deps;

  const serve = async (request: Incoming, raw: NonNullable<ReturnType<typeof agentPath>>): Promise<Reply> => {
    const arrival = services.receive(request, `/v1/agent/${raw.server.slice(0, 255)}`, agentRoute);
    let identified: Identified | null = null;
    let call: AgentCall | null = null;
    let id: Posted['id'];
    try {
      if (request.headers.get('upgrade') !== null) {
        throw new AgentError('upgrade_required', 'agents are not spoken to over WebSocket; use HTTP and SSE');
      }
      const method = methodOf(request);
      identified = await services.identify(arrival);
      const path = readPath(raw);
      const server = reachAgent(identified, path.server);
      const identity = await identityOf(server, identified);
      const isCard = isCardPath(path, method);
      const isRpc = path.segments.length === 0 && method === 'POST';
      const body = isCard ? noBody : await posted(request, isRpc, services.room(identified).hold);
      id = body.id;
      const operation = operationOf(method, path, body, isCard);
      call = new AgentCall(deps, identified, { server, identity, operation, posted: body });
      return await answered(call, { request, path, method, isCard });
    } catch (fault) {
      if (fault instanceof UnreadableRpc) id = fault.id;
      return refused(fault, { arrival, identified, call, id, slug: raw.server });
    }
  };

  const answered = async (
    call: AgentCall,
    { request, path, method, isCard }: { request: Incoming; path: AgentPath; method: Method; isCard: boolean },
  ): Promise<Reply> => {
    request.onLeave(() => call.abort.abort(new AgentError('client_closed', 'the client closed the connection')));
    await requireAllowed(call);
    call.admission = await services.admit(call.context, call.inputTokens);
    const origin = deps.originOf(request);
    if (isCard) return cardReply(call, origin, request.headers.get('if-none-match'));
    const bytes = await guardedBody(call);
    const url = await targetOf(call, path);
    const ask = (to: string, sent: Bytes | null) => asked(call, { url: to, method, bytes: sent, request });
    const answer = await ask(url, bytes);
    if (isStream(answer)) return streamReply(call, answer);
    const isKnown = call.operation.kind !== 'other' || call.posted.id !== undefined || isJson(answer);
    if (!isKnown) return carriedReply(call, answer);
    return wholeReply(call, answer, origin, (token) => nextPage(call, url, token, ask));
  };

  /** Throws where the request names what is not the caller's, or what nobody may ask for. */
  const requireAllowed = async (call: AgentCall): Promise<void> => {
    const { operation, server, identified, owner } = call;
    const off = operation.skills.find((skill) => server.skillsOff.has(skill));
    if (off !== undefined) throw new AgentError('unsupported_operation', `The skill ${off} is not available`);
    for (const url of operation.pushUrls) {
      const fault = await deps.faultOfPushUrl(url, identified.caller.organisationId);
      if (fault) throw new AgentError('invalid_params', `The URL for push notifications ${fault}`);
    }
    const isOwn = (found: typeof owner) => found.workspaceId === owner.workspaceId && found.owner === owner.owner;
    for (const task of operation.tasks) {
      const found = await owners.of(server.url, 'task', task);
      if (!found || !isOwn(found)) throw noSuchTask();
    }
    // An id that a client may choose belongs to the first caller who uses it.
    const chosenOnes = [
      ...(operation.newTask === null ? [] : [['task', operation.newTask] as const]),
      ...operation.contexts.map((context) => ['context', context] as const),
    ];
    for (const mentioned of operation.mentioned) {
      const found = await owners.of(server.url, 'task', mentioned);
      if (found && !isOwn(found)) throw noSuchTask();
    }
    for (const [kind, chosen] of chosenOnes) {
      const found = await owners.of(server.url, kind, chosen);
      if (found && !isOwn(found)) throw noSuchTask();
      if (!found && call.isMessage) owners.claim(server.url, kind, chosen, owner);
    }
  };

  /** `known`: the entity tag of the card that the client has. */
  const cardReply = async (call: AgentCall, origin: string, known: string | null): Promise<Reply> => {
    const { server, identity, identified } = call;
    const version = identified.own.fields['a2a-version']?.slice(0, 32) ?? null;
    call.reached = true;
    const result = await cards.forVersion(server, identity, version);
    call.upstreamMs = result.responseTimeMs;
    if (!result.found) {
      if (result.fault === 'timeout') throw new AgentError('upstream_timeout', `the agent ${result.error}`);
      throw new AgentError('upstream_error', `the agent${result.fault === 'card' ? "'s card" : ''} ${result.error}`);
    }
    deps.observe(server, result.card, version);
    const card = rewrittenCard(result.card, placeOf(call, origin));
    const etag = `"${digestOf(card)}"`;
    const isKnown = known?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false;
    const headers = {
      'content-type': 'application/json',
      'cache-control': 'private, max-age=60',
      etag,
      vary: 'A2A-Version',
      ...arrivalHeaders(identified),
    };
    const status = isKnown ? 304 : 200;
    const body = isKnown ? null : new TextEncoder().encode(JSON.stringify(card));
    call.settle({ status, headers, body, failure: null, answerText: '' });
    return { status, headers, body };
  };

  /** What goes to the agent, once guardrails have seen it. */
  const guardedBody = async (call: AgentCall): Promise<Bytes | null> => {
    const { posted: sent, server, identified } = call;
    const guards = call.isMessage ? guardsOfAgent(identified.workspace, server) : null;
    if (!guards) return sent.bytes;
    call.guard = services.guard(call.context, guards);
    const { denial, value } = await call.guard.before({ ...sent.params });
    if (denial !== null) throw denied(call, denial);
    if (!call.guard.state.requestTransformed) return sent.bytes;
    const changed = sent.id === undefined ? value : { ...sent.json, params: value };
    return new TextEncoder().encode(JSON.stringify(changed));
  };

  const targetOf = async (call: AgentCall, { segments, query }: AgentPath): Promise<string> => {
    const { server, operation, posted: sent, identity } = call;
    const needsCard = server.interfaces === null && (segments.length === 0 || operation.kind !== 'other');
    const fetched = needsCard ? await cards.forVersion(server, identity, newestVersion) : null;
    if (fetched?.found) deps.observe(server, fetched.card, newestVersion);
    const interfaces = server.interfaces ?? (fetched?.found ? interfacesOf(fetched.card) : []);
    const asked = { base: server.url, interfaces, segments, query, generation: operation.generation };
    if (sent.id !== undefined) return rpcTarget(asked);
    return httpTarget(asked, 'before' in operation && operation.kind !== 'other' ? String(operation.before) : null);
  };

  const asked = async (
    call: AgentCall,
    { url, method, bytes, request }: { url: string; method: Method; bytes: Bytes | null; request: Incoming },
  ): Promise<WireAnswer> => {
    const headers: Record<string, string> = {};
    for (const name of forwarded) {
      const value = request.headers.get(name);
      if (value !== null) headers[name] = value;
    }
    const ms = call.server.settings.timeout_ms ?? firstByteMs;
    const time = new CallTime(deps.upstream.deadlines, ms, call.abort);
    const startedAt = performance.now();
    call.reached = true;
    try {
      const sent = { url, method, headers, body: bytes, room: services.room(call.identified) };
      const { answer } = await exchange(deps.upstream, call.server, call.identity, sent, time);
      // From here on the silence of a stream counts, and the size of an answer.
      if (isStream(answer)) time.lift();
      return answer;
    } catch (fault) {
      if (call.abort.reason instanceof AgentError) throw call.abort.reason;
      throw fault;
    } finally {
      call.upstreamMs += performance.now() - startedAt;
    }
  };

  const refused = (
    fault: unknown,
    known: {
      arrival: Arrival;
      identified: Identified | null;
      call: AgentCall | null;
      id: Posted['id'];
      slug: string;
    },
  ): Reply => {
    const { arrival, identified, call, id, slug } = known;
    const error = errorOf(fault, arrival.requestId);
    const reply = refusalReply(arrival, error, id);
    const { status, headers, body } = reply;
    if (!call) services.release(arrival.request);
    if (call) call.settle({ status, headers, body, failure: error.message, answerText: '' });
    else if (identified) {
      const service = serviceOf(
        { slug: slug.slice(0, 255), integrationId: '', url: '', settings: {} },
        arrival.request.method,
      );
      const context = services.begin(identified, { ...service, integrationId: null }, agentRoute, null);
      services.settle(context, { status, headers, body, failure: error.message, upstreamMs: 0 });
    }
    return reply;
  };

  const errorOf = (fault: unknown, requestId: string): AgentError => {
    const known = agentErrorOf(fault);
    if (known) return known;
    if (deps.isStoreAway(fault)) {
      return new AgentError('store_unavailable', 'the database cannot be reached to check this call; try again');
    }
    // The keyring may be the one that cannot ask.
    if (fault instanceof GatewayError && fault.status < 500) return new AgentError('invalid_request', fault.message);
    deps.onFault(fault, requestId);
    return new AgentError('internal_error', 'something went wrong on our side');
  };

  const identityOf = async (server: AgentServer, identified: Identified): Promise<UpstreamIdentity> => {
    const { caller, own, keyHeaders, credentialHeader, workspace } = identified;
    const { settings } = server;
    const { userId } = caller;
    const isTold = settings.user_identity_forwarding !== undefined;
    const bearer = /^bearer\s+(.+)$/i.exec(own.fields.authorization ?? '')?.[1]?.trim() ?? null;
    const headers = Object.fromEntries(
      Object.entries(own.fields).filter(([name]) => !own.isOwn(name) && !keyHeaders.has(name)),
    );
    return {
      key: isTold || settings.forward_headers ? (userId ?? caller.keyId) : 'shared',
      userId,
      claims: {
        sub: userId ?? caller.keyId,
        scope: 'agents.invoke',
        ...(userId !== null && {
          user_id: userId,
          username: caller.defaults.userName,
          email: isTold ? await deps.emailOf(userId) : null,
        }),
        workspace_id: workspace.workspaceId,
        organisation_id: caller.organisationId,
      },
      bearer: credentialHeader === 'x-gw-api-key' && !keyHeaders.has('authorization') ? bearer : null,
      origin: null,
      headers,
    };
  };

  return {
    handle(request) {
      const path = agentPath(request.target);
      return path && serve(request, path);
    },
    idle: () => deps.inFlight.none(),
    close: () => owners.close(),
  };
}

const noBody: Posted = { bytes: null, text: '', id: undefined, method: '', params: {}, json: null };

function methodOf({ method }: Incoming): Method {
  const known = methods.find((one) => one === method);
  if (known) return known;
  throw new AgentError('method_not_allowed', `${method.slice(0, 20)} is not passed on to agents`, {
    headers: { allow: methods.join(', ') },
  });
}

function reachAgent({ workspace, caller }: Identified, reference: string): AgentServer {
  const server = workspace.agents.find(reference);
  if (!server)
    throw new AgentError('agent_not_found', `there is no agent server ${reference.slice(0, 100)} in this workspace`);
  if (!server.granted)
    throw new AgentError('forbidden', `the agent server ${server.slug} is not enabled for this workspace`);
  if (!mayUse(server, caller.userId))
    throw new AgentError('forbidden', `you may not use the agent server ${server.slug}`);
  return server;
}

const isCardPath = ({ segments }: AgentPath, method: Method): boolean =>
  segments.length === 2 &&
  segments[0] === '.well-known' &&
  (segments[1] === 'agent-card.json' || segments[1] === 'agent.json') &&
  (method === 'GET' || method === 'POST');

function operationOf(method: Method, { segments, query }: AgentPath, body: Posted, isCard: boolean): Operation {
  if (body.id !== undefined) return rpcOperation(body.method, body.params);
  const found = httpOperation(method, segments, query, body.params);
  return isCard ? { ...found, method: 'agent card' } : found;
}

/** Asks for the page behind a page of which nothing may be shown. */
function nextPage(
  { posted: sent }: AgentCall,
  url: string,
  token: string,
  ask: (url: string, bytes: Bytes | null) => Promise<WireAnswer>,
): Promise<WireAnswer> {
  if (sent.id !== undefined) {
    const next = { ...sent.json, params: { ...sent.params, pageToken: token } };
    return ask(url, new TextEncoder().encode(JSON.stringify(next)));
  }
  const address = new URL(url);
  address.searchParams.set('pageToken', token);
  return ask(address.href, null);
}
