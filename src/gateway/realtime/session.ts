/** A realtime session: frames go both ways, each side at the pace of the other, until one of them leaves. */
import type { ClientSocket, Relay, SocketMessage } from '../../wire/websocket/relay.ts';
import type { Deadline, Deadlines } from '../upstream/deadlines.ts';
import { type Charge, unitsOfRead, unitsOfRelayed } from './frame-budget.ts';
import type { ProviderSocket } from './upstream-socket.ts';

/** Bytes waiting for one side from which on the other is not read; what was read already, one frame at most, comes on top. */
const fullAt = 1024 * 1024;
const roomAgainAt = fullAt / 2;
/** Nobody tells when an upstream queue has drained, so a full one is looked at again. */
const lookAgainMs = 20;
/** A provider that does not answer a close frame in this time is disconnected. */
const closeTimeoutMs = 5_000;
/** A private close code, after the status of the same fault before a session. */
const flooded = 4429;
/** Between two looks at whether the key still counts. */
const standingMs = 1_000;

export interface Ending {
  by: 'client' | 'provider' | 'gateway';
  code: number;
  reason: string;
}

export interface SessionTerms {
  /** The provider is pinged when it was silent for so long, and given up when it is silent once more. */
  pingMs: number;
  /** Why the session must end; null as long as its key counts. */
  standing(): Promise<{ code: number; reason: string } | null>;
  /** Told of every frame of the provider's, after it was passed on; answers how much of it was read. */
  observe(frame: SocketMessage): number;
  /** Counts what is relayed; says how long nothing more should be read. */
  charge(units: number): Charge;
  /** Asks for memory for messages that come in pieces, or gives it back. */
  gathers(bytes: number): boolean;
  /** Told once how the session ended. */
  ended(ending: Ending): void;
  /** Told once when both sides are closed. */
  over(): void;
}

export class Session implements Relay {
  readonly #upstream: ProviderSocket;
  readonly #deadlines: Deadlines;
  readonly #terms: SessionTerms;
  #client: ClientSocket | null = null;
  #ended = false;
  #clientPaused = false;
  #upstreamRests = false;
  #isCut = false;
  #silence: Deadline | null = null;
  #pinged = false;
  #standingSeenAt = performance.now();

  constructor(upstream: ProviderSocket, deadlines: Deadlines, terms: SessionTerms) {
    this.#upstream = upstream;
    this.#deadlines = deadlines;
    this.#terms = terms;
  }

  opened(client: ClientSocket): void {
    this.#client = client;
    this.#watchSilence();
    this.#upstream.listen({
      message: (frame) => this.#toClient(frame),
      alive: () => this.#heard(),
      flooded: () => this.#flooded(),
      closed: (code, reason) => this.#upstreamClosed(code, reason),
    });
  }

  message(frame: SocketMessage): void {
    if (this.#ended) return;
    this.#upstream.send(frame);
    if (this.#upstream.waiting > fullAt) this.#pauseClient(lookAgainMs);
    this.#chargeClient(1 + unitsOfRelayed(frame.length));
    this.#lookAtStanding();
  }

  overhead(): void {
    this.#chargeClient(1);
  }

  gathers(bytes: number): boolean {
    return this.#terms.gathers(bytes);
  }

  drained(): void {
    this.#resumeUpstream();
  }

  closed(code: number, reason: string): void {
    if (this.#end({ by: 'client', code, reason })) this.#leaveUpstream(code, reason);
  }

  dismissed(code: number, reason: string): void {
    if (!this.#end({ by: 'gateway', code, reason })) return;
    this.#client?.close(code, reason);
    this.#leaveUpstream(code, reason);
  }

  /** Ends it without a close handshake, during which a provider that floods us would go on sending. */
  cut(code: number, reason: string): void {
    if (this.#isCut) return;
    this.#isCut = true;
    if (this.#end({ by: 'gateway', code, reason })) this.#client?.close(code, reason);
    this.#upstream.terminate();
  }

  #chargeClient(units: number): void {
    const { waitMs } = this.#terms.charge(units);
    if (waitMs > 0) this.#pauseClient(waitMs);
  }

  #chargeProvider(units: number): void {
    const { waitMs, overdrawn } = this.#terms.charge(units);
    if (overdrawn) this.#flooded();
    else if (waitMs > 0 && !this.#upstreamRests) this.#restUpstream(waitMs);
  }

  #flooded(): void {
    this.cut(flooded, 'the provider sends more than can be relayed');
  }

  #restUpstream(ms: number): void {
    this.#upstreamRests = true;
    this.#upstream.pause();
    this.#deadlines.set(ms, () => {
      this.#upstreamRests = false;
      this.#resumeUpstream();
    });
  }

  /** Once it has rested and the client has room. */
  #resumeUpstream(): void {
    if (this.#upstreamRests) return;
    if (this.#ended || (this.#client && this.#client.getBufferedAmount() <= roomAgainAt)) this.#upstream.resume();
  }

  #toClient(frame: SocketMessage): void {
    // What a provider still says after the client left has no one to go to, but it may say what it costs.
    if (!this.#ended && this.#client) {
      this.#client.send(frame);
      if (this.#client.getBufferedAmount() > fullAt) this.#upstream.pause();
    }
    const read = this.#terms.observe(frame);
    this.#chargeProvider(unitsOfRelayed(frame.length) + unitsOfRead(read));
  }

  #pauseClient(ms: number): void {
    if (this.#clientPaused) return;
    this.#clientPaused = true;
    this.#client?.pause();
    const look = () => {
      if (this.#ended) return;
      if (this.#upstream.waiting > roomAgainAt) {
        this.#deadlines.set(lookAgainMs, look);
        return;
      }
      this.#clientPaused = false;
      this.#client?.resume();
    };
    this.#deadlines.set(ms, look);
  }

  #lookAtStanding(): void {
    const now = performance.now();
    if (now - this.#standingSeenAt < standingMs) return;
    this.#standingSeenAt = now;
    void this.#terms.standing().then((fault) => fault && this.dismissed(fault.code, fault.reason));
  }

  #heard(): void {
    this.#chargeProvider(1);
    this.#pinged = false;
    this.#silence?.extend(this.#terms.pingMs);
  }

  #watchSilence(): void {
    this.#silence = this.#deadlines.set(this.#terms.pingMs, () => {
      // Of a provider that we do not read at the moment no answer can be expected.
      const dead = this.#pinged && !this.#upstream.paused;
      if (dead) return this.#upstream.terminate();
      this.#pinged = true;
      this.#upstream.ping();
      this.#watchSilence();
    });
  }

  /** Passes the provider's close frame on to the client: its code, no code, or a connection that is cut. */
  #upstreamClosed(code: number, reason: string): void {
    if (this.#end({ by: 'provider', code, reason })) {
      if (code === 1006) this.#client?.terminate();
      else this.#client?.close(code, reason);
    }
    this.#silence?.clear();
    this.#terms.over();
  }

  #leaveUpstream(code: number, reason: string): void {
    // It may be paused, and then its answer would never be read.
    this.#upstream.resume();
    this.#upstream.close(code, reason);
    this.#silence = this.#deadlines.set(closeTimeoutMs, () => this.#upstream.terminate());
  }

  /** False when it has ended before. */
  #end(ending: Ending): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#silence?.clear();
    this.#terms.ended(ending);
    return true;
  }
}
