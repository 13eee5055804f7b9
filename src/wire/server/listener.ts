/** Takes connections and hands their requests to whoever answers them, until it is told to stop. */
import type { SocketHandler, TLSOptions } from 'bun';
import { noFileIsLeft } from '../client/open-files.ts';
import type { Relay } from '../websocket/relay.ts';
import { ClientConnection } from './client-connection.ts';
import type { Host } from './host.ts';
import { RequestHeadCache } from './request-head-cache.ts';

interface Listening {
  hostname: string;
  port: number;
  tls: TLSOptions | null;
  /** False where a test moves the time: then nobody but the test calls `tick`. */
  ticks?: boolean;
}

export interface ListenerHost extends Pick<Host<ClientConnection>, 'answer' | 'refusal' | 'failed'> {
  /** Told of every WebSocket; the answer is called when it is closed. */
  opened(): () => void;
  /** Told, second by second, that no client can be let in because this process may open no further connection. */
  short(): void;
}

const tickMs = 1_000;
const probedEveryMs = 60_000;

export class HttpListener implements Host<ClientConnection> {
  readonly secure: boolean;
  ending = false;
  readonly heads = new RequestHeadCache();
  readonly #answering: ListenerHost;
  readonly #connections = new Set<ClientConnection>();
  readonly #relays = new Set<Relay>();
  readonly #server: Bun.TCPSocketListener<ClientConnection>;
  readonly #ticking: ReturnType<typeof setInterval> | undefined;

  constructor({ hostname, port, tls, ticks = true }: Listening, answering: ListenerHost) {
    this.secure = tls !== null;
    this.#answering = answering;
    this.#server = Bun.listen<ClientConnection>({
      hostname,
      port,
      socket: this.#handler(),
      ...(tls && { tls }),
    });
    this.#ticking = ticks ? setInterval(() => this.tick(performance.now()), tickMs) : undefined;
  }

  get port(): number {
    return this.#server.port;
  }

  answer: Host<ClientConnection>['answer'] = (request) => this.#answering.answer(request);

  refusal: Host<ClientConnection>['refusal'] = (refused) => this.#answering.refusal(refused);

  failed: Host<ClientConnection>['failed'] = (fault) => this.#answering.failed(fault);

  opened(relay: Relay): () => void {
    const leave = this.#answering.opened();
    this.#relays.add(relay);
    return () => {
      this.#relays.delete(relay);
      leave();
    };
  }

  gone(connection: ClientConnection): void {
    this.#connections.delete(connection);
  }

  /** Takes no more connections, and no more requests over those that there are; but requests that are on their way arrive within `lingerMs`. */
  async end(lingerMs = 0): Promise<void> {
    this.ending = true;
    this.#server.stop(false);
    if (lingerMs > 0) await Bun.sleep(lingerMs);
    for (const connection of [...this.#connections]) connection.dismiss();
  }

  /** Tells every open WebSocket that the program ends. */
  dismissSockets(): void {
    for (const relay of [...this.#relays]) relay.dismissed(1001, 'the gateway is shutting down');
  }

  /** Resolves when no reply is on its way any more. */
  async said(): Promise<void> {
    while ([...this.#connections].some(({ speaks }) => speaks)) await Bun.sleep(lookAgainMs);
  }

  /** Resolves when every connection is closed. */
  async closed(): Promise<void> {
    while (this.#connections.size > 0) await Bun.sleep(lookAgainMs);
  }

  /** Cuts off whoever is left. */
  close(): void {
    clearInterval(this.#ticking);
    for (const connection of [...this.#connections]) connection.terminate();
    this.#server.stop(true);
  }

  /** Cuts off whoever takes too long; it is done by itself every second. */
  tick(now: number): void {
    if (noFileIsLeft()) this.#makeRoom();
    for (const connection of [...this.#connections]) connection.tick(now);
  }

  /** Those who ask for nothing make way for those who would. */
  #makeRoom(): void {
    this.#answering.short();
    for (const connection of [...this.#connections]) connection.dismiss();
  }

  #handler(): SocketHandler<ClientConnection> {
    return {
      open: (socket) => {
        socket.setNoDelay(true);
        // What stands between forgets connections that are silent for as long as some models think.
        socket.setKeepAlive(true, probedEveryMs);
        socket.data = new ClientConnection(socket, this);
        this.#connections.add(socket.data);
      },
      // Whoever asks for this hears of connections that have not come so far yet, too.
      handshake: ({ data }) => data.secured(),
      // Each delivery is memory of its own.
      data: ({ data }, bytes) => data.received(bytes as Buffer<ArrayBuffer>),
      drain: ({ data }) => data.drained(),
      close: ({ data }) => data?.lost(),
      error: ({ data }, fault) => {
        this.failed(fault);
        data?.terminate();
      },
    };
  }
}

const lookAgainMs = 5;
