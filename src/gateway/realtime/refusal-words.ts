/** A provider's own words for refusing a session. The runtime's WebSocket tells no more than the status, so the same handshake is made once more, and its answer read. */
import { randomBytes } from 'node:crypto';
import { readFault } from '../../providers/faults.ts';
import { isObject, objectOf, parsed } from '../../providers/json.ts';
import type { Pinned } from '../../wire/client/address.ts';
import { type Bytes, collected } from '../../wire/client/collected.ts';
import type { Answer } from '../attempt/answer.ts';
import { failed } from '../attempt/exchange.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { saidByProvider } from '../response/translated-answer.ts';
import { concealedBytes, secretsSent } from '../upstream/conceal.ts';

/** How a session is asked for. */
export interface SessionHandshake {
  url: string;
  headers: Readonly<Record<string, string>>;
  protocols: readonly string[];
  pinned: Pinned | null;
}

/** The provider refused the session; so far only its status is known. */
export class SessionRefused extends GatewayError {
  readonly handshake: SessionHandshake;

  constructor(name: string, status: number, handshake: SessionHandshake) {
    super('upstream_refused', `${name} refused the session with status ${status}`, {
      ...(status >= 400 && { status }),
    });
    this.handshake = handshake;
  }
}

const longestWords = 64 * 1024;
const timeoutMs = 5_000;

/** The refusal that the client gets, with the provider's words; as it was where there are none, or where they belong to another refusal. */
export async function withWords(deps: GatewayDeps, { request }: RequestContext, answer: Answer): Promise<Answer> {
  const { content, record, status } = answer;
  if (content.form !== 'error' || !(content.error instanceof SessionRefused)) return answer;
  const { handshake } = content.error;
  const told = await askedAgain(deps, handshake, status, request.gone);
  if (!told || told.length === 0) return answer;
  const bytes = record.target ? concealedBytes(told, secretsSent(record.target, handshake)) : told;
  record.received = bytes;
  return failed(record, inWords(bytes, status, record.target?.provider.id ?? 'provider'));
}

async function askedAgain(
  deps: GatewayDeps,
  { url, headers, protocols, pinned }: SessionHandshake,
  status: number,
  gone: AbortSignal,
): Promise<Bytes | null> {
  const handshake = {
    ...headers,
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    ...(protocols.length > 0 && { 'sec-websocket-protocol': protocols.join(', ') }),
  };
  const signal = AbortSignal.any([gone, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await deps.http.call(
      { url, pinned, method: 'GET', headers: handshake, unlessSaid: {}, body: null, upgrade: 'websocket' },
      signal,
    );
    if (response.status === status) return response.body ? await collected(response.body, longestWords) : null;
    await response.body?.cancel();
    return null;
  } catch {
    // It is known that the session was refused; only the reason stays unknown.
    return null;
  }
}

/** An object of the provider's is handed on as it is, as on any other route. */
function inWords(bytes: Bytes, status: number, provider: string): GatewayError {
  const fault = readFault(status, bytes);
  const told = objectOf(parsed(new TextDecoder().decode(bytes)));
  if (!isObject(told.error)) return saidByProvider(fault, provider);
  return new GatewayError('upstream_refused', fault.message, {
    status,
    ...(fault.type !== null && { type: fault.type }),
    spoken: 'by the provider',
    ofProvider: () => told,
  });
}
