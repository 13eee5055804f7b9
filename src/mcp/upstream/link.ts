/** A way to an upstream MCP server, whichever transport and revision it speaks. */
import type { BodyLease } from '../../gateway/request/body-budget.ts';
import type { Abortable } from '../../wire/abort.ts';
import type { Bytes } from '../../wire/client/collected.ts';
import type { SseEvent } from '../protocol/events.ts';
import type { JsonRpcFields, JsonRpcId, RpcMessage, RpcResponse } from '../protocol/json-rpc.ts';
import type { Era } from '../protocol/versions.ts';

/** Who the upstream is and what it can do, as it said when it was asked first. */
export interface ServerFacts {
  protocolVersion: string;
  capabilities: JsonRpcFields;
  serverInfo: JsonRpcFields;
  instructions: string | null;
}

/** Who we say that we are: the client behind us. */
export interface ClientFacts {
  info: JsonRpcFields;
  capabilities: JsonRpcFields;
}

export interface LinkRequest {
  id: JsonRpcId;
  method: string;
  params: JsonRpcFields;
  /** The message as the client wrote it, where nothing in it changes. */
  bytes?: Bytes;
  /** The client's `mcp-param-…` headers. */
  headers?: Readonly<Record<string, string>>;
  signal?: Abortable;
  timeoutMs?: number;
  /** Counts what is held of the answer, for as long as whoever asked holds it. */
  room?: BodyLease;
  /** Told of everything that comes before the answer, and of the answer's own event. */
  onEvent?(event: LinkEvent): void;
  /** False: a stream that the upstream ends early is not taken up again here; the client does that. */
  resume?: boolean;
}

export interface LinkEvent {
  /** Null for events that only carry an id. */
  message: RpcMessage | null;
  event: SseEvent;
}

export interface LinkAnswer {
  /** Null: the upstream ended its stream and will go on when it is asked again. */
  response: RpcResponse | null;
  /** As it came. */
  text: string | null;
  status: number;
  /** It came as a stream. */
  streamed: boolean;
  tokenRefreshed: boolean;
}

export interface Link {
  readonly era: Era;
  readonly facts: ServerFacts;
  /** The session that the upstream opened for us, where it did. */
  readonly sessionId: string | null;
  request(request: LinkRequest): Promise<LinkAnswer>;
  /** A notification, or the client's answer to something that the upstream asked. */
  send(message: RpcMessage, bytes?: Bytes): Promise<void>;
  /**
   * What the upstream says by itself, until the signal or the upstream ends it. Resolves false at once where the upstream
   * has no such stream; `opened` is told when it is there.
   */
  listen(options: ListenOptions): Promise<boolean>;
  close(): Promise<void>;
}

export interface ListenOptions {
  signal: Abortable;
  lastEventId?: string | null;
  /** What is wanted, for upstreams that are asked for it; by default every change of a list. */
  filter?: JsonRpcFields;
  opened(): void;
  onEvent(event: LinkEvent): void;
}

/** The upstream no longer knows the session. */
export class SessionLost extends Error {}

/** The upstream does not speak what it was asked in; another revision or transport may do. */
export class WrongEra extends Error {
  readonly status: number;
  /** It answered in the words of the stateless revision. */
  readonly modern: boolean;

  constructor(status: number, modern: boolean) {
    super(`the upstream does not speak this revision (${status})`);
    this.status = status;
    this.modern = modern;
  }
}
