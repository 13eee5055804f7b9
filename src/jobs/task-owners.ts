/** Forgets who owns tasks of agents and of MCP servers: those that are long over, and the oldest beyond what a table may hold. */
import type { Services } from '../admin/kernel/services.ts';
import type { Job } from './runner.ts';

const days = 90;
const dayMs = 86_400_000;
export const mostOwners = 2_000_000;
const tables = ['agent_owners', 'mcp_tasks'] as const;

export const createTaskOwnerJob = ({ store }: Pick<Services, 'store'>, most = mostOwners): Job => ({
  name: 'task-owners',
  everyMs: 3_600_000,
  async run(now) {
    const longOver = new Date(now.getTime() - days * dayMs).toISOString();
    for (const table of tables) {
      await store.db.deleteFrom(table).where('created_at', '<', longOver).execute();
      const beyond = await store.db
        .selectFrom(table)
        .select('created_at')
        .orderBy('created_at', 'desc')
        .offset(most)
        .limit(1)
        .executeTakeFirst();
      if (beyond) await store.db.deleteFrom(table).where('created_at', '<=', beyond.created_at).execute();
    }
  },
});
