/** What a call works with, at whatever stage it is; wired once, in open.ts. */
import type { BatchService } from '../batches/service.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../clock.ts';
import type { GatewaySettings } from '../environment.ts';
import type { Keyring } from '../identity/keyring.ts';
import type { Limits } from '../limits/limits.ts';
import type { OpenTraces } from '../logs/open-traces.ts';
import type { LogSink } from '../logs/record.ts';
import type { Pricer } from '../pricing/pricer.ts';
import type { Provider } from '../providers/provider.ts';
import type { Secrets } from '../secrets/resolver.ts';
import type { HttpClient } from '../wire/client/http-client.ts';
import type { Pause } from './attempt/pause.ts';
import type { Credentials } from './credentials/authorise.ts';
import type { TokenCache } from './credentials/token-cache.ts';
import type { FrameBudgets } from './realtime/frame-budget.ts';
import type { BodyBudget } from './request/body-budget.ts';
import type { InlinePlans } from './request/inline-plans.ts';
import type { Breakers } from './routing/breakers.ts';
import type { StickyChoices } from './routing/sticky.ts';
import type { Deadlines } from './upstream/deadlines.ts';
import type { HostGuard } from './upstream/host-guard.ts';

export interface CallDeps {
  settings: GatewaySettings;
  clock: Clock;
  keyring: Pick<Keyring, 'find'> & Partial<Pick<Keyring, 'hasExpired' | 'whyRefused'>>;
  catalog: Catalog;
  providers: ReadonlyMap<string, Provider>;
  pricer: Pricer;
  sink: LogSink;
  /** The traces of calls that are under way. */
  openTraces: OpenTraces;
  deadlines: Deadlines;
  breakers: Breakers;
  sticky: StickyChoices;
  hostGuard: HostGuard;
  /** Makes the calls to providers. */
  http: HttpClient;
  /** Files and batches that the gateway keeps itself; null where it keeps none. */
  batchService: BatchService | null;
  /** Counts what keys, workspaces, providers and policies may use; null where nothing is limited. */
  limits: Limits | null;
  /** Signs and fetches tokens for clouds. */
  credentials: Credentials;
  /** Credentials that live in secret managers; absent where nothing is mapped to any. */
  secrets?: Secrets;
  /** What providers were asked about targets, under a digest of who asked. */
  discoveries: TokenCache;
  /** What realtime sessions may ask of the process. */
  frameBudgets: FrameBudgets;
  /** What bodies in memory may take. */
  bodies: BodyBudget;
  /** Inline configs seen lately, by their text. */
  inlinePlans: InlinePlans;
  /** Uniform in [0, 1); tests hand in their own. */
  random: () => number;
  /** Between two tries of a target; tests hand in one that does not wait. */
  pause: Pause;
  /** Whether a fault only says that the state store cannot serve at the moment. */
  isStoreAway(fault: unknown): boolean;
  /** Told of faults of ours, with the request they happened in. */
  onFault(fault: unknown, requestId: string): void;
}
