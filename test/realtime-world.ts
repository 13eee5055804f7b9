/** The data plane alone behind a real listener, its catalog and its keys set by hand, with simulated realtime providers behind it. */
import type { SavedProvider, WorkspaceCatalog } from '../src/catalog/catalog.ts';
import { compileConfig, parseConfig } from '../src/catalog/compile.ts';
import type { Plan } from '../src/catalog/plan.ts';
import { noGuardrails } from '../src/catalog/workspace-guardrails.ts';
import { readEnvironment } from '../src/environment.ts';
import { noSteps } from '../src/gateway/attempt/steps.ts';
import { createCredentials } from '../src/gateway/credentials/credentials.ts';
import { TokenCache } from '../src/gateway/credentials/token-cache.ts';
import type { GatewayDeps } from '../src/gateway/deps.ts';
import { createGateway } from '../src/gateway/handle.ts';
import { FrameBudgets } from '../src/gateway/realtime/frame-budget.ts';
import { BodyBudget } from '../src/gateway/request/body-budget.ts';
import { InlinePlans } from '../src/gateway/request/inline-plans.ts';
import { createBreakers } from '../src/gateway/routing/breakers.ts';
import { createStickyChoices } from '../src/gateway/routing/sticky.ts';
import { Deadlines } from '../src/gateway/upstream/deadlines.ts';
import { createHostGuard } from '../src/gateway/upstream/host-guard.ts';
import { listen } from '../src/http/server.ts';
import type { KeyCaller } from '../src/identity/caller.ts';
import { adminKeyRights, workspaceKeyRights } from '../src/identity/rights.ts';
import { defaultSettings } from '../src/identity/settings.ts';
import { OpenTraces } from '../src/logs/open-traces.ts';
import type { LogRecord } from '../src/logs/record.ts';
import { createPricer } from '../src/pricing/pricer.ts';
import { openai } from '../src/providers/openai/openai.ts';
import type { Pinned } from '../src/wire/client/address.ts';
import { HttpClient } from '../src/wire/client/http-client.ts';
import { savedProvider, workspaceCaller } from './gateway-deps.ts';
import { TestClock } from './harness.ts';

export const workspaceKey = 'gw-test-workspace-key';
export const adminKey = 'gw-test-admin-key';
const workspaceId = 'workspace-1';

export interface RealtimeWorld {
  url: string;
  /** The address of the realtime route, as a WebSocket client takes it. */
  socketUrl: string;
  /** Every record, in the order in which they were settled. */
  records: LogRecord[];
  /** Faults of ours; a test that expects none may check. */
  faults: unknown[];
  clock: TestClock;
  /** What became of the workspace key. */
  key: { revoked: boolean; exhausted: boolean };
  /** Resolves when no session is open any more. */
  idle(): Promise<void>;
  stop(graceMs?: number): Promise<void>;
}

/** `providers` are saved ones, by slug; `configs` saved configs, by slug. */
export function startRealtimeWorld(
  providers: Record<string, { url: string; more?: Partial<SavedProvider> }>,
  configs: Record<string, unknown> = {},
): RealtimeWorld {
  const settings = readEnvironment({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
  const key = { revoked: false, exhausted: false };
  const catalog = workspaceCatalog(providers, configs);
  const records: LogRecord[] = [];
  const faults: unknown[] = [];
  const clock = new TestClock();
  const guard = createHostGuard(settings.gateway.trustedHosts, async () => []);
  const deps: GatewayDeps = {
    settings: settings.gateway,
    clock,
    keyring: {
      async find(secret) {
        if (secret === adminKey) return { ...caller(false), workspaceId: null, rights: adminKeyRights([]) };
        return secret === workspaceKey && !key.revoked ? caller(key.exhausted) : null;
      },
    },
    catalog: { workspace: () => catalog },
    providers: new Map([['openai', openai]]),
    pricer: createPricer(),
    openTraces: new OpenTraces(),
    sink: { append: (record) => void records.push(record) },
    http: new HttpClient({}),
    deadlines: new Deadlines(),
    breakers: createBreakers(() => performance.now()),
    sticky: createStickyChoices(() => performance.now()),
    hostGuard: { mark: '', check: async (url, tenant) => pinnedExample(url) ?? (await guard.check(url, tenant)) },
    batchService: null,
    steps: noSteps,
    settlers: [],
    limits: null,
    credentials: createCredentials({
      fetch,
      now: () => clock.now(),
      env: {},
      readFile: (path) => Bun.file(path).text(),
    }),
    discoveries: new TokenCache(() => Date.now()),
    frameBudgets: new FrameBudgets(),
    bodies: new BodyBudget(1e9),
    inlinePlans: new InlinePlans(),
    random: () => 0,
    pause: async () => undefined,
    isStoreAway: () => false,
    onFault: (fault) => void faults.push(fault),
  };
  const gateway = createGateway(deps);
  const log = { info: () => undefined, warn: () => undefined, error: (message: string) => void faults.push(message) };
  const listener = listen({ host: '127.0.0.1', port: 0 }, { handlers: [gateway.handle], idle: gateway.idle, log });
  return {
    url: listener.url,
    socketUrl: `${listener.url.replace('http', 'ws')}/v1/realtime`,
    records,
    faults,
    clock,
    key,
    idle: () => gateway.idle(),
    async stop(graceMs = 0) {
      await listener.stop(graceMs);
      deps.deadlines.stop();
    },
  };
}

/** The one name that has an address here: no public name leads to loopback. */
function pinnedExample(url: string): Pinned | null {
  const { hostname, host } = new URL(url);
  return hostname === 'pinned.example' ? { address: '127.0.0.1', name: hostname, host } : null;
}

const caller = (exhausted: boolean): KeyCaller =>
  workspaceCaller({ exhausted, rights: workspaceKeyRights(workspaceId, ['completions.write']) });

function workspaceCatalog(
  providers: Record<string, { url: string; more?: Partial<SavedProvider> }>,
  configs: Record<string, unknown>,
): WorkspaceCatalog {
  const saved = Object.entries(providers).map(([slug, { url, more }]) =>
    savedProvider(slug, { customHost: url, ...more }),
  );
  const plans = new Map(Object.entries(configs).map(([slug, config]) => [slug, savedPlan(slug, config)]));
  return {
    mcp: { servers: [], bySlug: () => null },
    agents: { find: () => null },
    prompts: { prompt: () => null, partial: () => null, sharedBy: () => null },
    organisationId: 'organisation-1',
    organisationName: 'Test',
    workspaceId,
    workspaceSlug: 'ws-test',
    settings: defaultSettings,
    metadata: {},
    plan: (reference) => plans.get(reference) ?? null,
    provider: (slug) => saved.find((provider) => provider.slug === slug) ?? null,
    providers: saved,
    guardrails: noGuardrails,
  };
}

function savedPlan(slug: string, config: unknown): Plan {
  const parsed = parseConfig(config, 'saved', { faultOfCustomHost: () => null, needsCredential: () => true });
  if (!parsed.ok) throw new Error(`The config is not valid: ${JSON.stringify(parsed.errors)}`);
  const saved = { configId: slug, slug, versionId: '1' };
  return compileConfig(parsed.config, { id: slug, saved });
}
