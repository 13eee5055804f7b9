/** Forgets who owns tasks of agents: those that are long over, and the oldest beyond what the table may hold. */
import type { Services } from '../admin/kernel/services.ts';
import type { Job } from './runner.ts';

const days = 90;
const dayMs = 86_400_000;
export const mostOwners = 2_000_000;

export const createAgentOwnerJob = ({ store }: Pick<Services, 'store'>, most = mostOwners): Job => ({
  name: 'agent-owners',
  everyMs: 3_600_000,
  async run(now) {
    const longOver = new Date(now.getTime() - days * dayMs).toISOString();
    await store.db.deleteFrom('agent_owners').where('created_at', '<', longOver).execute();
    const beyond = await store.db
      .selectFrom('agent_owners')
      .select('created_at')
      .orderBy('created_at', 'desc')
      .offset(most)
      .limit(1)
      .executeTakeFirst();
    if (beyond) await store.db.deleteFrom('agent_owners').where('created_at', '<=', beyond.created_at).execute();
  },
});
