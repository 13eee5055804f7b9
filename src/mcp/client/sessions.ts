/** What this node knows of sessions besides what their ids hold: which ended, which were opened anew upstream, and who waits for an answer of the client. */
import type { RpcResponse } from '../protocol/json-rpc.ts';
import type { Link } from '../upstream/link.ts';

const idleMs = 30 * 60_000;
const mostSessions = 50_000;

export class LocalSession {
  lastSeen: number;
  /** The upstream forgot the session; this one took its place. */
  reopened: { sessionId: string | null } | null = null;
  reopening: Promise<Link> | null = null;
  /** A way to the upstream that lives in this process. */
  link: Link | null = null;
  /** Requests of ours to the client, by their ids. */
  readonly asked = new Map<string, (answer: RpcResponse) => void>();
  /** The sessions with servers behind the joined address, by the id of the server. */
  readonly children = new Map<string, Promise<string>>();
  /** Which of them answers a request that is under way, by the request's id. */
  readonly inFlight = new Map<string, string>();
  logLevel: string | null = null;
  /** Refusals of the upstream's requests that are on their way. */
  answering = 0;
  readonly subscriptions = new Set<string>();

  constructor(now: number) {
    this.lastSeen = now;
  }
}

export class Sessions {
  readonly #now: () => number;
  readonly #known = new Map<string, LocalSession>();
  /** Digests of sessions that were ended, with the time when they would have been forgotten anyway. */
  readonly #ended = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Null where it was ended, or was idle for too long on this node. */
  touch(digest: string): LocalSession | null {
    const now = this.#now();
    if (this.#ended.has(digest)) return null;
    const known = this.#known.get(digest);
    if (known && now - known.lastSeen > idleMs) {
      this.end(digest);
      return null;
    }
    const session = known ?? new LocalSession(now);
    session.lastSeen = now;
    if (!known) this.#remember(digest, session);
    return session;
  }

  #remember(digest: string, session: LocalSession): void {
    if (this.#known.size >= mostSessions) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#drop(oldest);
    }
    this.#known.set(digest, session);
  }

  end(digest: string): void {
    this.#ended.set(digest, this.#now() + 24 * 3_600_000);
    if (this.#ended.size > mostSessions) {
      const [oldest] = this.#ended.keys();
      if (oldest !== undefined) this.#ended.delete(oldest);
    }
    this.#drop(digest);
  }

  #drop(digest: string): void {
    const session = this.#known.get(digest);
    this.#known.delete(digest);
    // Its own end is all that matters of it now.
    session?.link?.close().catch(() => undefined);
  }

  /** Forgets what is idle; called now and then. */
  sweep(): void {
    const now = this.#now();
    for (const [digest, session] of this.#known) if (now - session.lastSeen > idleMs) this.end(digest);
    for (const [digest, until] of this.#ended) if (until < now) this.#ended.delete(digest);
  }

  close(): void {
    for (const digest of [...this.#known.keys()]) this.#drop(digest);
  }
}
