/** Ways to upstreams that several calls share: those of clients without a session, and of the gateway itself. */
import { digestOf } from '../../catalog/digest.ts';
import { forwardedDigest } from './headers.ts';
import type { ClientFacts, Link } from './link.ts';
import type { Opener, Wanted } from './open.ts';

interface Entry {
  link: Promise<Link>;
  until: number;
  upstreamId: string;
  userKey: string;
}

const mostLinks = 2_000;

export class Pool {
  readonly #opener: Opener;
  readonly #now: () => number;
  readonly #lifetimeMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(opener: Opener, now: () => number, lifetimeMs: number) {
    this.#opener = opener;
    this.#now = now;
    this.#lifetimeMs = lifetimeMs;
  }

  get(wanted: Wanted): Promise<Link> {
    const key = keyOf(wanted);
    const known = this.#entries.get(key);
    if (known && known.until > this.#now()) return known.link;
    if (known) this.#drop(key, known);
    if (this.#entries.size >= mostLinks) {
      const [oldest] = this.#entries;
      if (oldest) this.#drop(...oldest);
    }
    const link = this.#open(wanted);
    const entry: Entry = {
      link,
      until: this.#now() + this.#lifetimeMs,
      upstreamId: wanted.upstream.id,
      userKey: wanted.identity.key,
    };
    this.#entries.set(key, entry);
    // What could not be opened is tried anew by the next who asks.
    link.catch(() => this.#entries.get(key) === entry && this.#entries.delete(key));
    return link;
  }

  async #open(wanted: Wanted): Promise<Link> {
    const link = await this.#opener.open(wanted);
    if (link.era === 'session') {
      await link.send({ kind: 'notification', method: 'notifications/initialized', params: {} });
    }
    return link;
  }

  /** The upstream no longer knows it: the next call opens another. */
  lost(wanted: Wanted): void {
    const key = keyOf(wanted);
    const entry = this.#entries.get(key);
    if (entry) this.#drop(key, entry);
  }

  /** A sign-in was ended, or a server changed. */
  forget(upstreamId: string, userKey?: string): void {
    for (const [key, entry] of this.#entries) {
      if (entry.upstreamId === upstreamId && (userKey === undefined || entry.userKey === userKey))
        this.#drop(key, entry);
    }
  }

  #drop(key: string, entry: Entry): void {
    this.#entries.delete(key);
    entry.link
      .then(
        (link) => link.close(),
        () => undefined,
      )
      .catch(() => undefined);
  }

  close(): void {
    for (const [key, entry] of [...this.#entries]) this.#drop(key, entry);
  }
}

const keyOf = ({ upstream, identity, client, era }: Wanted): string =>
  `${upstream.id} ${upstream.revision} ${identity.key} ${era} ${capabilitiesOf(client)} ${forwardedDigest(upstream.settings, identity)}`;

/** An upstream asks only what the client behind the link can answer. */
const capabilitiesOf = ({ capabilities }: ClientFacts): string => digestOf(capabilities);
