/** A WebSocket client for tests: what arrives is waited for one by one. */
import { openClientSocket } from '../src/wire/websocket/client-socket.ts';
import type { CloseFrame, Frame } from './providers/realtime.ts';

export class RealtimeClient {
  readonly socket: Bun.WebSocket;
  readonly closed: Promise<CloseFrame>;
  readonly #arrived: Frame[] = [];
  #waiting: ((frame: Frame) => void) | null = null;

  private constructor(socket: Bun.WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }: CloseEvent) => resolve({ code, reason }));
    });
    socket.addEventListener('message', ({ data }: MessageEvent<Frame>) => {
      if (!this.#waiting) this.#arrived.push(data);
      else {
        this.#waiting(data);
        this.#waiting = null;
      }
    });
  }

  /** Rejects when the handshake fails. */
  static open(
    url: string,
    headers: Record<string, string> = {},
    protocols: readonly string[] = [],
  ): Promise<RealtimeClient> {
    const socket = openClientSocket(url, { headers, protocols: [...protocols] });
    const client = new RealtimeClient(socket);
    return new Promise((resolve, reject) => {
      socket.addEventListener('open', () => resolve(client));
      socket.addEventListener('error', ({ error }: ErrorEvent) => reject(error));
    });
  }

  next(): Promise<Frame> {
    const frame = this.#arrived.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** The next event of this type; those before it are passed over. */
  async event(type: string): Promise<Record<string, unknown>> {
    for (;;) {
      const frame = await this.next();
      const event: Record<string, unknown> = typeof frame === 'string' ? JSON.parse(frame) : {};
      if (event.type === type) return event;
    }
  }

  say(event: object): void {
    this.socket.send(JSON.stringify(event));
  }
}

/** The answer to a handshake as plain HTTP, for those that are refused. */
export const handshake = (url: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
      ...headers,
    },
    ...(signal && { signal }),
  });
