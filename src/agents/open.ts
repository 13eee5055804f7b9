/** Puts the agent gateway together from what the program has. */
import type { AgentCard } from '../catalog/agents/card.ts';
import { saveCard } from '../catalog/agents/cards.ts';
import type { AgentServer } from '../catalog/agents/server.ts';
import { digestOf } from '../catalog/digest.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../environment.ts';
import type { ServiceCalls } from '../gateway/service-calls.ts';
import { faultOfCustomHost, isTrustedHost } from '../http/custom-host.ts';
import { InFlight } from '../in-flight.ts';
import { faultFields, type Log } from '../log.ts';
import { createEmails } from '../mcp/emails.ts';
import { originFinder } from '../mcp/open.ts';
import type { McpUpstreams } from '../mcp/open-upstreams.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Store } from '../store/database.ts';
import { type LiveCards, newestVersion } from './cards.ts';
import { type AgentGateway, createAgentGateway } from './gateway.ts';
import { Heartbeat } from './keep-alive.ts';
import { createOwners } from './owners.ts';

interface AgentNeeds {
  settings: Settings;
  clock: Clock;
  store: Store;
  feed: ChangeFeed;
  services: ServiceCalls;
  upstreams: McpUpstreams;
  cards: LiveCards;
  isStoreAway(fault: unknown): boolean;
  log: Log;
}

export function openAgents(needs: AgentNeeds): AgentGateway {
  const { settings, clock, store, feed, services, upstreams, cards, isStoreAway, log } = needs;
  const quietly = (what: string) => (fault: unknown) => log.warn(what, faultFields(fault));
  return createAgentGateway({
    services,
    upstream: upstreams.deps,
    cards,
    owners: createOwners(store, clock, quietly('Owners of tasks could not be kept; it is tried again.')),
    heartbeat: new Heartbeat(),
    inFlight: new InFlight(),
    emailOf: createEmails(store, feed),
    faultOfPushUrl: async (url, organisationId) => {
      const fault = faultOfPushAddress(url, settings);
      return fault ?? upstreams.http.faultOf(url, organisationId);
    },
    originOf: originFinder(settings),
    observe: createCardObserver(needs, quietly('The card of an agent could not be kept; it is tried again.')),
    isStoreAway,
    onFault: (fault, requestId) =>
      log.error('A call of an agent failed.', { request_id: requestId, ...faultFields(fault) }),
  });
}

function faultOfPushAddress(url: string, { trustedHosts }: Settings): string | null {
  const fault = faultOfCustomHost(url, trustedHosts);
  if (fault) return fault;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isTrustedHost(hostname, trustedHosts.named) ? null : 'must begin with https://';
}

const mostKept = 5_000;
const quietMs = 60_000;

/** What is told again is not written again. The stored card is the one for 1.0, where the agent has several. */
function createCardObserver({ store, feed, clock }: AgentNeeds, onFault: (fault: unknown) => void) {
  const heard = new Map<string, number>();
  const save = async (server: AgentServer, card: AgentCard): Promise<void> => {
    const changes = await store.atomically(async (tx) => {
      const changed = await saveCard(tx, clock.now(), server.integrationId, card);
      const told = changed ? [{ topic: 'catalog' as const, id: server.organisationId }] : [];
      await feed.publish(tx, told);
      return told;
    });
    feed.announce(changes);
  };
  return (server: AgentServer, card: AgentCard, version: string | null): void => {
    const digest = digestOf(card);
    if (digest === server.cardDigest || (server.cardDigest !== null && version !== newestVersion)) return;
    const key = `${server.integrationId} ${digest}`;
    const now = clock.now().getTime();
    if ((heard.get(key) ?? 0) > now) return;
    if (heard.size >= mostKept) heard.clear();
    heard.set(key, now + quietMs);
    save(server, card).catch(onFault);
  };
}
