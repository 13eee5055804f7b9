/** The body of a request to an agent: read within a size and a time, and told apart: JSON-RPC, JSON, or something of the agent's own. */
import { readJson, repeatsField } from '../bounded-json.ts';
import { GatewayError } from '../gateway/errors.ts';
import type { HoldBytes } from '../gateway/request/body-budget.ts';
import { countedWhole } from '../gateway/upstream/counted-body.ts';
import type { Bytes } from '../wire/client/collected.ts';
import { WireFault } from '../wire/fault.ts';
import type { Incoming } from '../wire/server/incoming.ts';
import { AgentError, type AgentErrorKind } from './errors.ts';
import { type Fields, isFields } from './fields.ts';

const largestBody = 10 * 1024 * 1024;
const timeoutMs = 60_000;

export interface Posted {
  bytes: Bytes | null;
  text: string;
  /** The id of a JSON-RPC request; null where it has none; undefined for everything that is no JSON-RPC. */
  id: string | number | null | undefined;
  /** Of a JSON-RPC request. */
  method: string;
  /** Its params, or the body of a request over HTTP+JSON. */
  params: Fields;
  /** The whole body, where it is a JSON object. */
  json: Fields | null;
}

const nothing: Posted = { bytes: null, text: '', id: undefined, method: '', params: {}, json: null };

/** `isRpc`: the path takes JSON-RPC alone, so that whatever is none is refused. */
export async function posted(request: Incoming, isRpc: boolean, hold: HoldBytes): Promise<Posted> {
  const bytes = await bodyOf(request, hold);
  if (!bytes || bytes.length === 0) {
    if (isRpc) throw new UnreadableRpc('parse_error', 'Parse error: the body is empty');
    return nothing;
  }
  const text = new TextDecoder().decode(bytes);
  let value: unknown;
  try {
    value = readJson(text);
  } catch (fault) {
    if (isRpc && !isJsonType(request)) throw new UnreadableRpc('content_type_not_supported', 'Send application/json');
    if (isRpc) throw new UnreadableRpc('parse_error', 'Parse error: the body is no JSON that can be read');
    // What looks like JSON and cannot be read here might be read there.
    if (/^\s*[{[]/.test(text)) throw new AgentError('parse_error', 'the body is no JSON that can be read');
    if (!(fault instanceof SyntaxError)) throw fault;
    return { ...nothing, bytes, text };
  }
  // What is judged must be what the agent reads: its bytes go on as they came.
  if (repeatsField(text, value)) {
    const told = 'Invalid Request: a field stands twice in an object';
    throw isRpc ? new UnreadableRpc('invalid_request', told) : new AgentError('invalid_request', told);
  }
  if (!isFields(value)) {
    if (isRpc) throw new UnreadableRpc('invalid_request', 'Invalid Request: send one JSON object');
    if (Array.isArray(value)) throw new AgentError('invalid_request', 'Invalid Request: send one JSON object');
    return { ...nothing, bytes, text };
  }
  if (!isRpc && value.jsonrpc === undefined) return { ...nothing, bytes, text, json: value, params: value };
  return { bytes, text, json: value, ...rpcOf(value) };
}

function rpcOf({ jsonrpc, id, method, params }: Fields): Pick<Posted, 'id' | 'method' | 'params'> {
  const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
  const isCall = jsonrpc === '2.0' && typeof method === 'string' && method !== '' && isId;
  if (!isCall || (params !== undefined && params !== null && !isFields(params))) {
    const known = isId && id !== undefined ? id : null;
    throw new UnreadableRpc('invalid_request', 'Invalid Request: the body is no JSON-RPC 2.0 request', known);
  }
  return { id: id ?? null, method, params: isFields(params) ? params : {} };
}

/** Refused in JSON-RPC, although no call could be read: with its id where that much is known. */
export class UnreadableRpc extends AgentError {
  readonly id: string | number | null;

  constructor(kind: AgentErrorKind, message: string, id: string | number | null = null) {
    super(kind, message);
    this.id = id;
  }
}

const isJsonType = ({ headers }: Incoming): boolean =>
  /^application\/([\w.+-]+\+)?json\b/i.test(headers.get('content-type')?.trim() ?? '');

async function bodyOf({ body, length }: Incoming, hold: HoldBytes): Promise<Bytes | null> {
  if (!body) return null;
  if (length !== null && length > largestBody) throw tooLarge();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new AgentError('body_too_slow', 'the body took too long', { headers: { connection: 'close' } })),
    timeoutMs,
  );
  try {
    return await Promise.race([countedWhole(body, largestBody, hold), late.promise]);
  } catch (fault) {
    if (fault instanceof AgentError || fault instanceof GatewayError) throw fault;
    if (fault instanceof WireFault && fault.code === 'BodyTooLarge') throw tooLarge();
    throw new AgentError('invalid_request', 'the body ended before it was complete');
  } finally {
    clearTimeout(timer);
  }
}

const tooLarge = (): AgentError =>
  new AgentError('body_too_large', `the body is larger than ${largestBody} bytes`, {
    headers: { connection: 'close' },
  });
