/** Finds out how an upstream wants to be spoken to, and opens a way to it. */
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import { McpError } from '../errors.ts';
import type { UpstreamIdentity } from '../principal.ts';
import { type Era, newestSessionVersion } from '../protocol/versions.ts';
import { withoutTasks } from '../tasks/capability.ts';
import { ApiLink } from './api-link.ts';
import type { UpstreamDeps } from './exchange.ts';
import { type ClientFacts, type Link, WrongEra } from './link.ts';
import { openSessionLink } from './session-link.ts';
import { SsePairLink } from './sse-pair-link.ts';
import { openStatelessLink } from './stateless-link.ts';

export interface Wanted {
  upstream: McpUpstream;
  identity: UpstreamIdentity;
  client: ClientFacts;
  /** The era of whoever asks: an upstream that speaks both is spoken to in the same. */
  era: Era;
  /** The revision that the client asked for. */
  version?: string;
}

type Way = 'session' | 'stateless' | 'sse pair' | 'api';

const mostKnown = 10_000;
const knownForMs = 600_000;

export class Opener {
  readonly #deps: UpstreamDeps;
  readonly #now: () => number;
  /** What did not work is not tried first for a while; by upstream, revision and the era that was wanted. */
  readonly #known = new Map<string, { way: Way; until: number }>();

  constructor(deps: UpstreamDeps, now: () => number) {
    this.#deps = deps;
    this.#now = now;
  }

  async open(wanted: Wanted): Promise<Link> {
    const { upstream, era } = wanted;
    const key = `${upstream.id} ${upstream.revision} ${era}`;
    const known = this.#known.get(key);
    const ways = inOrder(upstream, era, known && known.until > this.#now() ? known.way : null);
    let refused: WrongEra | null = null;
    for (const way of ways) {
      try {
        const link = await this.#by(way, wanted);
        if (this.#known.size >= mostKnown) this.#known.clear();
        this.#known.set(key, { way, until: this.#now() + knownForMs });
        return link;
      } catch (fault) {
        if (!(fault instanceof WrongEra)) throw fault;
        refused ??= fault;
      }
    }
    this.#known.delete(key);
    throw new McpError(
      'upstream_error',
      `the upstream is no MCP server that we can speak to (status ${refused?.status ?? 0})`,
    );
  }

  async #by(way: Way, { upstream, identity, client: whole, era, version }: Wanted): Promise<Link> {
    const isSameEra = (way === 'stateless') === (era === 'stateless');
    const client = isSameEra ? whole : { ...whole, capabilities: withoutTasks(whole.capabilities) };
    if (way === 'api') {
      if (!upstream.api) throw new McpError('upstream_error', 'this API has no document that describes it');
      return new ApiLink(this.#deps, upstream, identity, upstream.api);
    }
    if (way === 'stateless') return openStatelessLink(this.#deps, upstream, identity, client);
    if (way === 'session') {
      return openSessionLink(this.#deps, upstream, identity, client, version ?? newestSessionVersion);
    }
    const link = new SsePairLink(this.#deps, upstream, identity);
    await link.open(client, version ?? newestSessionVersion);
    return link;
  }
}

function inOrder({ transport }: McpUpstream, era: Era, known: Way | null): Way[] {
  if (transport === 'sse') return ['sse pair'];
  if (transport === 'openapi') return ['api'];
  const usual: Way[] =
    era === 'stateless' ? ['stateless', 'session', 'sse pair'] : ['session', 'stateless', 'sse pair'];
  return known === null ? usual : [known, ...usual.filter((way) => way !== known)];
}
