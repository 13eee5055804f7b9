/** The MCP data plane: finds the server that a path names, who calls it, and which era the client speaks. */
import { readJson, repeatsField } from '../bounded-json.ts';
import { GatewayError } from '../gateway/errors.ts';
import { countedFrom, type HoldBytes } from '../gateway/request/body-budget.ts';
import { countedWhole } from '../gateway/upstream/counted-body.ts';
import type { Cors } from '../http/cors.ts';
import type { Handler } from '../http/web.ts';
import { Abort } from '../wire/abort.ts';
import type { Bytes } from '../wire/client/collected.ts';
import { WireFault } from '../wire/fault.ts';
import type { Incoming } from '../wire/server/incoming.ts';
import type { Reply } from '../wire/server/reply.ts';
import { toldWhenSent } from '../wire/server/unsent-body.ts';
import { reachServer } from './access.ts';
import { type CallContext, leaseFor, upstreamIdentityOf } from './call-context.ts';
import { failed } from './called.ts';
import { shownFailure } from './client/ended.ts';
import { checkEnvelope, isStateless } from './client/envelope.ts';
import { KeepAlive } from './client/event-stream.ts';
import { Gathered, Responder } from './client/responder.ts';
import { jsonReply, type Posted, SessionEra } from './client/session-era.ts';
import { Sessions } from './client/sessions.ts';
import { SsePairs } from './client/sse-pair.ts';
import { StatelessEra } from './client/stateless-era.ts';
import type { McpDeps } from './deps.ts';
import { McpError, ofGateway } from './errors.ts';
import { identifyPrincipal, type McpArrival, messageRoute } from './identify.ts';
import { joinedServer, joinedSlug } from './joined/servers.ts';
import { JoinedSessions } from './joined/session.ts';
import { JoinedStateless } from './joined/stateless.ts';
import type { UpstreamRefusal } from './lists.ts';
import { mcpCors } from './mcp-cors.ts';
import { type JsonRpcId, messageIn, type RpcMessage } from './protocol/json-rpc.ts';
import { assumedVersion, isSessionVersion, isStatelessVersion } from './protocol/versions.ts';
import { createServerSideTools } from './server-side/handler.ts';
import { filledUpstream } from './upstream/filled.ts';

export interface McpGateway {
  /** Null for paths of others. */
  handle(request: Incoming): Promise<Reply> | null;
  /** The same for model requests whose tools are servers of ours. */
  serverSide(models: Handler, options: { mostIterations: number; bodyLimit: number }): Handler;
  /** Pages of other origins may call, unless the operator lists those that may. */
  cors(others: Cors): Cors;
  /** Another node says that a session has ended. */
  sessionEnded(digest: string): void;
  /** How many sessions this node knows. */
  activeSessions(): number;
  readonly openStreams: number;
  /** Ends streams that would stay open for ever, and resolves when every answer is out. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface McpGatewayOptions {
  /** Origins that may call; empty: any. */
  allowedOrigins: readonly string[];
  /** How the service is reached, as OAuth documents name it. */
  originOf(request: Incoming): string;
}

/** The first segments of paths that belong to the service itself. */
const reserved = new Set(['v1', 'v2', 'oauth', 'health', 'metrics', 'agent', 'docs', 'assets', joinedSlug]);
const pathForm = /^\/(?:([A-Za-z0-9_-]{1,255})\/(mcp|sse|messages)|mcp)\/?(?:\?(.*))?$/;

const largestBody = 10 * 1024 * 1024;
const bodyPatienceMs = 60_000;
const sweepMs = 60_000;

export function createMcpGateway(deps: McpDeps, { allowedOrigins, originOf }: McpGatewayOptions): McpGateway {
  const keeper = new KeepAlive();
  const sessions = new Sessions(() => deps.clock.now().getTime());
  const sessionEra = new SessionEra(deps, sessions, keeper);
  const statelessEra = new StatelessEra(deps, keeper);
  const pairs = new SsePairs(deps, sessionEra, keeper);
  const single = { session: sessionEra, stateless: statelessEra };
  const joined = {
    session: new JoinedSessions(deps, sessionEra, sessions, keeper),
    stateless: new JoinedStateless(deps, statelessEra, keeper),
  };
  const erasOf = ({ server }: CallContext) => (server.slug === joinedSlug ? joined : single);
  const sweeper = setInterval(() => sessions.sweep(), sweepMs);

  const contextOf = async (request: Incoming, slug: string, path: string): Promise<CallContext> => {
    const headers = request.headers.fields;
    const asked: McpArrival = { headers, origin: originOf(request), path };
    const arrival = deps.services.receive(request, path, messageRoute);
    const { identified, principal } = await identifyPrincipal(deps, arrival, asked);
    const server =
      slug === joinedSlug
        ? joinedServer(principal.workspace, principal.caller.organisationId)
        : await filledUpstream(deps.upstream.secrets, reachServer(principal, slug));
    const userClaims = await deps.endUser(server, headers);
    return {
      principal,
      server,
      identity: upstreamIdentityOf(server, principal, asked),
      asked,
      client: { info: {}, capabilities: {} },
      sessionId: null,
      userClaims,
      identified,
      requestId: identified.requestId,
    };
  };

  const serve = async (request: Incoming, slug: string, kind: string, query: string): Promise<Reply> => {
    let id: JsonRpcId | null = null;
    /** Some are answered while they are still at work, and some answers wait for their clients. */
    let atWork = 1;
    const over = () => {
      if (--atWork === 0) deps.services.release(request);
    };
    const whenOver = () => {
      atWork++;
      return over;
    };
    const counted = (reply: Reply): Reply => {
      const { body } = reply;
      return body instanceof Uint8Array && body.length >= countedFrom
        ? toldWhenSent({ ...reply, body }, whenOver())
        : reply;
    };
    try {
      const { fields } = request.headers;
      requireOrigin(fields.origin, allowedOrigins);
      if (!allows(kind, request.method)) throw notAllowed(kind);
      const context = await contextOf(request, slug, slug === joinedSlug ? '/mcp' : `/${slug}/mcp`);
      if (kind === 'sse') return pairs.open(context, slug);
      if (request.method === 'POST') {
        const posted = await postedOf(request, kind === 'mcp', deps.services.room(context.identified).hold);
        if (Array.isArray(posted)) return counted(await batched(context, posted));
        if (posted.message.kind === 'request') id = posted.message.id;
        if (kind === 'messages') {
          const reply = pairs.post(context, new URLSearchParams(query).get('sessionId') ?? '', posted, over);
          atWork++;
          return reply;
        }
        return counted(await answered(request, context, posted, whenOver));
      }
      const session = fields['mcp-session-id'];
      requireSessionEra(fields['mcp-protocol-version']);
      requireKnownVersion(fields['mcp-protocol-version']);
      const found = sessionEra.find(context, session);
      const era = erasOf(context).session;
      if (request.method === 'DELETE') return await era.end(found, session ?? '');
      if (!(fields.accept ?? '').includes('text/event-stream') && fields.accept !== '*/*') {
        throw new McpError('not_acceptable', 'send the header Accept: text/event-stream');
      }
      return await era.listen(found, fields['last-event-id']);
    } catch (fault) {
      const error = failed(fault, (one) => deps.onFault(one, slug));
      return refusalOf(error, id);
    } finally {
      over();
    }
  };

  const answered = async (
    request: Incoming,
    context: CallContext,
    posted: Posted,
    whenOver: () => () => void,
  ): Promise<Reply> => {
    const { fields } = request.headers;
    const { message, text } = posted;
    const era = erasOf(context);
    if (message.kind !== 'response' && isStateless(message, fields)) {
      checkEnvelope(message, fields);
      if (message.kind === 'notification') return statelessEra.notified(context, message, text);
      const own = statelessEra.contextOf(context, message);
      if (message.method === 'subscriptions/listen') return era.stateless.listen(own, message, posted);
      const abort = new Abort();
      const leave = () => abort.abort(new McpError('upstream_error', 'the client left'));
      request.onLeave(leave);
      const responder = new Responder(keeper, leaseFor(deps, context), {}, leave);
      era.stateless
        .post({ context: own, request: message, posted, responder, abort })
        .catch((fault) => deps.onFault(fault, own.requestId))
        .finally(whenOver());
      return responder.reply;
    }
    if (message.kind === 'request' && message.method === 'initialize') {
      return era.session.initialize(context, message, text);
    }
    requireKnownVersion(fields['mcp-protocol-version']);
    const session = sessionEra.find(context, fields['mcp-session-id']);
    // Leaving is not cancelling in this era: the client may come back for the rest.
    const responder = new Responder(keeper, leaseFor(deps, context), {}, () => undefined);
    era.session
      .post(session, posted, responder)
      .catch((fault) => deps.onFault(fault, context.requestId))
      .finally(whenOver());
    return responder.reply;
  };

  /** 2025-03-26 alone knew several messages in one body. */
  const batched = async (context: CallContext, batch: readonly Posted[]): Promise<Reply> => {
    const { headers } = context.asked;
    const version = headers['mcp-protocol-version'] ?? assumedVersion;
    const session = sessionEra.find(context, headers['mcp-session-id']);
    if (version !== assumedVersion || session.state.version !== assumedVersion) {
      throw new McpError('invalid_request', 'send one message at a time; only revision 2025-03-26 knows batches');
    }
    const replies = await Promise.all(
      batch.map(async (posted) => {
        const responder = new Responder(keeper, leaseFor(deps, context), {}, () => undefined);
        const gathered = new Gathered();
        await erasOf(context).session.post(session, posted, gathered);
        responder.end();
        return gathered.last;
      }),
    );
    const answers = replies.filter((text) => text !== '');
    return answers.length === 0 ? { status: 202, headers: {}, body: null } : jsonReply(200, `[${answers.join(',')}]`);
  };

  return {
    handle(request) {
      const match = pathForm.exec(request.target);
      if (!match) return null;
      const [, named, kind = 'mcp', query = ''] = match;
      if (named !== undefined && reserved.has(named.toLowerCase())) return null;
      return serve(request, named ?? joinedSlug, kind, query);
    },
    serverSide: (models, options) =>
      createServerSideTools({
        deps,
        models,
        keeper,
        contextOf: (request, slug) => contextOf(request, slug, `/${slug}/mcp`),
        ...options,
      }),
    cors: (others) => mcpCors(others, allowedOrigins, (target) => pathForm.test(target)),
    sessionEnded: (digest) => sessions.end(digest),
    activeSessions: () => sessions.size,
    get openStreams() {
      return keeper.size;
    },
    idle() {
      keeper.endLasting();
      return keeper.idle();
    },
    async close() {
      clearInterval(sweeper);
      keeper.endLasting();
      sessions.close();
      statelessEra.close();
      deps.pool.close();
      await deps.tasks.close();
    },
  };
}

/** A token of the end user is refused in words of HTTP, before anybody has read a message. */
function refusalOf(error: McpError | UpstreamRefusal, id: JsonRpcId | null): Reply {
  const { body, status, headers } = shownFailure(error, id, 'session');
  const isOfToken = error instanceof McpError && error.kind === 'unauthorized';
  const description = isOfToken ? error.data?.error_description : undefined;
  if (description === undefined) return jsonReply(status, body, headers);
  return jsonReply(status, JSON.stringify({ error: 'unauthorized', error_description: description }), headers);
}

const allows = (kind: string, method: string): boolean =>
  kind === 'mcp' ? ['POST', 'GET', 'DELETE'].includes(method) : method === (kind === 'sse' ? 'GET' : 'POST');

const notAllowed = (kind: string): McpError =>
  new McpError('method_not_allowed', 'this method is not offered here', {
    headers: { allow: kind === 'mcp' ? 'GET, POST, DELETE' : kind === 'sse' ? 'GET' : 'POST' },
  });

function requireOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined || allowed.length === 0 || allowed.includes(origin) || allowed.includes('*')) return;
  throw new McpError('forbidden', 'pages of this origin may not call');
}

/** There are no streams and no ends where there are no sessions. */
function requireSessionEra(header: string | undefined): void {
  if (header === undefined || !isStatelessVersion(header.trim())) return;
  throw new McpError('method_not_allowed', `revision ${header.trim()} knows POST alone`, {
    headers: { allow: 'POST' },
  });
}

function requireKnownVersion(header: string | undefined): void {
  if (header === undefined || isSessionVersion(header.trim())) return;
  throw new McpError('invalid_request', `Bad Request: Unsupported protocol version: ${header.slice(0, 50)}`);
}

async function postedOf(request: Incoming, streamable: boolean, hold: HoldBytes): Promise<Posted | Posted[]> {
  const { fields } = request.headers;
  const type = (fields['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new McpError('unsupported_media_type', 'send the body as application/json');
  const accept = fields.accept ?? '';
  const acceptsBoth =
    accept.includes('*/*') || (accept.includes('application/json') && accept.includes('text/event-stream'));
  if (streamable && !acceptsBoth) {
    throw new McpError('not_acceptable', 'Not Acceptable: send the header Accept: application/json, text/event-stream');
  }
  const bytes = await bodyOf(request, hold);
  const text = new TextDecoder().decode(bytes);
  const value = parsed(text);
  if (Array.isArray(value)) {
    if (value.length === 0 || value.length > 100)
      throw new McpError('invalid_request', 'a batch has 1 to 100 messages');
    return value.map((one) => {
      const written = JSON.stringify(one);
      return { message: requireMessage(one), text: written, bytes: new TextEncoder().encode(written) };
    });
  }
  return { message: requireMessage(value), text, bytes };
}

function requireMessage(value: unknown): RpcMessage {
  const message = messageIn(value);
  if (message) return message;
  throw new McpError('invalid_request', 'Invalid Request: the body is no JSON-RPC message');
}

/** What is judged must be what the upstream reads: its bytes go on as they came. */
function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    throw new McpError('parse_error', 'Parse error: the body is no JSON');
  }
  if (!repeatsField(text, value)) return value;
  throw new McpError('invalid_request', 'Invalid Request: a field stands twice in an object');
}

async function bodyOf({ body, length }: Incoming, hold: HoldBytes): Promise<Bytes> {
  if (!body) throw new McpError('parse_error', 'Parse error: the body is empty');
  if (length !== null && length > largestBody) throw tooLarge();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      late.reject(
        new McpError('invalid_request', 'the body took too long', { status: 408, headers: { connection: 'close' } }),
      ),
    bodyPatienceMs,
  );
  try {
    return await Promise.race([countedWhole(body, largestBody, hold), late.promise]);
  } catch (fault) {
    if (fault instanceof McpError) throw fault;
    if (fault instanceof GatewayError) throw ofGateway(fault);
    if (fault instanceof WireFault && fault.code === 'BodyTooLarge') throw tooLarge();
    throw new McpError('invalid_request', 'the body ended before it was complete');
  } finally {
    clearTimeout(timer);
  }
}

const tooLarge = (): McpError =>
  new McpError('body_too_large', `the body is larger than ${largestBody} bytes`, { headers: { connection: 'close' } });
