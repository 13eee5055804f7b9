/** Streamable HTTP of the stateless revision: every request says who asks and in which revision. */
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import { McpError } from '../errors.ts';
import type { UpstreamIdentity } from '../principal.ts';
import { encodeHeaderValue } from '../protocol/header-values.ts';
import {
  isFields,
  type JsonRpcFields,
  type RpcError,
  type RpcResponse,
  unsupportedVersion,
  written,
} from '../protocol/json-rpc.ts';
import { metaKeys, nameField, statelessVersion } from '../protocol/versions.ts';
import { answerIn, answers, isEventStream, readStream, strangeAnswer, textOf } from './answers.ts';
import { CallTime, exchange, inTime, timeoutOf, type UpstreamDeps } from './exchange.ts';
import {
  type ClientFacts,
  type Link,
  type LinkAnswer,
  type LinkRequest,
  type ListenOptions,
  type ServerFacts,
  WrongEra,
} from './link.ts';
import { acceptBoth, bytesOf, isProgress } from './session-link.ts';

export class StatelessLink implements Link {
  readonly era = 'stateless';
  readonly sessionId = null;
  readonly facts: ServerFacts;
  readonly #deps: UpstreamDeps;
  readonly #upstream: McpUpstream;
  readonly #identity: UpstreamIdentity;
  readonly #client: ClientFacts;

  constructor(
    deps: UpstreamDeps,
    upstream: McpUpstream,
    identity: UpstreamIdentity,
    client: ClientFacts,
    facts: ServerFacts,
  ) {
    this.#deps = deps;
    this.#upstream = upstream;
    this.#identity = identity;
    this.#client = client;
    this.facts = facts;
  }

  async request(request: LinkRequest): Promise<LinkAnswer> {
    return inTime(this.#deps, this.#upstream, request, async (time) => {
      const { answer, tokenRefreshed } = await this.#post(request, time);
      const { status } = answer;
      if (!isEventStream(answer)) {
        const text = await textOf(answer, time);
        const found = answerIn(text, request.id, request.onEvent);
        if (!found) throw strangeAnswer(answer);
        return { ...found, status, streamed: false, tokenRefreshed };
      }
      let found: { response: RpcResponse; text: string } | null = null;
      await readStream(answer, time, ({ message, event }) => {
        if (isProgress(message)) time.extend();
        request.onEvent?.({ message, event });
        if (answers(message, request.id)) found = { response: message, text: event.data };
        return found !== null;
      });
      if (!found) throw new McpError('upstream_error', 'the upstream ended its stream before it had answered');
      return { ...(found as { response: RpcResponse; text: string }), status, streamed: true, tokenRefreshed };
    });
  }

  #post(request: LinkRequest, time: CallTime) {
    const { method, params } = request;
    return exchange(
      this.#deps,
      this.#upstream,
      this.#identity,
      {
        method: 'POST',
        headers: {
          accept: acceptBoth,
          'content-type': 'application/json',
          ...request.headers,
          ...standardHeaders(method, params),
        },
        body: request.bytes ?? bytesOf(written({ kind: 'request', ...request, params: this.#withMeta(params) })),
        replayable: method !== 'tools/call',
        ...(request.room && { room: request.room }),
      },
      time,
    );
  }

  #withMeta(params: JsonRpcFields): JsonRpcFields {
    const meta = isFields(params._meta) ? params._meta : {};
    return {
      ...params,
      _meta: {
        ...meta,
        [metaKeys.protocolVersion]: statelessVersion,
        [metaKeys.clientInfo]: meta[metaKeys.clientInfo] ?? this.#client.info,
        [metaKeys.clientCapabilities]: meta[metaKeys.clientCapabilities] ?? this.#client.capabilities,
      },
    };
  }

  /** This revision knows no messages of a client but requests: leaving a stream is what cancels it. */
  async send(): Promise<void> {
    return Promise.resolve();
  }

  async listen({ signal, filter, opened, onEvent }: ListenOptions): Promise<boolean> {
    const time = new CallTime(this.#deps.deadlines, timeoutOf(this.#upstream, this.#deps), signal);
    const id = 'gw-listen';
    const params = {
      notifications: filter ?? { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
    };
    try {
      const { answer } = await this.#post({ id, method: 'subscriptions/listen', params }, time);
      if (answer.status !== 200 || !isEventStream(answer)) {
        await answer.body?.cancel();
        return false;
      }
      time.lift();
      opened();
      await readStream(answer, time, (event) => {
        if (answers(event.message, id)) return true;
        onEvent(event);
        return false;
      });
      return true;
    } finally {
      time.done();
    }
  }

  async close(): Promise<void> {
    return Promise.resolve();
  }
}

export function standardHeaders(method: string, params: JsonRpcFields): Record<string, string> {
  const field = nameField[method];
  const name = field && params[field];
  return {
    'mcp-protocol-version': statelessVersion,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': encodeHeaderValue(name) }),
  };
}

/** Asks who the upstream is; throws `WrongEra` where it does not know this revision. */
export async function openStatelessLink(
  deps: UpstreamDeps,
  upstream: McpUpstream,
  identity: UpstreamIdentity,
  client: ClientFacts,
): Promise<StatelessLink> {
  const unknown: ServerFacts = {
    protocolVersion: statelessVersion,
    capabilities: {},
    serverInfo: {},
    instructions: null,
  };
  const asking = new StatelessLink(deps, upstream, identity, client, unknown);
  const result = await discovered(asking);
  const { capabilities, instructions, _meta } = result;
  const info = isFields(_meta) ? _meta[metaKeys.serverInfo] : result.serverInfo;
  const facts: ServerFacts = {
    protocolVersion: statelessVersion,
    capabilities: isFields(capabilities) ? capabilities : {},
    serverInfo: isFields(info) ? info : {},
    instructions: typeof instructions === 'string' ? instructions : null,
  };
  return new StatelessLink(deps, upstream, identity, client, facts);
}

async function discovered(link: StatelessLink, again = true): Promise<JsonRpcFields> {
  let answer: LinkAnswer;
  try {
    answer = await link.request({ id: 'gw-discover', method: 'server/discover', params: {} });
  } catch (fault) {
    // A server of an older revision answers with whatever it says to what it does not understand.
    if (fault instanceof McpError && fault.kind === 'upstream_error') throw new WrongEra(fault.status, false);
    throw fault;
  }
  const { response, status } = answer;
  // It refuses the revision and offers the same: the refusal was passing.
  if (again && response?.error && offersOurs(response.error)) return discovered(link, false);
  if (response?.error || !response?.result || !Array.isArray(response.result.supportedVersions)) {
    throw new WrongEra(status, false);
  }
  return response.result;
}

const offersOurs = ({ code, data }: RpcError): boolean =>
  code === unsupportedVersion &&
  isFields(data) &&
  Array.isArray(data.supported) &&
  data.supported.includes(statelessVersion);
