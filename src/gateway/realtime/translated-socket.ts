/** The provider's side of a session in another dialect than the client's: every frame becomes the other side's words on its way. */
import type { RealtimeTranslator, Relayed } from '../../providers/provider.ts';
import type { SocketMessage } from '../../wire/websocket/relay.ts';
import type { ProviderSocket, UpstreamListener } from './upstream-socket.ts';

export class TranslatedSocket implements ProviderSocket {
  /** Of the subprotocols that clients offer, the one that names their dialect. */
  readonly protocol = 'realtime';
  readonly #socket: ProviderSocket;
  readonly #translator: RealtimeTranslator;
  readonly #onFault: (fault: unknown) => void;
  #listener: UpstreamListener | null = null;
  #left = false;

  /** A fault of the translator's cuts the session off: what one side said next would have a hole before it. */
  constructor(socket: ProviderSocket, translator: RealtimeTranslator, onFault: (fault: unknown) => void) {
    this.#socket = socket;
    this.#translator = translator;
    this.#onFault = onFault;
  }

  listen(listener: UpstreamListener): void {
    this.#listener = listener;
    this.#relay((translator) => translator.opened());
    this.#socket.listen({
      message: (frame) => this.#relay((translator) => translator.fromProvider(frame.toString())),
      alive: () => listener.alive(),
      flooded: () => listener.flooded(),
      closed: (code, reason) => {
        const by = this.#left ? 'client' : 'provider';
        this.#relay((translator) => ({ toClient: translator.closed({ code, reason, by }), toProvider: [] }));
        listener.closed(code, reason);
      },
    });
  }

  get waiting(): number {
    return this.#socket.waiting + this.#translator.held;
  }

  get paused(): boolean {
    return this.#socket.paused;
  }

  send(frame: SocketMessage): void {
    this.#relay((translator) => translator.fromClient(typeof frame === 'string' ? frame : null));
  }

  ping(): void {
    this.#socket.ping();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(code: number, reason: string): void {
    this.#left = true;
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #relay(translate: (translator: RealtimeTranslator) => Relayed): void {
    try {
      const { toClient, toProvider } = translate(this.#translator);
      for (const text of toProvider) this.#socket.send(text);
      for (const text of toClient) this.#listener?.message(text);
    } catch (fault) {
      this.#onFault(fault);
      this.#socket.terminate();
    }
  }
}
