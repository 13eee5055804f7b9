/** Model requests whose tools are MCP servers of ours: the gateway lists, calls and answers for them. */
import { readJson } from '../../bounded-json.ts';
import type { Identified } from '../../gateway/context.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { askedPath, dedicatedRoute } from '../../gateway/request/receive.ts';
import { countedWhole } from '../../gateway/upstream/counted-body.ts';
import type { Handler } from '../../http/web.ts';
import { incomingOf } from '../../http/web.ts';
import { WireFault } from '../../wire/fault.ts';
import type { Incoming } from '../../wire/server/incoming.ts';
import type { Reply } from '../../wire/server/reply.ts';
import { type CallContext, followedAs } from '../call-context.ts';
import { failed } from '../called.ts';
import type { KeepAlive } from '../client/event-stream.ts';
import type { McpDeps } from '../deps.ts';
import { McpError, ofGateway } from '../errors.ts';
import { UpstreamRefusal } from '../lists.ts';
import { approvalPrefix, resumeApproved } from './approvals.ts';
import { chat } from './chat.ts';
import type { ToolDialect } from './dialect.ts';
import { answerOf, asReply, keptHeaders, liveLoop } from './live-loop.ts';
import { runLoop } from './loop.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import { asObject, type Json, marker } from './tool-calls.ts';
import { replayedName } from './tools.ts';

export const betaFlag = 'server-side-mcp-2026-06-01';

const dialects: Readonly<Record<string, ToolDialect>> = {
  '/v1/chat/completions': chat,
  '/v1/responses': responses,
  '/v1/messages': messages,
};

interface ServerSideNeeds {
  deps: McpDeps;
  /** The data plane for models. */
  models: Handler;
  /** Who calls which server; throws where they may not. */
  contextOf(request: Incoming, slug: string): Promise<CallContext>;
  mostIterations: number;
  bodyLimit: number;
  keeper: KeepAlive;
}

interface Received {
  request: Incoming;
  identified: Identified;
  path: string;
  dialect: ToolDialect;
  bytes: Uint8Array<ArrayBuffer>;
  /** Gives what must be told when the answer is out, where that is later than its head. */
  whenOver(): () => void;
}

const encoder = new TextEncoder();

/** What turns bear in which tools of ours were called. */
const marks = [approvalPrefix, 'gw_mcp', marker];

export function createServerSideTools({
  deps,
  models,
  contextOf,
  mostIterations,
  bodyLimit,
  keeper,
}: ServerSideNeeds): Handler {
  const { services } = deps;

  /** Nothing is read for a caller who is not known: the model's own route says what is wrong with the key. */
  const serve = async (request: Incoming, path: string, dialect: ToolDialect): Promise<Reply> => {
    const identified = await known(request, path);
    if (!identified) return served(request);
    let goesOn = false;
    const over = () => services.release(request);
    const whenOver = () => {
      goesOn = true;
      return over;
    };
    try {
      const { hold } = services.room(identified);
      const bytes = request.body ? await countedWhole(request.body, bodyLimit, hold) : new Uint8Array();
      return await answered({ request, identified, path, dialect, bytes, whenOver });
    } catch (fault) {
      return refusal(
        failed(asMcpError(fault, bodyLimit), (one) => deps.onFault(one, identified.requestId)),
        path,
      );
    } finally {
      if (!goesOn) over();
    }
  };

  const known = async (request: Incoming, path: string): Promise<Identified | null> => {
    const asked = askedPath(request.target);
    const route = asked && dedicatedRoute(request.method, asked);
    if (!route) return null;
    try {
      return await services.identify(services.receive(request, path, route));
    } catch (fault) {
      if (fault instanceof GatewayError) return null;
      throw fault;
    }
  };

  const answered = async ({ request, identified, path, dialect, bytes, whenOver }: Received): Promise<Reply> => {
    const { fields } = request.headers;
    const body = parsed(new TextDecoder().decode(bytes));
    const { servers, rest } = body ? dialect.references(body) : { servers: [], rest: {} };
    if (!body) return ask(request, path, fields, bytes);
    if (servers.length === 0) return ask(request, path, fields, await withOrdinaryTurns(dialect, body, bytes));
    const traceId = fields['x-gw-trace-id'] ?? Bun.randomUUIDv7();
    const spanId = fields['x-gw-span-id'] ?? Bun.randomUUIDv7();
    try {
      const resolved = [];
      for (const reference of servers) {
        const context = await contextOf(request, reference.slug).catch((fault) => {
          throw fault instanceof McpError
            ? new McpError(fault.kind, `${reference.label}: ${fault.message}`, { headers: { ...fault.headers } })
            : fault;
        });
        resolved.push({ reference, context: followedAs(context, { traceId, spanId }) });
      }
      const traced = { ...fields, 'x-gw-trace-id': traceId, 'x-gw-parent-span-id': spanId };
      const { 'x-gw-span-id': _span, ...inner } = traced as Record<string, string>;
      const options = {
        dialect,
        body: rest,
        servers: resolved,
        mostIterations,
        isStrict: services.isStrict(identified),
        principalId: resolved[0]?.context.principal.id ?? '',
        seal: deps.seal,
      };
      const call = (round: Json) => ask(request, path, inner, encoder.encode(JSON.stringify(round)));
      if (body.stream === true) {
        const { stream: _stream, ...unstreamed } = rest;
        const lease = services.lease(identified.caller.organisationId);
        const told = (fault: unknown) =>
          refusal(
            failed(fault, (one) => deps.onFault(one, traceId)),
            path,
          );
        const live = { ...options, body: unstreamed, over: whenOver(), lease };
        return await liveLoop(deps, keeper, live, call, told);
      }
      const outcome = await runLoop(deps, { ...options, ask: async (round) => answerOf(await call(round)) });
      if ('refused' in outcome) return asReply(outcome.refused);
      return {
        status: 200,
        headers: keptHeaders(outcome.headers, 'application/json'),
        body: encoder.encode(JSON.stringify(outcome.answer)),
      };
    } catch (fault) {
      return refusal(
        failed(fault, (one) => deps.onFault(one, traceId)),
        path,
      );
    }
  };

  /** No provider knows how our calls and approvals of earlier turns are written. */
  const withOrdinaryTurns = async (
    dialect: ToolDialect,
    body: Json,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<Uint8Array<ArrayBuffer>> => {
    if (!marks.some((mark) => Buffer.from(bytes).includes(mark))) return bytes;
    const resumed = await resumeApproved(deps, { principalId: '', seal: deps.seal }, dialect, body, [], []);
    return encoder.encode(JSON.stringify(dialect.replayed(resumed.body, replayedName)));
  };

  /** One model call, with everything that every other has: identity, limits, guardrails, retries, fallback and a log record. */
  const ask = async (
    request: Incoming,
    path: string,
    headers: Readonly<Record<string, string>>,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<Reply> => {
    const sent = new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { ...headers },
      body: bytes,
      signal: request.gone,
    });
    return served(incomingOf(sent));
  };

  const served = async (request: Incoming): Promise<Reply> => {
    const reply = await models(request);
    if (!reply || reply === 'upgraded') throw new McpError('internal_error', 'the model route is not served');
    return reply;
  };

  return (request) => {
    if (request.method !== 'POST') return null;
    const path = request.target.split('?', 1)[0] ?? '';
    const dialect = dialects[path];
    if (!dialect || !(request.headers.get('x-gw-beta') ?? '').includes(betaFlag)) return null;
    return serve(request, path, dialect);
  };
}

/** What is wrong with a body. */
function asMcpError(fault: unknown, limit: number): unknown {
  if (fault instanceof GatewayError) return ofGateway(fault);
  if (!(fault instanceof WireFault)) return fault;
  return fault.code === 'BodyTooLarge'
    ? new McpError('body_too_large', `the body is larger than ${limit} bytes`)
    : new McpError('invalid_request', 'the body ended before it was complete');
}

/** In the form of the route's own errors. */
function refusal(error: McpError | UpstreamRefusal, path: string): Reply {
  const status = error instanceof UpstreamRefusal ? 502 : error.status === 200 ? 400 : error.status;
  const code = error instanceof McpError ? error.kind : 'upstream_error';
  const type =
    status === 401
      ? 'authentication_error'
      : status === 403
        ? 'permission_error'
        : status >= 500
          ? 'api_error'
          : 'invalid_request_error';
  const told = { message: `Gateway error: ${error.message}`, type, param: null, code };
  const body =
    path === '/v1/messages'
      ? { type: 'error', error: told }
      : { status: 'failure', message: told.message, error: told };
  return { status, headers: { 'content-type': 'application/json' }, body: encoder.encode(JSON.stringify(body)) };
}

function parsed(text: string): Json | null {
  try {
    const value = asObject(readJson(text));
    return Object.keys(value).length > 0 ? value : null;
  } catch {
    // The model's own route says what is wrong with it.
    return null;
  }
}
