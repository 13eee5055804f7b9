/** The server's side of a WebSocket (RFC 6455, without extensions), on a connection that it has taken over. */
import { closeCode, withoutWord } from './close-frame.ts';
import { FrameReader } from './frames.ts';
import { Outbox } from './outbox.ts';
import { Pongs } from './pongs.ts';
import { Pulse } from './pulse.ts';
import type { ClientSocket, Relay } from './relay.ts';
import { closeFrame, messageFrame, pingFrame } from './written.ts';

/** What a WebSocket stands on: the connection that it has taken over. */
export interface Line {
  /** Takes as many bytes as there is room for and tells how many; below 0 when it is closed. */
  write(bytes: Uint8Array): number;
  pause(): void;
  resume(): void;
  /** In order, after what was written. */
  end(): void;
  /** At once. */
  terminate(): void;
}

/** OpenAI takes 15 MiB of audio in one event, which is 20 as base64. */
const largestMessage = 32 * 1024 * 1024;
/** How long a client may take to answer our close frame, or to read it. */
const closeTimeoutMs = 5_000;

/** What the relay throws is thrown by whatever made it speak; the owner is to close the socket then. */
export class ServerSocket implements ClientSocket {
  readonly #line: Line;
  readonly #relay: Relay;
  readonly #onEnd: () => void;
  readonly #outbox: Outbox;
  readonly #pongs: Pongs;
  readonly #reader: FrameReader;
  readonly #pulse = new Pulse();
  /** `leaving`: we have said our last word, the client has not. `left`: it has too, but ours may still wait. */
  #stage: 'open' | 'leaving' | 'left' | 'over' = 'open';
  #leavingSince = 0;
  #paused = false;
  /** The relay knows that it is closed. */
  #told = false;
  #thrown: { fault: unknown } | null = null;

  /** `onEnd` is called once, when nothing more is asked of the line. */
  constructor(line: Line, relay: Relay, onEnd: () => void) {
    this.#line = line;
    this.#relay = relay;
    this.#onEnd = onEnd;
    this.#outbox = new Outbox((bytes) => line.write(bytes));
    this.#pongs = new Pongs(this.#outbox);
    this.#reader = new FrameReader(
      {
        message: (frame) => this.#speak(() => relay.message(frame)),
        ping: (payload) => this.#pongs.answer(payload),
        overhead: () => relay.overhead?.(),
        gathers: (bytes) => relay.gathers?.(bytes) ?? true,
        left: (code, reason) => this.#clientLeft(code, reason),
        refused: (code, reason) => this.#refuse(code, reason),
      },
      largestMessage,
    );
  }

  /** The memory is ours from here on. */
  received(bytes: Uint8Array): void {
    this.#pulse.heard();
    this.#reader.push(bytes);
    this.#raise();
  }

  /** The line has room again. */
  drained(): void {
    const waiting = this.#outbox.size;
    if (waiting === 0) return;
    this.#outbox.drain();
    // Whoever takes something is there, even if it says nothing.
    if (this.#outbox.size < waiting) this.#pulse.heard();
    if (this.#stage === 'open') this.#pongs.goOn();
    if (this.#outbox.size > 0 || this.#outbox.closed) return;
    if (this.#stage === 'open') this.#speak(() => this.#relay.drained());
    else this.#settle();
    this.#raise();
  }

  /** The connection is closed, for whatever reason. */
  gone(): void {
    this.#end();
    this.#raise();
  }

  /** To be called every few seconds with the time that `performance.now()` gives. */
  tick(now: number): void {
    if (this.#stage === 'open') this.#lookAfter(now);
    else if (now - this.#leavingSince >= closeTimeoutMs) this.#end(this.#outbox.size > 0 ? 'at once' : 'in order');
    this.#raise();
  }

  send(data: string | Uint8Array): number {
    if (this.#stage !== 'open') return 0;
    const frame = messageFrame(data);
    this.#outbox.write(frame);
    if (this.#outbox.closed) return 0;
    return this.#outbox.size > 0 ? -1 : frame.length;
  }

  close(code: number = closeCode.normal, reason = ''): void {
    if (code === withoutWord) this.terminate();
    else if (this.#stage === 'open') this.#leave(code, reason);
  }

  terminate(): void {
    this.#end('at once');
    this.#raise();
  }

  pause(): void {
    if (this.#stage !== 'open' || this.#paused) return;
    this.#paused = true;
    this.#reader.hold();
    this.#line.pause();
  }

  resume(): void {
    if (this.#stage === 'over' || !this.#paused) return;
    this.#paused = false;
    this.#pulse.heard();
    this.#reader.goOn();
    // What waited may have been enough to pause it again.
    if (!this.#paused) this.#line.resume();
  }

  getBufferedAmount(): number {
    return this.#outbox.size;
  }

  #lookAfter(now: number): void {
    // Of a client that we do not read at the moment no answer can be expected.
    if (this.#paused) return;
    const next = this.#pulse.look(now);
    if (next === 'ask') this.#outbox.write(pingFrame());
    else if (next === 'give up') this.#end('at once');
  }

  #clientLeft(code: number, reason: string): void {
    if (this.#stage === 'open') this.#leave(code, reason);
    if (this.#stage === 'over') return;
    this.#stage = 'left';
    this.#tell(code, reason);
    this.#settle();
  }

  #refuse(code: number, reason: string): void {
    this.#leave(code, reason);
    this.#tell(withoutWord, reason);
  }

  /** Says our last word, and listens for the client's. */
  #leave(code: number, reason: string): void {
    this.#stage = 'leaving';
    this.#leavingSince = performance.now();
    this.#reader.ignore();
    this.#outbox.write(closeFrame(code, reason));
    // While it is not read its last word would never come.
    this.resume();
  }

  /** Ends the line once both have said their last word and ours is on its way. */
  #settle(): void {
    if (this.#stage === 'left' && this.#outbox.size === 0) this.#end('in order');
  }

  /** Nothing more comes or goes. Without a manner when the line has ended already. */
  #end(manner?: 'in order' | 'at once'): void {
    if (this.#stage === 'over') return;
    this.#stage = 'over';
    this.#reader.stop();
    this.#outbox.close();
    if (manner === 'in order') this.#line.end();
    else if (manner === 'at once') this.#line.terminate();
    this.#tell(withoutWord, '');
    this.#onEnd();
  }

  #tell(code: number, reason: string): void {
    if (this.#told) return;
    this.#told = true;
    this.#speak(() => this.#relay.closed(code, reason));
  }

  /** What the relay throws must not keep us from coming to an end with what we are at. */
  #speak(say: () => void): void {
    try {
      say();
    } catch (fault) {
      this.#thrown ??= { fault };
      this.#reader.ignore();
    }
  }

  #raise(): void {
    const thrown = this.#thrown;
    this.#thrown = null;
    if (thrown) throw thrown.fault;
  }
}
