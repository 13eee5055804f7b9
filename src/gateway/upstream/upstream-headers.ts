/** The headers of an upstream request: the provider's own, what the client asked to forward, and on passthrough what the client sent. */
import type { Leaf } from '../../catalog/plan.ts';
import type { CallFacts } from '../../providers/provider.ts';
import type { Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';

type HeaderFields = Record<string, string>;

export function upstreamHeaders(
  context: RequestContext,
  leaf: Leaf,
  target: Target,
  facts: CallFacts,
  { passthrough, repeatable }: { passthrough: boolean; repeatable: boolean },
): HeaderFields {
  const credentials = target.provider.headers(facts);
  const { body, request } = context;
  // A stream of known length keeps saying so; the length of anything else is told by whoever sends it.
  const length = repeatable ? null : request.length;
  const framing: HeaderFields = length === null ? {} : { 'content-length': String(length) };
  if (passthrough) {
    const headers = passedHeaders(context, target);
    add(headers, target.customHeaders);
    return Object.assign(headers, credentials, framing);
  }
  const headers = { ...credentials, ...framing };
  add(headers, target.customHeaders);
  if (body.form === 'json') headers['content-type'] = 'application/json';
  else if ('contentType' in body && body.contentType) headers['content-type'] = body.contentType;
  for (const { from, to } of context.rules.forwardHeaders ?? leaf.forwardHeaders) {
    const value = isOurs(context, from) ? null : request.headers.get(from);
    if (value !== null) headers[to] = value;
  }
  return headers;
}

/** Two spellings of one name would be sent as one header with two values. */
function add(headers: HeaderFields, more: Readonly<HeaderFields>): void {
  for (const name in more) headers[name.toLowerCase()] = more[name] ?? '';
}

/** Our own headers, and whatever carries our key. */
const isOurs = ({ own, keyHeaders }: RequestContext, name: string): boolean => own.isOwn(name) || keyHeaders.has(name);

/** Meant for one connection, for us, or for the browser that holds our session. */
const notPassed = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
  'cookie',
]);

/** Where a credential is saved, none of the client's goes beside it. */
const credentialHeaders = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']);

/** A passthrough request keeps its headers, except ours and the connection's. */
function passedHeaders(context: RequestContext, target: Target): HeaderFields {
  const { headers, method } = context.request;
  const named = connectionNames(headers.get('connection'));
  const passed: HeaderFields = {};
  for (const [name, value] of context.own.entries) {
    if (isOurs(context, name) || name.startsWith('x-forwarded-') || notPassed.has(name)) continue;
    if (context.ignoredHeaders.has(name) || named?.includes(name)) continue;
    if (target.saved && credentialHeaders.has(name)) continue;
    passed[name] = value;
  }
  if (method === 'GET' || method === 'HEAD') delete passed['content-type'];
  return passed;
}

/** Headers that the sender has declared to be for this connection alone. */
export function connectionNames(connection: string | null): string[] | null {
  if (connection === null || connection === 'keep-alive' || connection === 'close') return null;
  return connection.split(',').map((name) => name.trim().toLowerCase());
}
