/** The data plane by itself: real HTTP in front, simulated providers behind, and a catalog in memory instead of the admin side. */
import type { SavedProvider, WorkspaceCatalog } from '../src/catalog/catalog.ts';
import { compileConfig, parseConfig } from '../src/catalog/compile.ts';
import type { Plan } from '../src/catalog/plan.ts';
import { noGuardrails, type WorkspaceGuardrails } from '../src/catalog/workspace-guardrails.ts';
import { type GatewaySettings, readEnvironment } from '../src/environment.ts';
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
import type { Lookup } from '../src/gateway/upstream/fair-lookups.ts';
import { createHostGuard } from '../src/gateway/upstream/host-guard.ts';
import { listen } from '../src/http/server.ts';
import type { KeyCaller } from '../src/identity/caller.ts';
import type { Scope } from '../src/identity/scopes.ts';
import { defaultSettings, type OrganisationSettings } from '../src/identity/settings.ts';
import { silentLog } from '../src/log.ts';
import { OpenTraces } from '../src/logs/open-traces.ts';
import type { LogRecord } from '../src/logs/record.ts';
import { createPricer } from '../src/pricing/pricer.ts';
import { providers } from '../src/providers/index.ts';
import { HttpClient } from '../src/wire/client/http-client.ts';
import type { Incoming } from '../src/wire/server/incoming.ts';
import { TestClock } from './harness.ts';

export const workspaceKey = 'gw-workspace-key-0123456789';
const workspaceId = 'workspace-1';
const organisationId = 'organisation-1';

export const workspaceCaller = (more: Partial<KeyCaller> = {}): KeyCaller => ({
  kind: 'workspace-key',
  keyId: 'key-1',
  keyName: 'Test key',
  organisationId,
  workspaceId,
  userId: null,
  exhausted: false,
  rights: rightsOf('completions.write'),
  defaults: { configId: null, allowConfigOverride: true, metadata: {}, userName: null },
  ...more,
});

export const rightsOf = (...scopes: Scope[]): KeyCaller['rights'] => ({
  organisation: new Set(),
  everyWorkspace: null,
  workspaces: new Map([[workspaceId, new Set(scopes)]]),
});

export const savedProvider = (slug: string, more: Partial<SavedProvider> = {}): SavedProvider => ({
  id: `provider-${slug}`,
  slug,
  integrationId: `integration-${slug}`,
  integrationSlug: slug,
  provider: 'openai',
  credential: `sk-${slug}-secret`,
  fields: {},
  customHost: null,
  customHeaders: {},
  status: 'active',
  expiresAt: null,
  enabled: true,
  models: { allowAll: true, bySlug: new Map() },
  pricingAdjustments: null,
  ...more,
});

/** What a test changes while it runs. */
export interface Lab {
  deps: GatewayDeps;
  clock: TestClock;
  callers: Map<string, KeyCaller>;
  providers: Map<string, SavedProvider>;
  guardrails: WorkspaceGuardrails;
  plans: Map<string, Plan>;
  settings: OrganisationSettings;
  metadata: Record<string, string>;
  records: LogRecord[];
  faults: unknown[];
  /** The waits between tries, in milliseconds; nobody really waits. */
  waits: number[];
}

interface LabOptions {
  settings?: Partial<GatewaySettings>;
  lookup?: Lookup;
  random?: () => number;
}

const noLookup: Lookup = (name) => Promise.reject(new Error(`nobody may look ${name} up`));

export function newLab({ settings = {}, lookup = noLookup, random = () => 0 }: LabOptions = {}): Lab {
  const clock = new TestClock();
  const gatewaySettings = {
    ...readEnvironment({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' }).gateway,
    ...settings,
  };
  const lab: Omit<Lab, 'deps'> = {
    clock,
    callers: new Map([[workspaceKey, workspaceCaller()]]),
    providers: new Map(),
    guardrails: noGuardrails,
    plans: new Map(),
    settings: { ...defaultSettings, data_plane_security_settings: { block_inline_config: false } },
    metadata: {},
    records: [],
    faults: [],
    waits: [],
  };
  const now = () => clock.now().getTime();
  const deps: GatewayDeps = {
    settings: gatewaySettings,
    clock,
    keyring: { find: async (secret) => lab.callers.get(secret) ?? null },
    catalog: { workspace: (id) => (id === workspaceId ? workspaceOf(lab) : null) },
    providers,
    pricer: createPricer(),
    openTraces: new OpenTraces(),
    sink: { append: (record) => void lab.records.push(record) },
    deadlines: new Deadlines(),
    breakers: createBreakers(now),
    sticky: createStickyChoices(now),
    hostGuard: createHostGuard(gatewaySettings.trustedHosts, lookup),
    http: new HttpClient({}),
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
    discoveries: new TokenCache(now),
    frameBudgets: new FrameBudgets(),
    bodies: new BodyBudget(gatewaySettings.bufferedBytes),
    inlinePlans: new InlinePlans(),
    random,
    pause: async (ms) => void lab.waits.push(ms),
    isStoreAway: () => false,
    onFault: (fault) => void lab.faults.push(fault),
  };
  return Object.assign(lab, { deps });
}

const workspaceOf = (lab: Omit<Lab, 'deps'>): WorkspaceCatalog => ({
  organisationId,
  organisationName: 'Test organisation',
  workspaceId,
  workspaceSlug: 'test-workspace',
  settings: lab.settings,
  metadata: lab.metadata,
  plan: (reference) => lab.plans.get(reference) ?? null,
  provider: (slug) => lab.providers.get(slug) ?? null,
  get providers() {
    return [...lab.providers.values()];
  },
  get guardrails() {
    return lab.guardrails;
  },
  mcp: { servers: [], bySlug: () => null },
  agents: { find: () => null },
  prompts: { prompt: () => null, partial: () => null, sharedBy: () => null },
});

let configs = 0;

/** Saves a config in the lab and answers its slug. Each has an id of its own, so that breakers do not mix. */
export function saveConfig(lab: Lab, config: unknown): string {
  const parsed = parseConfig(config, 'inline');
  if (!parsed.ok) throw new Error(`The config was refused: ${JSON.stringify(parsed.errors)}`);
  const slug = `pc-test-${++configs}`;
  const saved = { configId: `id-${slug}`, slug, versionId: 'version-1' };
  lab.plans.set(slug, compileConfig(parsed.config, { id: saved.configId, saved }));
  return slug;
}

export interface Plane extends Lab {
  url: string;
  call(path: string, body?: unknown, headers?: Record<string, string>, init?: RequestInit): Promise<Response>;
  saveConfig(config: unknown): string;
  /** The records of what was called since the last time, once all of it is settled. */
  settled(): Promise<LogRecord[]>;
  stop(): Promise<void>;
}

/** A lab behind a real listener. */
export function startPlane(options: LabOptions = {}): Plane {
  const lab = newLab(options);
  const gateway = createGateway(lab.deps);
  const handling = new Set<Promise<unknown>>();
  const handle = (request: Incoming) => {
    const answer = gateway.handle(request) ?? gateway.passthrough(request);
    if (answer === null) return null;
    const over = answer.finally(() => handling.delete(over));
    handling.add(over);
    return over;
  };
  const listener = listen(
    { host: '127.0.0.1', port: 0 },
    { handlers: [handle], idle: async () => undefined, log: silentLog },
  );
  const { url } = listener;
  return Object.assign(lab, {
    url,
    saveConfig: (config: unknown) => saveConfig(lab, config),
    call: (path: string, body?: unknown, headers: Record<string, string> = {}, init: RequestInit = {}) =>
      fetch(url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          'x-gw-api-key': workspaceKey,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...init,
      }),
    async settled() {
      await Promise.all(handling);
      await gateway.idle();
      return lab.records.splice(0);
    },
    async stop() {
      gateway.close();
      await listener.stop(0);
    },
  });
}
