/** Fetches the cards of agent integrations: those that are new or were changed at once, the others from time to time. Forgets skills that are long gone. */

import type { Services } from '../admin/kernel/services.ts';
import { catalogChange } from '../admin/provisioning/access.ts';
import { keepCard } from '../catalog/agents/cards.ts';
import { readAgentUpstream } from '../catalog/agents/read.ts';
import type { AgentIntegrationTable } from '../store/tables/agents.ts';
import type { Job } from './runner.ts';

const atOnce = 10;
const missingDays = 30;
const dayMs = 86_400_000;
/** A card that was fetched, or could not be, is asked for again after this time. */
const refreshMs = 3_600_000;
const mostLookedAt = 1_000;

export const createAgentCardJob = ({ store, feed, vault, agents }: Services): Job => {
  /** When each was last asked for here, in ms; also of those that failed, which the database does not tell. */
  const asked = new Map<string, number>();

  const pending = () =>
    store.db
      .selectFrom('agent_integrations')
      .selectAll()
      .where('card_status', '=', 'pending')
      .where('status', '=', 'active')
      .orderBy('last_updated_at')
      .limit(atOnce)
      .execute();

  const stale = async (now: Date): Promise<AgentIntegrationTable[]> => {
    const before = now.getTime() - refreshMs;
    for (const [id, at] of asked) if (at < before) asked.delete(id);
    const rows = await store.db
      .selectFrom('agent_integrations')
      .select('id')
      .where('card_status', '!=', 'pending')
      .where('status', '=', 'active')
      .where((eb) =>
        eb.or([eb('card_fetched_at', 'is', null), eb('card_fetched_at', '<', new Date(before).toISOString())]),
      )
      .orderBy('card_fetched_at')
      .limit(mostLookedAt)
      .execute();
    const due = rows.flatMap(({ id }) => (asked.has(id) ? [] : [id])).slice(0, atOnce);
    if (due.length === 0) return [];
    return store.db.selectFrom('agent_integrations').selectAll().where('id', 'in', due).execute();
  };

  const fetchCard = async (now: Date, row: AgentIntegrationTable): Promise<void> => {
    asked.set(row.id, now.getTime());
    const result = await agents.of(await readAgentUpstream(store.db, row, vault), { fresh: true });
    const changes = await store.atomically(async (tx) => {
      const told = (await keepCard(tx, now, row.id, result)) ? [catalogChange(row)] : [];
      await feed.publish(tx, told);
      return told;
    });
    feed.announce(changes);
  };

  return {
    name: 'agent-cards',
    everyMs: 5_000,
    async run(now) {
      const longGone = new Date(now.getTime() - missingDays * dayMs).toISOString();
      await store.db.deleteFrom('agent_skills').where('missing_since', '<', longGone).execute();
      const rows = [...(await pending()), ...(await stale(now))];
      await Promise.all(rows.map((row) => fetchCard(now, row)));
    },
  };
};
