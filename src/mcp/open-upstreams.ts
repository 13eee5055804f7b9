/** Opens what speaks to upstream MCP servers, for the data plane and for those who manage servers. */
import type { McpProbe } from '../catalog/mcp/probe.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../environment.ts';
import type { BodyBudget } from '../gateway/request/body-budget.ts';
import { createFlows } from '../oauth/flows.ts';
import { createSigning, type Signing } from '../oauth/signing.ts';
import { createUpstreamSignIns, type UpstreamSignIns } from '../oauth/upstream-tokens.ts';
import type { Secrets } from '../secrets/resolver.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { createProbe } from './probe.ts';
import { createUpstreamDeps, createUpstreamNet, type Names } from './upstream/create.ts';
import type { UpstreamDeps } from './upstream/exchange.ts';
import type { UpstreamHttp } from './upstream/http.ts';
import { Opener } from './upstream/open.ts';

export interface McpUpstreams {
  deps: UpstreamDeps;
  http: UpstreamHttp;
  opener: Opener;
  probe: McpProbe;
  signing: Signing;
  signIns: UpstreamSignIns;
  close(): void;
}

interface Needs {
  settings: Settings;
  /** By which calls of this installation are known. */
  mark: string;
  bodies: BodyBudget;
  clock: Clock;
  store: Store;
  feed: ChangeFeed;
  vault: Vault;
  secrets: Secrets;
  /** Absent: as the system resolves names. */
  names?: Names | undefined;
}

export function openMcpUpstreams(needs: Needs): McpUpstreams {
  const { settings, mark, bodies, clock, store, feed, vault, secrets, names } = needs;
  const now = () => clock.now();
  const net = createUpstreamNet(settings, mark, bodies, names);
  const signing = createSigning(store, vault, settings.mcp.privateKey, now);
  const flows = createFlows(store, vault, now);
  const signIns = createUpstreamSignIns({ store, vault, feed, http: net.http, flows, now });
  const deps = createUpstreamDeps(settings, clock, { http: net.http, tokens: signIns, sign: signing.sign, secrets });
  const opener = new Opener(deps, () => clock.now().getTime());
  const probe = createProbe(opener, { revoke: signIns.revoke, now: () => performance.now() });
  return {
    deps,
    http: net.http,
    opener,
    probe,
    signing,
    signIns,
    close() {
      deps.close();
      net.close();
    },
  };
}
