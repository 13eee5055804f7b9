/** Opens what speaks to upstream MCP servers, for the data plane and for those who manage servers. */
import type { McpProbe } from '../catalog/mcp/probe.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../environment.ts';
import { createProbe } from './probe.ts';
import { createUpstreamDeps, createUpstreamNet } from './upstream/create.ts';
import type { UpstreamDeps } from './upstream/exchange.ts';
import type { UpstreamHttp } from './upstream/http.ts';
import { Opener } from './upstream/open.ts';
import type { UpstreamTokens } from './upstream/tokens.ts';

export interface McpUpstreams {
  deps: UpstreamDeps;
  http: UpstreamHttp;
  opener: Opener;
  probe: McpProbe;
  close(): void;
}

const noTokens: UpstreamTokens = { bearer: async () => null, learn: () => undefined };

export function openMcpUpstreams(settings: Settings, clock: Clock): McpUpstreams {
  const net = createUpstreamNet(settings);
  const deps = createUpstreamDeps(settings, clock, { http: net.http, tokens: noTokens, sign: async () => '' });
  const opener = new Opener(deps, () => clock.now().getTime());
  const probe = createProbe(opener, { revoke: async () => undefined, now: () => performance.now() });
  return {
    deps,
    http: net.http,
    opener,
    probe,
    close() {
      deps.close();
      net.close();
    },
  };
}
