/** A way to an HTTP API that is described by an OpenAPI document: tools are its operations, and calling one is a request to it. */
import { readJson } from '../../bounded-json.ts';
import type { ApiOperation, ApiParameter, CompiledApi } from '../../catalog/mcp/openapi/compile.ts';
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import type { WireAnswer } from '../../wire/client/answer.ts';
import { collected } from '../../wire/client/collected.ts';
import { McpError } from '../errors.ts';
import type { UpstreamIdentity } from '../principal.ts';
import { isFields, type JsonRpcFields, methodNotFound, type RpcResponse } from '../protocol/json-rpc.ts';
import { newestSessionVersion } from '../protocol/versions.ts';
import { largestMessage } from './answers.ts';
import { CallTime, exchange, timeoutOf, type UpstreamCall, type UpstreamDeps } from './exchange.ts';
import { explained } from './http.ts';
import type { Link, LinkAnswer, LinkRequest, ServerFacts } from './link.ts';

/** What is wrong with the arguments of a call: the model is told. */
class UnfitArguments extends Error {}

export class ApiLink implements Link {
  readonly era = 'session';
  readonly sessionId = null;
  readonly facts: ServerFacts;
  readonly #deps: UpstreamDeps;
  readonly #upstream: McpUpstream;
  readonly #identity: UpstreamIdentity;
  readonly #api: CompiledApi;

  constructor(deps: UpstreamDeps, upstream: McpUpstream, identity: UpstreamIdentity, api: CompiledApi) {
    this.#deps = deps;
    this.#upstream = upstream;
    this.#identity = identity;
    this.#api = api;
    this.facts = {
      protocolVersion: newestSessionVersion,
      capabilities: { tools: {} },
      serverInfo: { name: api.title, version: api.version },
      instructions: api.description,
    };
  }

  async request({ id, method, params, signal, timeoutMs, room }: LinkRequest): Promise<LinkAnswer> {
    const answered = (response: Omit<RpcResponse, 'kind' | 'id'>, tokenRefreshed = false): LinkAnswer => ({
      response: { kind: 'response', id, ...response },
      text: null,
      status: 200,
      streamed: false,
      tokenRefreshed,
    });
    if (method === 'ping') return answered({ result: {} });
    if (method === 'tools/list') {
      return answered({ result: { tools: [...this.#api.operations.values()].map(({ definition }) => definition) } });
    }
    const operation = method === 'tools/call' ? this.#api.operations.get(String(params.name)) : undefined;
    if (method !== 'tools/call')
      return answered({ error: { code: methodNotFound, message: `Method not found: ${method}` } });
    if (!operation) throw new McpError('tool_not_available', `Unknown tool: ${String(params.name)}`);
    const time = new CallTime(this.#deps.deadlines, timeoutMs ?? timeoutOf(this.#upstream, this.#deps), signal);
    try {
      const call = callOf(this.#upstream.url, operation, isFields(params.arguments) ? params.arguments : {});
      const asked = room ? { ...call, room } : call;
      const { answer, tokenRefreshed } = await exchange(this.#deps, this.#upstream, this.#identity, asked, time);
      return answered({ result: await resultOf(answer, time) }, tokenRefreshed);
    } catch (fault) {
      if (!(fault instanceof UnfitArguments)) throw fault;
      return answered({ result: { isError: true, content: [{ type: 'text', text: fault.message }] } });
    } finally {
      time.done();
    }
  }

  /** An API takes no messages besides its operations. */
  async send(): Promise<void> {
    return Promise.resolve();
  }

  /** It never speaks by itself. */
  async listen(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The HTTP request of an operation. */
export function callOf(base: string, operation: ApiOperation, given: JsonRpcFields): UpstreamCall {
  const { parameters, bodyType, bodyRequired, method } = operation;
  const query: [string, string][] = [];
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9, */*;q=0.5' };
  let { path } = operation;
  for (const parameter of parameters) {
    const value = given[parameter.argument];
    if (value === undefined || value === null) {
      if (parameter.required) throw new UnfitArguments(`The argument ${parameter.argument} is required.`);
      continue;
    }
    if (parameter.in === 'path') path = path.replaceAll(`{${parameter.name}}`, segmentOf(parameter, value));
    else if (parameter.in === 'query') query.push(...pairsOf(parameter, value));
    else headers[parameter.name.toLowerCase()] = headerOf(parameter, value);
  }
  if (bodyType !== null && given.body === undefined && bodyRequired) {
    throw new UnfitArguments('The argument body is required.');
  }
  const body =
    bodyType === null || given.body === undefined ? null : new TextEncoder().encode(JSON.stringify(given.body));
  if (body && bodyType !== null) headers['content-type'] = bodyType;
  const address = new URL(base);
  const url = new URL(address.origin + address.pathname.replace(/\/+$/, '') + path);
  for (const [name, value] of [...address.searchParams, ...query]) url.searchParams.append(name, value);
  return { url: url.href, method, headers, body };
}

/** One segment of the path, whatever stands in it. */
function segmentOf(parameter: ApiParameter, value: unknown): string {
  const text = plainText(value);
  if (text === '' || text === '.' || text === '..') {
    throw new UnfitArguments(`The argument ${parameter.argument} must not be "${text}".`);
  }
  return encodeURIComponent(text);
}

function headerOf(parameter: ApiParameter, value: unknown): string {
  const text = plainText(value);
  if (!/^[\u0020-\u007e\t]*$/.test(text)) {
    throw new UnfitArguments(`The argument ${parameter.argument} holds a character that no header can carry.`);
  }
  return text;
}

function pairsOf(parameter: ApiParameter, value: unknown): [string, string][] {
  const { name, explode, deep } = parameter;
  if (Array.isArray(value) && explode) return value.map((item) => [name, scalar(item)]);
  if (isFields(value) && (deep || explode)) {
    return Object.entries(value).map(([field, item]) => [deep ? `${name}[${field}]` : field, scalar(item)]);
  }
  return [[name, plainText(value)]];
}

const plainText = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(scalar).join(',')
    : isFields(value)
      ? Object.entries(value)
          .map(([field, item]) => `${field},${scalar(item)}`)
          .join(',')
      : scalar(value);

const scalar = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));

async function resultOf(answer: WireAnswer, time: CallTime): Promise<JsonRpcFields> {
  const type = (answer.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const bytes = await bytesOf(answer, time);
  const failed = answer.status >= 400;
  if (/^(image|audio)\//.test(type) && !failed) {
    const kind = type.startsWith('image/') ? 'image' : 'audio';
    return { content: [{ type: kind, data: Buffer.from(bytes).toString('base64'), mimeType: type }] };
  }
  const isText = type === '' || /^text\/|json|xml|yaml|javascript|x-www-form-urlencoded/.test(type);
  const said = isText ? new TextDecoder().decode(bytes) : `[${bytes.length} bytes of ${type}]`;
  const text = failed ? `HTTP ${answer.status}${said === '' ? '' : `: ${said}`}` : said || `HTTP ${answer.status}`;
  const structured = type.includes('json') && !failed ? jsonIn(said) : null;
  return {
    content: [{ type: 'text', text }],
    ...(structured && { structuredContent: structured }),
    ...(failed && { isError: true }),
  };
}

async function bytesOf({ body }: WireAnswer, time: CallTime): Promise<Uint8Array> {
  try {
    return body ? await collected(body, largestMessage) : new Uint8Array();
  } catch (fault) {
    throw explained(fault, time);
  }
}

function jsonIn(text: string): JsonRpcFields | null {
  try {
    const value = readJson(text);
    return isFields(value) ? value : null;
  } catch {
    // The text says it all the same.
    return null;
  }
}
