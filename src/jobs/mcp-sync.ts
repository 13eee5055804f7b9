/** Reads what MCP integrations offer that are new or were changed, and forgets capabilities that are long gone. */

import type { Services } from '../admin/kernel/services.ts';
import { keepProbe } from '../admin/mcp-integrations/probe-routes.ts';
import { catalogChange } from '../admin/provisioning/access.ts';
import { readUpstream } from '../catalog/mcp/read.ts';
import type { Job } from './runner.ts';

const atOnce = 10;
const missingDays = 30;

export const createMcpSync = ({ store, feed, vault, mcp }: Services): Job => ({
  name: 'mcp-sync',
  everyMs: 5_000,
  async run(now) {
    const longGone = new Date(now.getTime() - missingDays * 86_400_000).toISOString();
    await store.db.deleteFrom('mcp_capabilities').where('missing_since', '<', longGone).execute();
    const rows = await store.db
      .selectFrom('mcp_integrations')
      .selectAll()
      .where('sync_status', '=', 'pending')
      .where('status', '=', 'active')
      .orderBy('last_updated_at')
      .limit(atOnce)
      .execute();
    await Promise.all(
      rows.map(async (row) => {
        const upstream = await readUpstream(store.db, row, vault);
        const result = await mcp.probe(upstream, null);
        const changes = await store.atomically(async (tx) => {
          // What is not answered before somebody signs in is read when the first person has.
          const waits = result.success && result.discovery === null;
          const changed = await keepProbe(tx, now, row, upstream, result);
          if (waits) {
            await tx.updateTable('mcp_integrations').set({ sync_status: 'synced' }).where('id', '=', row.id).execute();
          }
          const told = changed ? [catalogChange(row)] : [];
          await feed.publish(tx, told);
          return told;
        });
        feed.announce(changes);
      }),
    );
  },
});
