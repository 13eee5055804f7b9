/** WebSockets that the listener accepts. Each is driven by the relay that the handler of its request made for it. */
import { faultFields, type Log } from '../log.ts';
import type { Underway } from '../underway.ts';

/** The client's side of an accepted WebSocket. */
export type ClientSocket = Pick<
  Bun.ServerWebSocket<Relay>,
  'send' | 'close' | 'terminate' | 'pause' | 'resume' | 'getBufferedAmount'
>;

export type Frame = string | Buffer<ArrayBuffer>;

/** What is told about an accepted WebSocket, from its opening to its end. */
export interface Relay {
  opened(client: ClientSocket): void;
  message(frame: Frame): void;
  /** Everything that was sent has left. */
  drained(): void;
  /** 1005: closed without a code; 1006: gone without a word. */
  closed(code: number, reason: string): void;
  /** The listener ends: both sides are to be closed. */
  dismissed(code: number, reason: string): void;
}

/** Turns the request under way into a WebSocket; false when its client is gone or sent no proper handshake. */
export type Upgrade = (relay: Relay, headers: Headers) => boolean;

/** What a handler answers instead of a response when it has upgraded its request. */
export type Upgraded = 'upgraded';

/** OpenAI takes 15 MiB of audio in one event, which is 20 as base64. A larger frame closes the connection with 1009. */
const largestFrame = 32 * 1024 * 1024;
/** A client that was silent for 30 seconds is pinged, and cut off when it does not answer within the 16 that are left. */
const idleSeconds = 46;

interface Sockets {
  handlers: Bun.WebSocketHandler<Relay>;
  /** Closes every socket that is still open, because the program ends. */
  dismissAll(): void;
}

/** The listener's part: it counts each socket as under way, and hands what happens to the socket's relay. */
export function createSockets(underway: Underway, log: Log): Sockets {
  /** Each open socket, with what counts it out. */
  const open = new Map<Relay, () => void>();
  return {
    dismissAll() {
      for (const relay of open.keys()) relay.dismissed(1001, 'the gateway is shutting down');
    },
    handlers: {
      maxPayloadLength: largestFrame,
      idleTimeout: idleSeconds,
      sendPings: true,
      // A message over the limit would be dropped in silence; relays keep their own bound by pausing the other side.
      backpressureLimit: 0,
      open(socket) {
        open.set(socket.data, underway.enter());
        socket.data.opened(socket);
      },
      message: (socket, frame) => socket.data.message(frame),
      drain: (socket) => socket.data.drained(),
      close(socket, code, reason) {
        open.get(socket.data)?.();
        open.delete(socket.data);
        socket.data.closed(code, reason);
      },
      error(fault, socket) {
        log.error('A WebSocket failed; it is closed.', faultFields(fault));
        socket.close(1011);
      },
    },
  };
}
