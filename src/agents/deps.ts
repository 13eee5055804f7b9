/** What the agent gateway works with; wired once. */
import type { AgentCard } from '../catalog/agents/card.ts';
import type { AgentServer } from '../catalog/agents/server.ts';
import type { ServiceCalls } from '../gateway/service-calls.ts';
import type { InFlight } from '../in-flight.ts';
import type { UpstreamDeps } from '../mcp/upstream/exchange.ts';
import type { Incoming } from '../wire/server/incoming.ts';
import type { LiveCards } from './cards.ts';
import type { Heartbeat } from './keep-alive.ts';
import type { Owners } from './owners.ts';

export interface AgentDeps {
  services: ServiceCalls;
  upstream: UpstreamDeps;
  cards: LiveCards;
  owners: Owners;
  heartbeat: Heartbeat;
  inFlight: InFlight;
  /** A person's e-mail address, for claims. */
  emailOf(userId: string): Promise<string | null>;
  /** Why an agent must not be told to call this address; null where it may. */
  faultOfPushUrl(url: string, organisationId: string): Promise<string | null>;
  /** How the client reached us: scheme, host and port. */
  originOf(request: Incoming): string;
  /** Keeps a card that was fetched in live traffic for a client of this version. */
  observe(server: AgentServer, card: AgentCard, version: string | null): void;
  isStoreAway(fault: unknown): boolean;
  onFault(fault: unknown, requestId: string): void;
}
