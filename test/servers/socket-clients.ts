/** Real clients of WebSockets: the runtime's, and that of the package `ws` where it is installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CloseFrame, Frame } from '../providers/realtime.ts';
import { RealtimeClient } from '../realtime-client.ts';
import { until } from './wire-calls.ts';

/** What the two clients have in common. */
export interface Client {
  send(content: string | Buffer): void;
  ping(): Promise<void>;
  next(): Promise<Frame>;
  close(code?: number, reason?: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  protocol: string;
  /** Bytes that were sent and have not left. */
  waiting(): number;
  closed: Promise<CloseFrame>;
}

export type Open = (url: string, protocols?: string[]) => Promise<Client>;

export const openBun: Open = async (url, protocols = []) => {
  const client = await RealtimeClient.open(url, {}, protocols);
  const { socket, closed } = client;
  return {
    closed,
    next: () => client.next(),
    send: (content) => socket.send(content),
    ping() {
      const heard = new Promise<void>((resolve) => socket.addEventListener('pong', () => resolve(), { once: true }));
      socket.ping('there?');
      return heard;
    },
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    protocol: socket.protocol,
    waiting: () => socket.bufferedAmount,
  };
};

/** The part of the package `ws` that is used here; it brings no types. */
interface WsSocket {
  send(content: string | Buffer, options?: { fin?: boolean; binary?: boolean }): void;
  ping(payload: string): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  protocol: string;
  bufferedAmount: number;
  on(event: 'open', listener: () => void): void;
  on(event: 'pong', listener: (payload: Buffer) => void): void;
  on(event: 'error', listener: (fault: Error) => void): void;
  on(event: 'message', listener: (bytes: Buffer<ArrayBuffer>, isBinary: boolean) => void): void;
  on(event: 'close', listener: (code: number, reason: Buffer) => void): void;
}

/** By its path: under its name the runtime would put a client of its own in its place. */
const wsPath = join(import.meta.dir, '../../node_modules/ws/wrapper.mjs');
export const withWs = existsSync(wsPath);

export async function newWs(url: string, protocols: string[]): Promise<WsSocket> {
  const { WebSocket }: { WebSocket: new (url: string, protocols: string[]) => WsSocket } = await import(wsPath);
  return new WebSocket(url, protocols);
}

export const openWs: Open = async (url, protocols = []) => {
  const socket = await newWs(url, protocols);
  const arrived: Frame[] = [];
  const closed = new Promise<CloseFrame>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  socket.on('message', (bytes, isBinary) => void arrived.push(isBinary ? bytes : bytes.toString()));
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return {
    closed,
    async next() {
      await until(() => arrived.length > 0);
      return arrived.shift() ?? '';
    },
    send: (content) => socket.send(content),
    ping() {
      const heard = new Promise<void>((resolve) => {
        socket.on('pong', (payload) => payload.toString() === 'there?' && resolve());
      });
      socket.ping('there?');
      return heard;
    },
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    protocol: socket.protocol,
    waiting: () => socket.bufferedAmount,
  };
};
