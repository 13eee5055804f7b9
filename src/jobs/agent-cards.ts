/** Fetches the cards of agent integrations that are new or were changed, and forgets skills and owners of tasks that are long gone. */

import type { Services } from '../admin/kernel/services.ts';
import { catalogChange } from '../admin/provisioning/access.ts';
import { keepCard } from '../catalog/agents/cards.ts';
import { readAgentUpstream } from '../catalog/agents/read.ts';
import type { Job } from './runner.ts';

const atOnce = 10;
const missingDays = 30;
/** A task that nobody touched for so long is over. */
const ownerDays = 90;
const dayMs = 86_400_000;

export const createAgentCardJob = ({ store, feed, vault, agents }: Services): Job => ({
  name: 'agent-cards',
  everyMs: 5_000,
  async run(now) {
    const before = (days: number) => new Date(now.getTime() - days * dayMs).toISOString();
    await store.db.deleteFrom('agent_skills').where('missing_since', '<', before(missingDays)).execute();
    await store.db.deleteFrom('agent_owners').where('created_at', '<', before(ownerDays)).execute();
    const rows = await store.db
      .selectFrom('agent_integrations')
      .selectAll()
      .where('card_status', '=', 'pending')
      .where('status', '=', 'active')
      .orderBy('last_updated_at')
      .limit(atOnce)
      .execute();
    await Promise.all(
      rows.map(async (row) => {
        const result = await agents.of(await readAgentUpstream(store.db, row, vault), { fresh: true });
        const changes = await store.atomically(async (tx) => {
          const told = (await keepCard(tx, now, row.id, result)) ? [catalogChange(row)] : [];
          await feed.publish(tx, told);
          return told;
        });
        feed.announce(changes);
      }),
    );
  },
});
