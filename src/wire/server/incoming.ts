/** A request as its handlers see it: what was asked, by whom, and whether the client still waits for the answer. */
import type { AbortListener } from '../abort.ts';
import type { ByteReader, ReceivedHeaders } from '../client/answer.ts';
import type { Relay } from '../websocket/relay.ts';

export interface Incoming {
  readonly method: string;
  /** Path and query as they were asked for. */
  readonly target: string;
  /** All but the length of the body. */
  readonly headers: ReceivedHeaders;
  /** How many bytes the body has; null where that was not told. */
  readonly length: number | null;
  /** Null where there is none. */
  readonly body: ByteReader | null;
  /** It came over TLS. */
  readonly secure: boolean;
  /** The address at the other end of the connection. */
  readonly peer: string;
  /** The client is gone, before it was answered. */
  readonly left: boolean;
  /** Told once when the client leaves; for those who ask in time. */
  onLeave(listener: AbortListener): void;
  /** Aborted when the client leaves; dearer than the other two. */
  readonly gone: AbortSignal;
  /** Turns the connection into a WebSocket; false when the client is gone or sent no proper handshake. */
  upgrade(relay: Relay, headers: Readonly<Record<string, string>>): boolean;
}

/** What a handler answers instead of a reply when it has upgraded its request. */
export type Upgraded = 'upgraded';
