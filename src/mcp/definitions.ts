/** Definitions of tools as upstreams listed them lately: hints, approved forms and headers of parameters are read from them. */

import type { McpUpstream } from '../catalog/mcp/server.ts';
import type { CapabilityDefinition } from '../catalog/mcp/types.ts';
import type { UpstreamIdentity } from './principal.ts';

const freshMs = 60_000;
const mostLists = 2_000;

export class Definitions {
  readonly #now: () => number;
  readonly #lists = new Map<string, { tools: ReadonlyMap<string, CapabilityDefinition>; until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Null where they are not known, or were read too long ago. */
  known(upstream: McpUpstream, identity: UpstreamIdentity): ReadonlyMap<string, CapabilityDefinition> | null {
    const list = this.#lists.get(keyOf(upstream, identity));
    return list && list.until > this.#now() ? list.tools : null;
  }

  learn(
    upstream: McpUpstream,
    identity: UpstreamIdentity,
    tools: readonly CapabilityDefinition[],
  ): ReadonlyMap<string, CapabilityDefinition> {
    if (this.#lists.size >= mostLists) {
      const [oldest] = this.#lists.keys();
      if (oldest !== undefined) this.#lists.delete(oldest);
    }
    const byName = new Map(tools.map((tool) => [String(tool.name), tool]));
    this.#lists.set(keyOf(upstream, identity), { tools: byName, until: this.#now() + freshMs });
    return byName;
  }

  forget(upstream: McpUpstream, identity: UpstreamIdentity): void {
    this.#lists.delete(keyOf(upstream, identity));
  }
}

const keyOf = ({ id, revision }: McpUpstream, { key }: UpstreamIdentity): string => `${id} ${revision} ${key}`;
