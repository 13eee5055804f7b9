/** What the data plane works with; wired once, in app.ts. */
import type { BatchDesk } from '../batches/desk.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Plan } from '../catalog/plan.ts';
import type { Clock } from '../clock.ts';
import type { GatewaySettings } from '../environment.ts';
import type { Keyring } from '../identity/keyring.ts';
import type { LogSink } from '../logs/record.ts';
import type { Pricer } from '../pricing/pricer.ts';
import type { Provider } from '../providers/provider.ts';
import type { Wire } from '../wire/wire.ts';
import type { Breakers } from './breakers.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { TokenCache } from './credentials/token-cache.ts';
import type { Deadlines } from './deadlines.ts';
import type { HostGuard } from './host-guard.ts';
import type { Pause } from './pause.ts';
import type { StickyChoices } from './sticky.ts';

export interface GatewayParts {
  settings: GatewaySettings;
  clock: Clock;
  keyring: Pick<Keyring, 'find'>;
  catalog: Catalog;
  providers: ReadonlyMap<string, Provider>;
  pricer: Pricer;
  sink: LogSink;
  deadlines: Deadlines;
  breakers: Breakers;
  sticky: StickyChoices;
  hostGuard: HostGuard;
  /** Makes the calls to providers. */
  wire: Wire;
  /** Files and batches that the gateway keeps itself; null where it keeps none. */
  desk: BatchDesk | null;
  /** Signs and fetches tokens for clouds. */
  credentials: Credentials;
  /** What providers were asked about targets, under a digest of who asked. */
  lessons: TokenCache;
  /** Inline configs seen lately, by their text. */
  inlinePlans: Map<string, Plan>;
  /** Uniform in [0, 1); tests hand in their own. */
  random: () => number;
  /** Between two tries of a target; tests hand in one that does not wait. */
  pause: Pause;
  /** Whether a fault only says that the state store cannot serve at the moment. */
  isStoreAway(fault: unknown): boolean;
  /** Told of faults of ours, with the request they happened in. */
  onFault(fault: unknown, requestId: string): void;
}
