/** Puts the data plane together from what the program has. */
import { lookup } from 'node:dns/promises';
import type { BatchService } from '../batches/service.ts';
import type { ResponseCache } from '../cache/cache.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../clock.ts';
import type { GatewaySettings, SemanticCacheSettings } from '../environment.ts';
import type { Keyring } from '../identity/keyring.ts';
import type { OrganisationSettings } from '../identity/settings.ts';
import type { Limits } from '../limits/limits.ts';
import { faultFields, type Log, throttled } from '../log.ts';
import type { OpenTraces } from '../logs/open-traces.ts';
import type { Feedback } from '../logs/query.ts';
import type { LogSink } from '../logs/record.ts';
import type { Pricer } from '../pricing/pricer.ts';
import { providers } from '../providers/index.ts';
import type { Secrets } from '../secrets/resolver.ts';
import { HttpClient } from '../wire/client/http-client.ts';
import { shareOfFiles } from '../wire/client/open-files.ts';
import { pause } from './attempt/pause.ts';
import { Coalescing } from './cache/coalesce.ts';
import { embedded } from './cache/embed.ts';
import { recallStep, type Semantic } from './cache/recall.ts';
import { recordSettler, recordStep } from './cache/record.ts';
import { sideCall } from './cache/side-call.ts';
import { createCredentials } from './credentials/credentials.ts';
import { TokenCache } from './credentials/token-cache.ts';
import { feedbackSettler } from './guardrails/feedback.ts';
import { guardInput } from './guardrails/guard-input.ts';
import { guardOutput } from './guardrails/guard-output.ts';
import { reportHooks } from './guardrails/report.ts';
import { createGateway, type Gateway } from './handle.ts';
import { createLimitSteps } from './limits/steps.ts';
import { FrameBudgets } from './realtime/frame-budget.ts';
import type { BodyBudget } from './request/body-budget.ts';
import { InlinePlans } from './request/inline-plans.ts';
import { createBreakers } from './routing/breakers.ts';
import { createStickyChoices } from './routing/sticky.ts';
import { Deadlines } from './upstream/deadlines.ts';
import { createHostGuard } from './upstream/host-guard.ts';

interface GatewayNeeds {
  settings: GatewaySettings;
  /** By which calls of this installation are known. */
  mark: string;
  /** What bodies in memory share, on every route. */
  bodies: BodyBudget;
  clock: Clock;
  keyring: Pick<Keyring, 'find'> & Partial<Pick<Keyring, 'hasExpired' | 'whyRefused'>>;
  batchService: BatchService;
  catalog: Catalog;
  pricer: Pricer;
  cache: ResponseCache;
  sink: LogSink;
  openTraces: OpenTraces;
  giveFeedback(feedback: readonly Feedback[]): void;
  limits: Limits;
  secrets: Secrets;
  isStoreAway(fault: unknown): boolean;
  log: Log;
}

const defaultThreshold = 0.95;

/** The organisation's own word wins. */
const embeddingSettings = (
  setting: OrganisationSettings['semantic_cache'] | undefined,
  installed: SemanticCacheSettings | null,
): SemanticCacheSettings | null =>
  setting
    ? {
        provider: setting.provider.slice(1),
        model: setting.model,
        dimensions: setting.dimensions,
        threshold: setting.similarity_threshold ?? installed?.threshold ?? defaultThreshold,
      }
    : installed;

const shortage = 'Calls fail because this process may open no further connection; raise its limit (ulimit -n).';

export function openGateway({ log, cache, mark, giveFeedback, ...needs }: GatewayNeeds): Gateway {
  const coalescing = new Coalescing();
  const { semanticCache } = needs.settings;
  const semantic: Semantic = {
    index: cache.semanticIndex,
    settingsOf: ({ context }) => embeddingSettings(context.workspace.settings.semantic_cache, semanticCache),
    embed: (call, text, settings) => embedded(call, text, settings, sideCall),
  };
  const now = () => needs.clock.now().getTime();
  const warn = throttled((message) => log.warn(message));
  const limits = createLimitSteps(needs.pricer);
  return createGateway({
    ...needs,
    providers,
    steps: {
      send: [guardInput, recallStep(cache, coalescing, semantic), limits.reserve],
      answer: [guardOutput, recordStep, reportHooks],
    },
    settlers: [recordSettler(cache, coalescing, semantic.index), limits.settle, feedbackSettler(giveFeedback, now)],
    deadlines: new Deadlines(),
    breakers: createBreakers(now),
    sticky: createStickyChoices(now),
    hostGuard: createHostGuard(
      needs.settings.trustedHosts,
      async (name) => {
        const found = await lookup(name, { all: true });
        return found.map(({ address }) => address);
      },
      { mark },
    ),
    http: new HttpClient(process.env, {
      shareOfTenant: needs.settings.connectionsOfOrganisation ?? shareOfFiles(),
      onShortage: () => warn(shortage),
      onReplay: (what) => warn(`A request was sent a second time, because its connection was closing: ${what}`),
    }),
    credentials: createCredentials({
      fetch,
      now: () => needs.clock.now(),
      env: process.env,
      readFile: (path) => Bun.file(path).text(),
    }),
    discoveries: new TokenCache(now),
    frameBudgets: new FrameBudgets(),
    inlinePlans: new InlinePlans(),
    random: Math.random,
    pause,
    onFault: (fault, requestId) => log.error('A call failed.', { request_id: requestId, ...faultFields(fault) }),
  });
}
