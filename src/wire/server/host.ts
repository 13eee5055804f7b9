/** Whoever listens, as a connection knows it. */
import type { Bytes } from '../client/collected.ts';
import type { Relay } from '../websocket/relay.ts';
import type { Incoming, Upgraded } from './incoming.ts';
import type { Reply } from './reply.ts';
import type { RefusedHead } from './request-head.ts';
import type { RequestHeadCache } from './request-head-cache.ts';

/** `Connection` is what it hears of when one is closed. */
export interface Host<Connection> {
  readonly secure: boolean;
  /** No further request is taken over a connection that has answered one. */
  readonly ending: boolean;
  readonly heads: RequestHeadCache;
  answer(request: Incoming): Promise<Reply | Upgraded>;
  /** The reply to a head that is not served. */
  refusal(refused: RefusedHead): Reply & { body: Bytes };
  /** Something that nobody has foreseen; the connection is cut. */
  failed(fault: unknown): void;
  /** A connection has become a WebSocket; the answer is called when that is closed. */
  opened(relay: Relay): () => void;
  /** The connection is closed. */
  gone(connection: Connection): void;
}
