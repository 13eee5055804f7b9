/** A WebSocket of the server's on a connection that a test plays by hand. */
import type { Relay, SocketMessage } from '../../src/wire/websocket/relay.ts';
import { type Line, ServerSocket } from '../../src/wire/websocket/server-socket.ts';
import { clientFrame, closePayload, kinds, serverFrames } from './client-frames.ts';

/** A connection that takes as many bytes as it is told to, and writes down what is done to it. */
export class ScriptedLine implements Line {
  room = Number.POSITIVE_INFINITY;
  closed = false;
  taken: Buffer[] = [];
  deeds: string[] = [];
  /** What follows at once when it is ended. */
  ends: () => void = () => undefined;

  make(room: number): void {
    this.room = room;
  }

  write(bytes: Uint8Array): number {
    if (this.closed) return -1;
    const size = Math.min(this.room, bytes.length);
    this.taken.push(Buffer.from(bytes.subarray(0, size)));
    this.room -= size;
    return size;
  }

  pause(): void {
    this.deeds.push('pause');
  }

  resume(): void {
    this.deeds.push('resume');
  }

  end(): void {
    this.deeds.push('end');
    this.ends();
  }

  terminate(): void {
    this.deeds.push('terminate');
    this.ends();
  }

  /** What the client got, by kind and content. */
  get frames(): [kind: number, content: string][] {
    return serverFrames(Buffer.concat(this.taken)).map(({ kind, payload }) => [kind, payload.toString('latin1')]);
  }
}

/** What the relay does besides writing down what it is told. */
type Reactions = Partial<Pick<Relay, 'message' | 'drained' | 'closed'>>;

export function opened(reactions: Reactions = {}) {
  const line = new ScriptedLine();
  const told: (string | SocketMessage)[][] = [];
  const tells = (event: string, ...of: SocketMessage[]) => void told.push([event, ...of]);
  const relay: Relay = {
    opened: () => tells('opened'),
    message(frame) {
      tells('message', frame);
      reactions.message?.(frame);
    },
    drained() {
      tells('drained');
      reactions.drained?.();
    },
    closed(code, reason) {
      tells('closed', String(code), reason);
      reactions.closed?.(code, reason);
    },
    dismissed: () => tells('dismissed'),
  };
  const socket = new ServerSocket(line, relay, () => tells('end'));
  const says = (...frames: Buffer[]) => socket.received(Buffer.concat(frames));
  return { line, told, socket, says };
}

/** Our close frame, as `frames` shows it. */
export const closing = (code: number, reason = ''): [kind: number, content: string] => [
  kinds.close,
  closePayload(code, reason).toString('latin1'),
];

/** A new one each time, as its mask is taken off in place. */
export const lastWord = (): Buffer => clientFrame(kinds.close, closePayload(1_000));

/** The time that it will be. */
export const later = (ms: number): number => performance.now() + ms;
