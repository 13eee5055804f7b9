/** Streamable HTTP of the revisions that open a session: 2025-03-26 to 2025-11-25. */
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import type { WireAnswer } from '../../wire/client/answer.ts';
import type { Bytes } from '../../wire/client/collected.ts';
import { McpError } from '../errors.ts';
import type { UpstreamIdentity } from '../principal.ts';
import { isFields, type JsonRpcFields, type RpcMessage, type RpcResponse, written } from '../protocol/json-rpc.ts';
import { isSessionVersion, newestSessionVersion } from '../protocol/versions.ts';
import {
  answerIn,
  answers,
  isEventStream,
  isModernRefusal,
  largestMessage,
  parsedMessage,
  readStream,
  strangeAnswer,
  textOf,
} from './answers.ts';
import { type CallTime, exchange, inTime, type UpstreamDeps } from './exchange.ts';
import {
  type ClientFacts,
  type Link,
  type LinkAnswer,
  type LinkEvent,
  type LinkRequest,
  type ListenOptions,
  type ServerFacts,
  SessionLost,
  WrongEra,
} from './link.ts';

export const acceptBoth = 'application/json, text/event-stream';
const encoder = new TextEncoder();
export const bytesOf = (value: object): Bytes => encoder.encode(JSON.stringify(value));

const defaultRetryMs = 1_000;
const mostResumptions = 20;

export class SessionLink implements Link {
  readonly era = 'session';
  readonly facts: ServerFacts;
  readonly sessionId: string | null;
  readonly #deps: UpstreamDeps;
  readonly #upstream: McpUpstream;
  readonly #identity: UpstreamIdentity;

  constructor(
    deps: UpstreamDeps,
    upstream: McpUpstream,
    identity: UpstreamIdentity,
    session: { id: string | null; facts: ServerFacts },
  ) {
    this.#deps = deps;
    this.#upstream = upstream;
    this.#identity = identity;
    this.sessionId = session.id;
    this.facts = session.facts;
  }

  get #sessionHeaders(): Record<string, string> {
    const { protocolVersion } = this.facts;
    return {
      ...(this.sessionId !== null && { 'mcp-session-id': this.sessionId }),
      // The header came with 2025-06-18; older servers may refuse what they do not know.
      ...(protocolVersion >= '2025-06-18' && { 'mcp-protocol-version': protocolVersion }),
    };
  }

  async request(request: LinkRequest): Promise<LinkAnswer> {
    return inTime(this.#deps, this.#upstream, request, async (time) => {
      const { answer, tokenRefreshed } = await exchange(
        this.#deps,
        this.#upstream,
        this.#identity,
        {
          method: 'POST',
          headers: {
            accept: acceptBoth,
            'content-type': 'application/json',
            ...this.#sessionHeaders,
            ...request.headers,
          },
          body: request.bytes ?? bytesOf(written({ kind: 'request', ...request })),
          // A tool may do something each time that it is called.
          replayable: request.method !== 'tools/call',
          ...(request.room && { room: request.room }),
        },
        time,
      );
      const { status } = answer;
      if (status === 404 && this.sessionId !== null) {
        await answer.body?.cancel();
        throw new SessionLost();
      }
      if (!isEventStream(answer)) return { ...(await this.#whole(answer, request, time)), tokenRefreshed };
      const streamed = await this.#streamed(answer, request, time);
      return { ...streamed, status, streamed: true, tokenRefreshed };
    });
  }

  async #whole(answer: WireAnswer, { id, onEvent }: LinkRequest, time: CallTime) {
    const text = await textOf(answer, time);
    const found = answerIn(text, id, onEvent);
    if (!found) {
      if (answer.status >= 400 && isModernRefusal(answer.status, text)) throw new WrongEra(answer.status, true);
      throw strangeAnswer(answer);
    }
    return { ...found, status: answer.status, streamed: false };
  }

  async #streamed(
    first: WireAnswer,
    request: LinkRequest,
    time: CallTime,
  ): Promise<{ response: RpcResponse | null; text: string | null }> {
    let found: { response: RpcResponse; text: string } | null = null;
    let lastId: string | null = null;
    let retryMs = defaultRetryMs;
    const watch = ({ message, event }: LinkEvent): boolean => {
      if (event.id !== null) lastId = event.id;
      if (event.retry !== null) retryMs = event.retry;
      if (isProgress(message)) time.extend();
      request.onEvent?.({ message, event });
      if (answers(message, request.id)) found = { response: message, text: event.data };
      return found !== null;
    };
    await readStream(first, time, watch);
    for (let again = 0; !found && lastId !== null && request.resume !== false && again < mostResumptions; again++) {
      await this.#deps.pause(retryMs);
      const answer = await this.#get(lastId, time);
      if (!answer) break;
      await readStream(answer, time, watch);
    }
    if (found) return found;
    if (request.resume === false && lastId !== null) return { response: null, text: null };
    throw new McpError('upstream_error', 'the upstream ended its stream before it had answered');
  }

  /** The stream of the session; null where the upstream has none. */
  async #get(lastEventId: string | null, time: CallTime): Promise<WireAnswer | null> {
    const { answer } = await exchange(
      this.#deps,
      this.#upstream,
      this.#identity,
      {
        method: 'GET',
        headers: {
          accept: 'text/event-stream',
          ...this.#sessionHeaders,
          ...(lastEventId !== null && { 'last-event-id': lastEventId }),
        },
        body: null,
        listens: true,
      },
      time,
    );
    if (answer.status === 200 && isEventStream(answer)) return answer;
    await answer.body?.cancel();
    if (answer.status === 404 && this.sessionId !== null) throw new SessionLost();
    return null;
  }

  async send(message: RpcMessage, bytes?: Bytes): Promise<void> {
    return inTime(this.#deps, this.#upstream, {}, async (time) => {
      const { answer } = await exchange(
        this.#deps,
        this.#upstream,
        this.#identity,
        {
          method: 'POST',
          headers: { accept: acceptBoth, 'content-type': 'application/json', ...this.#sessionHeaders },
          body: bytes ?? bytesOf(written(message)),
          // Who gets an answer or a notice twice takes the first.
          replayable: true,
        },
        time,
      );
      await answer.body?.cancel();
      if (answer.status === 404 && this.sessionId !== null) throw new SessionLost();
      if (answer.status >= 400) throw strangeAnswer(answer);
    });
  }

  async listen({ signal, lastEventId = null, opened, onEvent }: ListenOptions): Promise<boolean> {
    return inTime(this.#deps, this.#upstream, { signal }, async (time) => {
      // Some servers send not even the head before they have something to say.
      time.lift();
      const answer = await this.#get(lastEventId, time);
      if (!answer) return false;
      opened();
      await readStream(answer, time, (event) => {
        onEvent(event);
        return false;
      });
      return true;
    });
  }

  async close(): Promise<void> {
    if (this.sessionId === null) return;
    return inTime(this.#deps, this.#upstream, { timeoutMs: closingMs }, async (time) => {
      const asked = { method: 'DELETE', headers: this.#sessionHeaders, body: null } as const;
      const { answer } = await exchange(this.#deps, this.#upstream, this.#identity, asked, time);
      await answer.body?.cancel();
    });
  }
}

const closingMs = 5_000;

export const isProgress = (message: RpcMessage | null): boolean =>
  message?.kind === 'notification' && message.method === 'notifications/progress';

/** Opens a session; throws `WrongEra` where the upstream wants to be spoken to in another way. */
export async function openSessionLink(
  deps: UpstreamDeps,
  upstream: McpUpstream,
  identity: UpstreamIdentity,
  client: ClientFacts,
  version: string,
  signal?: CallTime,
): Promise<SessionLink> {
  const id = 'gw-initialize';
  const params = { protocolVersion: version, capabilities: client.capabilities, clientInfo: client.info };
  return inTime(deps, upstream, { signal }, async (time) => {
    const { answer } = await exchange(
      deps,
      upstream,
      identity,
      {
        method: 'POST',
        headers: { accept: acceptBoth, 'content-type': 'application/json' },
        body: bytesOf(written({ kind: 'request', id, method: 'initialize', params })),
      },
      time,
    );
    const result = await initializeResult(answer, id, time);
    const facts = factsOf(result);
    return new SessionLink(deps, upstream, identity, { id: answer.headers.get('mcp-session-id'), facts });
  });
}

async function initializeResult(answer: WireAnswer, id: string, time: CallTime): Promise<JsonRpcFields> {
  let message: RpcMessage | null = null;
  if (isEventStream(answer)) {
    await readStream(answer, time, (event) => {
      message = event.message;
      return answers(message, id);
    });
  } else {
    const text = await textOf(answer, time);
    message = parsedMessage(text);
    if ([400, 404, 405].includes(answer.status) && (message === null || isModernRefusal(answer.status, text))) {
      throw new WrongEra(answer.status, message !== null);
    }
  }
  const found = message as RpcMessage | null;
  if (found?.kind !== 'response') throw strangeAnswer(answer);
  if (found.error) {
    throw new McpError(
      'upstream_error',
      `the upstream refused to open a session: ${found.error.message.slice(0, 300)}`,
    );
  }
  return found.result ?? {};
}

export function factsOf(result: JsonRpcFields): ServerFacts {
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  return {
    protocolVersion:
      typeof protocolVersion === 'string' && isSessionVersion(protocolVersion) ? protocolVersion : newestSessionVersion,
    capabilities: isFields(capabilities) ? capabilities : {},
    serverInfo: isFields(serverInfo) ? serverInfo : {},
    instructions: typeof instructions === 'string' ? instructions.slice(0, largestMessage) : null,
  };
}
