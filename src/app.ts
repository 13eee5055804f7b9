/** The one place that wires the parts together; parts never reach for globals. */
import { consentRow } from './admin/kernel/audit/audit.ts';
import { createKernel } from './admin/kernel/kernel.ts';
import { exportDownloads } from './admin/log-exports/links.ts';
import { createMcpRegistry } from './admin/mcp-registry/registry.ts';
import { type FirstStart, firstStart } from './admin/organisations/first-start.ts';
import { resources } from './admin/resources.ts';
import { createScim } from './admin/scim/protocol/handler.ts';
import { createBackchannelLogout } from './admin/sso/backchannel-logout.ts';
import { createSsoHandler } from './admin/sso/handler.ts';
import { slugOfWorkspace } from './admin/workspaces/row.ts';
import { openAgents } from './agents/open.ts';
import { callAs, guardedCalls } from './batches/call-as.ts';
import { openBatchService } from './batches/service.ts';
import { openCache } from './cache/open.ts';
import { createCatalog } from './catalog/load.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Settings } from './environment.ts';
import { openGateway } from './gateway/open.ts';
import { openConsole } from './http/console.ts';
import { createCors } from './http/cors.ts';
import { withHeaderAliases } from './http/header-aliases.ts';
import { refuseOwnMark } from './http/own-mark.ts';
import { createReference } from './http/reference.ts';
import { listen } from './http/server.ts';
import { onWeb } from './http/web.ts';
import { createAuthenticator } from './identity/authenticate.ts';
import { createImpersonation } from './identity/impersonation.ts';
import { createPasswords, type PasswordCost } from './identity/passwords.ts';
import { createJobs } from './jobs/index.ts';
import { createMasterKeyFollower } from './jobs/master-keys.ts';
import { createPriceFollower } from './jobs/prices.ts';
import { createJobRunner, type JobRunner } from './jobs/runner.ts';
import { postThrough } from './jobs/webhooks.ts';
import { faultFields, type Log, stderrLog } from './log.ts';
import type { LogRecord, LogSink } from './logs/record.ts';
import { createMailer } from './mail/mailer.ts';
import { mcpGauges } from './mcp/gauges.ts';
import { openMcp } from './mcp/open.ts';
import type { Names } from './mcp/upstream/create.ts';
import { openOauth } from './oauth/open.ts';
import { closeServices, type OpenServices, openServices } from './open-services.ts';
import { wholeDocumentInTurns } from './openapi.ts';
import { otelReceiver } from './otel/receiver.ts';
import { createPricer } from './pricing/pricer.ts';
import { isAway } from './store/unavailable.ts';

export interface App {
  url: string;
  port: number;
  /** What the first start made, to be shown once; null on later starts. */
  firstStart: FirstStart | null;
  services: OpenServices;
  jobs: JobRunner;
  /** Requests that are being served now. */
  readonly requests: number;
  /** Finishes what is under way, flushes, and closes everything. */
  stop(): Promise<void>;
}

export interface AppOptions {
  clock?: Clock;
  log?: Log;
  checkReplies?: boolean;
  /** Sees every log record on its way; for tests. */
  watchLogs?: (record: LogRecord) => void;
  /** Hears of the secrets of a first start as soon as they count, also where the start fails after that. */
  onFirstStart?: (made: FirstStart) => void;
  /** A cheaper hash, for tests alone: no setting of an operator lowers the recommended cost. */
  passwordCost?: PasswordCost;
  /** Who resolves the names of MCP servers and agents, for tests. */
  names?: Names;
}

const shutdownGraceMs = 30_000;
const workspacesInMemory = 5_000;

export async function startApp(settings: Settings, options: AppOptions = {}): Promise<App> {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? stderrLog;
  const passwords = createPasswords(options.passwordCost);
  const services = await openServices(settings, { clock, log, passwords, names: options.names });
  try {
    if (!settings.guardrails) log.warn('Guardrails are switched off: no request passes any.');
    const first = await firstStart(services);
    if (first) options.onFirstStart?.(first);
    const { store, feed, trail, keyring } = services;
    const standIns = createImpersonation(keyring);
    const batchService = openBatchService(store, services.vault, clock, settings.storedFileBytes);
    const authenticator = createAuthenticator(store.db, keyring, clock);
    const pricer = createPricer(services.priceTable);
    const kernel = createKernel({
      resources,
      services,
      authenticator,
      trail,
      onFault: (fault, requestId) =>
        log.error('An administrative call failed.', { request_id: requestId, ...faultFields(fault) }),
      checkReplies: options.checkReplies ?? false,
    });
    const catalog = createCatalog(store, feed, services.vault, clock, {
      capacity: workspacesInMemory,
      outageGraceMs: settings.outageGraceMs,
      guardrails: settings.guardrails,
      warn: (message) => log.warn(message),
    });
    const sink = options.watchLogs ? watched(services.logs, options.watchLogs) : services.logs;
    const cache = openCache({
      redisUrl: settings.limits.redisUrl,
      memoryBytes: settings.cacheMemoryBytes,
      semanticEntries: settings.semanticCacheEntries,
      timeoutMs: settings.cacheTimeoutMs,
      now: () => clock.now().getTime(),
      feed,
      warn: (message) => log.warn(message),
    });
    const gateway = openGateway({
      settings: settings.gateway,
      mark: services.mark,
      bodies: services.bodies,
      clock,
      keyring: standIns.keyring,
      batchService,
      catalog,
      pricer,
      limits: services.limits,
      cache,
      secrets: services.secrets,
      isStoreAway: isAway,
      sink,
      openTraces: services.logs.openTraces,
      giveFeedback: (feedback) => services.logs.giveFeedback(feedback),
      log,
    });
    const oauth = openOauth({
      settings,
      clock,
      store,
      feed,
      vault: services.vault,
      secrets: services.secrets,
      http: services.mcpUpstreams.http,
      authenticator,
      signing: services.mcpUpstreams.signing,
      signIns: services.mcpUpstreams.signIns,
      noteConsent: (who, details) => trail.queue(consentRow(who, details, clock.now())),
      log,
    });
    const mcp = openMcp({
      settings,
      clock,
      store,
      feed,
      vault: services.vault,
      services: gateway.services,
      upstreams: services.mcpUpstreams,
      oauth: oauth.find,
      external: oauth.external,
      isStoreAway: isAway,
      log,
    });
    const agents = openAgents({
      settings,
      clock,
      store,
      feed,
      services: gateway.services,
      upstreams: services.mcpUpstreams,
      cards: services.agentCards,
      isStoreAway: isAway,
      log,
    });
    services.telemetry.watch(mcpGauges(mcp, services.mcpUpstreams.deps.breakers));
    services.checkIo = gateway.checkIo;
    const reference = createReference(wholeDocumentInTurns);
    const receiver = otelReceiver({
      authenticator,
      slugOf: (id) => slugOfWorkspace(store.db, id),
      bodyRoom: services.bodyRoom,
      pricer,
      sink: services.logs,
      clock,
      onFault: (fault, requestId) =>
        log.error('Telemetry could not be taken.', { request_id: requestId, ...faultFields(fault) }),
    });
    const scim = createScim({
      services,
      trail,
      onFault: (fault, requestId) => log.error('A SCIM call failed.', { request_id: requestId, ...faultFields(fault) }),
    });
    const signOn = {
      services,
      trail,
      onFault: (fault: unknown, requestId: string) =>
        log.error('A single sign-on failed.', { request_id: requestId, ...faultFields(fault) }),
    };
    const registry = createMcpRegistry({
      db: store.db,
      keyring,
      originOf: oauth.originOf,
      onFault: (fault) => log.error('A call of the MCP registry failed.', faultFields(fault)),
    });
    const serverSide = mcp.serverSide(gateway.handle, {
      mostIterations: settings.mcp.mostIterations,
      bodyLimit: settings.gateway.bodyLimit,
    });
    const handlers = [
      refuseOwnMark(services.mark),
      ...(settings.mcp.enabled ? [serverSide] : []),
      gateway.handle,
      agents.handle,
      ...(settings.mcp.enabled ? [mcp.handle, onWeb(oauth.handle, registry)] : []),
      onWeb(
        reference,
        services.telemetry.handler,
        receiver,
        exportDownloads(services),
        scim,
        createSsoHandler(signOn),
        createBackchannelLogout(signOn),
        withHeaderAliases(settings.gateway.headerPrefixAliases, kernel.handle),
      ),
      gateway.passthrough,
      onWeb(await openConsole(log)),
    ];
    const idle = () => Promise.all([gateway.idle(), mcp.idle(), agents.idle()]).then(() => undefined);
    const listener = listen(settings, { handlers, idle, cors: mcp.cors(createCors(settings.cors)), log });
    const ordered = {
      files: batchService.files,
      call: callAs(standIns, gateway.handle),
      guarded: guardedCalls(standIns, gateway),
    };
    const mailer = settings.mail && createMailer(settings.mail);
    const post = postThrough(services.mcpUpstreams.http);
    const work = [
      ...createJobs(services, ordered, { mailer, post }),
      createMasterKeyFollower(store.db, services.vault),
      createPriceFollower(services.priceFollower),
    ];
    const jobs = createJobRunner(work, store, clock, log);
    jobs.start();
    return {
      url: listener.url,
      port: listener.port,
      get requests() {
        return listener.requests;
      },
      firstStart: first,
      services,
      jobs,
      async stop() {
        services.draining = true;
        await listener.stop(shutdownGraceMs);
        await jobs.stop();
        mailer?.close();
        gateway.close();
        await cache.close();
        await mcp.close();
        await agents.close();
        await trail.flush();
        await closeServices(services);
      },
    };
  } catch (error) {
    await closeServices(services);
    throw error;
  }
}

const watched = (sink: LogSink, watch: (record: LogRecord) => void): LogSink => ({
  append(record) {
    watch(record);
    sink.append(record);
  },
});
