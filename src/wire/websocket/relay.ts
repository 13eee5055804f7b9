/** What an accepted WebSocket and whoever drives it know of each other. */

/** A message as it came. */
export type SocketMessage = string | Buffer<ArrayBuffer>;

/** The client's side of an accepted WebSocket. */
export interface ClientSocket {
  /** The bytes that left; -1 when some of them wait, 0 when nothing can be sent any more. */
  send(data: string | Uint8Array): number;
  /** 1000 if nothing is said; 1005 closes without a code, 1006 without a word. */
  close(code?: number, reason?: string): void;
  /** At once and without a word. */
  terminate(): void;
  /** What has arrived already waits too. */
  pause(): void;
  resume(): void;
  /** Bytes that were sent and have not left yet. */
  getBufferedAmount(): number;
}

/** What is told about an accepted WebSocket, from its opening to its end. */
export interface Relay {
  opened(client: ClientSocket): void;
  message(frame: SocketMessage): void;
  /** A frame came that is no message: a ping, a pong, a fragment. */
  overhead?(): void;
  /** A message that comes in pieces takes so much more memory, or less; false where there is none for it. */
  gathers?(bytes: number): boolean;
  /** Everything that was sent has left. */
  drained(): void;
  /** 1005: closed without a code; 1006: gone without a word. */
  closed(code: number, reason: string): void;
  /** The listener ends: both sides are to be closed. */
  dismissed(code: number, reason: string): void;
}
