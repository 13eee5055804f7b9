/** Model requests whose tools are MCP servers of ours: the gateway lists, calls and answers for them. */
import { readJson } from '../../bounded-json.ts';
import type { Handler } from '../../http/web.ts';
import { incomingOf } from '../../http/web.ts';
import { collected } from '../../wire/client/collected.ts';
import type { Incoming } from '../../wire/server/incoming.ts';
import type { Reply } from '../../wire/server/reply.ts';
import { type CallContext, followedAs } from '../call-context.ts';
import { failed } from '../calls.ts';
import type { McpDeps } from '../deps.ts';
import { McpError } from '../errors.ts';
import { UpstreamRefusal } from '../lists.ts';
import { chat } from './chat.ts';
import { asObject, type Json, type ToolDialect } from './dialect.ts';
import { type ModelAnswer, runLoop } from './loop.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

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
  /** Who calls which server; throws where he may not. */
  contextOf(request: Incoming, slug: string): Promise<CallContext>;
  mostIterations: number;
  bodyLimit: number;
}

const encoder = new TextEncoder();

export function createServerSideTools({
  deps,
  models,
  contextOf,
  mostIterations,
  bodyLimit,
}: ServerSideNeeds): Handler {
  const serve = async (request: Incoming, path: string, dialect: ToolDialect): Promise<Reply> => {
    const { fields } = request.headers;
    const bytes = request.body ? await collected(request.body, bodyLimit) : new Uint8Array();
    const body = parsed(new TextDecoder().decode(bytes));
    const { servers, rest } = body ? dialect.references(body) : { servers: [], rest: {} };
    if (!body || servers.length === 0) return asReply(await ask(request, path, fields, bytes));
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
      const outcome = await runLoop(deps, {
        dialect,
        body: rest,
        servers: resolved,
        mostIterations,
        principalId: resolved[0]?.context.principal.id ?? '',
        seal: deps.seal,
        ask: (round) => answered(request, path, inner, round),
      });
      if ('refused' in outcome) return asReply(outcome.refused);
      return body.stream === true
        ? streamed(dialect.events(outcome.answer, body), outcome.headers)
        : {
            status: 200,
            headers: kept(outcome.headers, 'application/json'),
            body: encoder.encode(JSON.stringify(outcome.answer)),
          };
    } catch (fault) {
      return refusal(
        failed(fault, (one) => deps.onFault(one, traceId)),
        path,
      );
    }
  };

  const answered = (
    request: Incoming,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Json,
  ): Promise<ModelAnswer> => ask(request, path, headers, encoder.encode(JSON.stringify(body)));

  /** One model call, with everything that every other has: identity, limits, guardrails, retries, fallback and a log record. */
  const ask = async (
    request: Incoming,
    path: string,
    headers: Readonly<Record<string, string>>,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<ModelAnswer & { body: Reply['body'] }> => {
    const sent = new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { ...headers },
      body: bytes,
      signal: request.gone,
    });
    const reply = await models(incomingOf(sent));
    if (!reply || reply === 'upgraded') throw new McpError('internal_error', 'the model route is not served');
    const text = reply.body instanceof Uint8Array ? new TextDecoder().decode(reply.body) : '';
    return { status: reply.status, headers: reply.headers, text, body: reply.body };
  };

  const asReply = ({ status, headers, text, body }: ModelAnswer & { body?: Reply['body'] }): Reply => ({
    status,
    headers,
    body: body === undefined ? encoder.encode(text) : body,
  });

  return (request) => {
    if (request.method !== 'POST') return null;
    const path = request.target.split('?', 1)[0] ?? '';
    const dialect = dialects[path];
    if (!dialect || !(request.headers.get('x-gw-beta') ?? '').includes(betaFlag)) return null;
    return serve(request, path, dialect);
  };
}

const kept = (headers: Readonly<Record<string, string>>, type: string): Record<string, string> => {
  const { 'content-length': _length, 'content-type': _type, 'content-encoding': _encoding, ...rest } = headers;
  return { ...rest, 'content-type': type };
};

const streamed = (events: string, headers: Readonly<Record<string, string>>): Reply => ({
  status: 200,
  headers: { ...kept(headers, 'text/event-stream; charset=utf-8'), 'cache-control': 'no-cache' },
  body: encoder.encode(events),
});

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
