/** The client's handshake: that it is one, what it asks for, and what of it goes on to the provider. Our key never does. */
import type { JsonObject } from '../../providers/provider.ts';
import type { ReceivedHeaders } from '../../wire/client/answer.ts';
import { isToken } from '../../wire/http1/token.ts';
import { isHandshake } from '../../wire/websocket/handshake.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { subprotocolPrefix } from '../request/identify.ts';

/** The journey of a session, with the query in the place of a body. */
export function sessionJourney(context: RequestContext): RequestContext {
  requireHandshake(context);
  return { ...context, body: { form: 'query', parameters: parametersOf(context.query) } };
}

function requireHandshake({ request }: RequestContext): void {
  if (isHandshake(request.method, request.headers.fields)) return;
  throw new GatewayError(
    'upgrade_required',
    'realtime sessions are WebSockets: open this address with a client of theirs',
  );
}

const ourParameter = 'api_key';

function parametersOf(query: string): JsonObject {
  const parameters: JsonObject = {};
  for (const item of itemsOf(query)) {
    const [name, value] = pairOf(item);
    // The first of several counts, here as in the query that goes on.
    if (name !== ourParameter) parameters[name] ??= value;
  }
  return parameters;
}

/** The query for the provider: everything as it came, except our key, and the model under the provider's own name for it. */
export function upstreamQuery(query: string, model: string): string {
  const kept: string[] = [];
  let named = false;
  for (const item of itemsOf(query)) {
    const [name] = pairOf(item);
    if (name === ourParameter) continue;
    if (name !== 'model') kept.push(item);
    else if (!named && model !== '') {
      named = true;
      kept.push(modelItem(model));
    }
  }
  if (!named && model !== '') kept.push(modelItem(model));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

const modelItem = (model: string): string => `model=${encodeURIComponent(model)}`;

const itemsOf = (query: string): string[] =>
  query
    .slice(1)
    .split('&')
    .filter((item) => item !== '');

function pairOf(item: string): [name: string, value: string] {
  const [pair] = new URLSearchParams(item);
  return pair ?? ['', ''];
}

interface OfferedProtocols {
  /** The item that carries our key. */
  ours: string | null;
  forProvider: readonly string[];
}

export function offeredProtocols(headers: ReceivedHeaders): OfferedProtocols {
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map((item) => item.trim());
  const named = [...new Set(offered.filter((item) => item !== ''))];
  if (named.some((item) => !isToken.test(item))) {
    throw new GatewayError('invalid_subprotocol', 'a subprotocol is not a token of letters, digits and punctuation', {
      field: 'sec-websocket-protocol',
    });
  }
  return {
    ours: named.find((item) => item.startsWith(subprotocolPrefix)) ?? null,
    forProvider: named.filter((item) => !item.startsWith(subprotocolPrefix)),
  };
}

/** The provider's choice; else the item that was meant for us, as browsers give up when none of their offers is taken. */
export const chosenProtocol = (offered: OfferedProtocols, byProvider: string): string =>
  offered.forProvider.includes(byProvider) ? byProvider : (offered.ours ?? '');
