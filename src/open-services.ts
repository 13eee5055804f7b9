/** Opens what both planes work with, in the data folder that this process holds, and closes it again. */
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { type AuditTrail, createAuditTrail, refusedTokenRow } from './admin/kernel/audit/audit.ts';
import type { Services } from './admin/kernel/services.ts';
import { resources } from './admin/resources.ts';
import { createSsoService } from './admin/sso/service.ts';
import { createAgentCards, type LiveCards } from './agents/cards.ts';
import { followPrices, type PriceFollower } from './catalog/price-files.ts';
import { savedConfigs, savedGuardrails } from './catalog/references.ts';
import type { Clock } from './clock.ts';
import { lockedFolder, preparedFolder } from './data-folder.ts';
import type { Settings } from './environment.ts';
import { BodyBudget } from './gateway/request/body-budget.ts';
import { type OpenSecrets, openSecrets } from './gateway/secrets/open.ts';
import { markOf } from './http/own-mark.ts';
import { openTokenReader } from './identity/jwt/open.ts';
import { createKeyring, type Keyring } from './identity/keyring.ts';
import { createLoginThrottle } from './identity/login-throttle.ts';
import type { Passwords } from './identity/passwords.ts';
import { syncUsage } from './jobs/usage-sync.ts';
import { openLimits } from './limits/limits.ts';
import type { Log } from './log.ts';
import { type Logs, openLogs } from './logs/logs.ts';
import { readMasterKey } from './master-key-source.ts';
import { type McpUpstreams, openMcpUpstreams } from './mcp/open-upstreams.ts';
import type { Names } from './mcp/upstream/create.ts';
import { fetchPublicDocument, webFetch } from './mcp/upstream/public-document.ts';
import { createPriceTable } from './pricing/price-table.ts';
import { secretGauges } from './secrets/gauges.ts';
import { openChangeFeed } from './store/changes.ts';
import { openStore } from './store/database.ts';
import { installationName } from './store/installation.ts';
import { requireSameMasterKey } from './store/master-key.ts';
import { type MigrationReport, migrate } from './store/migrate.ts';
import { createVault, type KeyRing } from './store/vault.ts';
import { openTelemetry, type Telemetry } from './telemetry/telemetry.ts';

const dnsTimeoutMs = 5_000;

/** Opens the state store at this program's schema version. */
export async function openState(settings: Settings, clock: Clock) {
  preparedFolder(settings.dataDir);
  const store = openStore(settings.store);
  let migration: MigrationReport;
  try {
    migration = await migrate(store, clock.now());
  } catch (error) {
    await store.close();
    throw error;
  }
  return { store, migration };
}

/** The services with what only the wiring may do to them. */
export type OpenServices = Services & {
  telemetry: Telemetry;
  /** By which calls of this installation are known. */
  mark: string;
  /** What bodies in memory share, on every route. */
  bodies: BodyBudget;
  logs: Logs;
  folder: { close(): void };
  priceFollower: PriceFollower;
  mcpUpstreams: McpUpstreams;
  agentCards: LiveCards;
  secrets: OpenSecrets;
  vault: KeyRing;
  trail: AuditTrail;
  keyring: Keyring;
};

/** What every service is opened with. */
export interface Basics {
  clock: Clock;
  log: Log;
  passwords: Passwords;
  names: Names | undefined;
}

export async function openServices(settings: Settings, basics: Basics): Promise<OpenServices> {
  preparedFolder(settings.dataDir);
  const folder = lockedFolder(settings.dataDir, basics.clock.now());
  try {
    return await openInFolder(settings, basics, folder);
  } catch (error) {
    folder.close();
    throw error;
  }
}

async function openInFolder(
  settings: Settings,
  { clock, log, passwords, names }: Basics,
  folder: OpenServices['folder'],
): Promise<OpenServices> {
  const { store } = await openState(settings, clock);
  const vault = createVault(await readMasterKey(settings.masterKey, settings.dataDir));
  await requireSameMasterKey(store, vault);
  const feed = await openChangeFeed(store, (message) => log.warn(message));
  // What was spent reaches those who count only once there is somebody to tell them.
  let opened: OpenServices | null = null;
  const limits = await openLimits(settings.limits, {
    store,
    feed,
    dataDir: settings.dataDir,
    clock,
    log,
    onSpent: async () => (opened ? syncUsage(opened) : undefined),
  });
  const priceTable = createPriceTable(clock);
  const mark = markOf(await installationName(store, () => randomBytes(12).toString('hex')));
  const secrets = openSecrets({ settings, mark, clock, log });
  const bodies = new BodyBudget(settings.gateway.bufferedBytes);
  const mcpUpstreams = openMcpUpstreams({ settings, mark, bodies, clock, store, feed, vault, secrets, names });
  const agentCards = createAgentCards(mcpUpstreams.deps, () => clock.now().getTime());
  const trail = createAuditTrail(store.db, (message) => log.warn(message));
  const tokens = openTokenReader({
    environment: settings.jwt,
    db: store.db,
    feed,
    clock,
    fetchDocument: fetchPublicDocument(mcpUpstreams.http),
    onRefused: (refused) => settings.auditLogs && trail.queue(refusedTokenRow(clock.now(), refused)),
  });
  const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: 1 });
  const telemetry = openTelemetry(settings.telemetry, log, secretGauges(secrets));
  opened = {
    settings,
    clock,
    mark,
    bodies,
    bodyRoom: (organisationId) => ({
      take: (bytes) => bodies.take(organisationId, bytes),
      give: (bytes) => bodies.give(organisationId, bytes),
    }),
    folder,
    store,
    feed,
    vault,
    passwords,
    loginThrottle: createLoginThrottle(clock),
    trail,
    keyring: createKeyring(store.db, feed, clock, { outageGraceMs: settings.outageGraceMs, tokens }),
    resolveTxt: (name) => resolver.resolveTxt(name),
    hostFault: mcpUpstreams.http.faultOfSaved,
    configs: savedConfigs,
    guardrails: savedGuardrails,
    checkIo: () => {
      throw new Error('The gateway is not open yet');
    },
    limits,
    priceTable,
    priceFollower: await followPrices(store, priceTable, log),
    logs: openLogs(settings.dataDir, settings.logStore, log, {
      ...settings.logs,
      now: () => clock.now().getTime(),
      observe: telemetry.observe,
    }),
    telemetry,
    sso: createSsoService({
      store,
      vault,
      clock,
      trustedHosts: settings.trustedHosts,
      fetchFor: (tenant) => webFetch(mcpUpstreams.http, tenant),
      fetchDocument: fetchPublicDocument(mcpUpstreams.http),
    }),
    mcp: mcpUpstreams.probe,
    agents: agentCards,
    agentCards,
    mcpUpstreams,
    secrets,
    draining: false,
    dependants: resources.flatMap((resource) => resource.dependants ?? []),
  };
  return opened;
}

export async function closeServices(services: OpenServices): Promise<void> {
  await services.limits.close();
  services.mcpUpstreams.close();
  services.secrets.close();
  await services.logs.close();
  await services.telemetry.close();
  await services.feed.close();
  await services.store.close();
  services.folder.close();
}
