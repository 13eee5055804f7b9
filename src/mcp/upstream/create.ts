/** Puts together what speaks to upstream MCP servers. */
import { lookup } from 'node:dns/promises';
import type { Clock } from '../../clock.ts';
import type { Settings } from '../../environment.ts';
import type { BodyBudget } from '../../gateway/request/body-budget.ts';
import { Deadlines } from '../../gateway/upstream/deadlines.ts';
import type { Lookup } from '../../gateway/upstream/fair-lookups.ts';
import { createHostGuard } from '../../gateway/upstream/host-guard.ts';
import type { Secrets } from '../../secrets/resolver.ts';
import { HttpClient } from '../../wire/client/http-client.ts';
import { shareOfFiles } from '../../wire/client/open-files.ts';
import { McpBreakers } from './breaker.ts';
import type { UpstreamDeps } from './exchange.ts';
import type { SignIdentity } from './headers.ts';
import { createUpstreamHttp, type UpstreamHttp } from './http.ts';
import type { UpstreamTokens } from './tokens.ts';

export interface OpenUpstreams extends UpstreamDeps {
  close(): void;
}

/** Who is asked for the addresses of names, and the time by which they are kept. */
export interface Names {
  lookup: Lookup;
  now(): number;
}

const systemNames: Names = {
  async lookup(name) {
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => address);
  },
  now: () => performance.now(),
};

export function createUpstreamNet(
  settings: Settings,
  mark: string,
  bodies: BodyBudget,
  names: Names = systemNames,
): { http: UpstreamHttp; close(): void } {
  // Half of what model calls may take, so that one organisation never has all files that the process may open.
  const shareOfTenant = settings.gateway.connectionsOfOrganisation ?? Math.ceil(shareOfFiles() / 2);
  const client = new HttpClient(process.env, { shareOfTenant });
  const guard = createHostGuard(settings.trustedHosts, names.lookup, { mark, now: names.now });
  return { http: createUpstreamHttp(client, guard, bodies), close: () => client.close() };
}

export function createUpstreamDeps(
  settings: Settings,
  clock: Clock,
  { http, tokens, sign, secrets }: { http: UpstreamHttp; tokens: UpstreamTokens; sign: SignIdentity; secrets: Secrets },
): OpenUpstreams {
  const deadlines = new Deadlines();
  return {
    http,
    tokens,
    sign,
    secrets,
    breakers: new McpBreakers(() => clock.now().getTime()),
    deadlines,
    requestTimeout: settings.mcp.requestTimeout,
    pause: (ms) => Bun.sleep(ms),
    close: () => deadlines.stop(),
  };
}
