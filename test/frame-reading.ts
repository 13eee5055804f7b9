/** Reads frames of a WebSocket client, and keeps what the reader told, in order. */
import { FrameReader } from '../src/wire/websocket/frames.ts';

export const limit = 1_000_000;

/** What was told, in order. */
export type Told = [what: 'message' | 'ping' | 'left' | 'refused', ...of: (string | number | Buffer)[]];

export function reading(
  most = limit,
  gathers: (bytes: number) => boolean = () => true,
): { told: Told[]; push(bytes: Uint8Array): void; reader: FrameReader; overhead(): number } {
  const told: Told[] = [];
  let overhead = 0;
  const reader = new FrameReader(
    {
      message: (frame) => told.push(['message', frame]),
      ping: (payload) => told.push(['ping', Buffer.from(payload)]),
      overhead: () => overhead++,
      gathers,
      left: (code, reason) => told.push(['left', code, reason]),
      refused: (code) => told.push(['refused', code]),
    },
    most,
  );
  // Its own memory each time, as the mask is taken off in it.
  return { told, reader, push: (bytes) => reader.push(Buffer.from(bytes)), overhead: () => overhead };
}

export function read(...frames: Uint8Array[]): Told[] {
  const { told, push } = reading();
  push(Buffer.concat(frames));
  return told;
}

/** The head of a message that has more fragments. */
export const first = { final: false };
