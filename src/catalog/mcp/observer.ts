/** Keeps what upstreams say of themselves in live traffic, so that those who manage them see what is there. */
import type { Clock } from '../../clock.ts';
import type { ChangeFeed } from '../../store/changes.ts';
import type { Store } from '../../store/database.ts';
import { digestOf } from '../digest.ts';
import { type Discovery, saveDiscovery } from './discovery.ts';
import type { McpServer } from './server.ts';

const mostKept = 5_000;
const quietMs = 60_000;

/** What is heard again is not written again, and a burst is written once. */
export function createObserver(
  store: Store,
  feed: ChangeFeed,
  clock: Clock,
  onFault: (fault: unknown) => void,
): (server: McpServer, discovery: Discovery) => void {
  const heard = new Map<string, number>();

  const save = async (server: McpServer, discovery: Discovery): Promise<void> => {
    const { settings } = server;
    const changes = await store.atomically(async (tx) => {
      const changed = await saveDiscovery(
        tx,
        clock.now(),
        {
          id: server.integrationId,
          pinTools: settings.pin_tools === true,
          newOnesEnabled: settings.new_capabilities !== 'disabled',
        },
        discovery,
      );
      const told = changed ? [{ topic: 'catalog' as const, id: server.organisationId }] : [];
      await feed.publish(tx, told);
      return told;
    });
    feed.announce(changes);
  };

  return (server, discovery) => {
    const key = `${server.integrationId} ${digestOf(discovery)}`;
    const now = clock.now().getTime();
    if ((heard.get(key) ?? 0) > now) return;
    if (heard.size >= mostKept) heard.clear();
    heard.set(key, now + quietMs);
    save(server, discovery).catch(onFault);
  };
}
